"""Systems that stand for the models behind endpoints."""

from annotation.answers.models.answers import System
from cqa_site.people.models import Study
from cqa_site.runs.models import Run

NAME_LENGTH = System._meta.get_field("name").max_length


def system_of(run: Run) -> System:
    """One system for each endpoint and model of a study, made on first use."""
    model = run.spec["model"]
    ours = run.study.systems.filter(generation_runs__run__endpoint=run.endpoint_id, model=model)
    return ours.order_by("pk").first() or _new_system(run.study, model, run.endpoint.name)


def _new_system(study: Study, model: str, endpoint: str) -> System:
    """Named after the model, or after model and endpoint if the name is taken."""
    names = [model, f"{model} · {endpoint}"]
    names += [f"{model} · {number}" for number in range(2, 1_000)]
    for name in names:
        system, is_new = System.objects.get_or_create(
            study=study,
            name=name[:NAME_LENGTH],
            defaults={"kind": System.Kind.MODEL, "model": model},
        )
        if is_new:
            return system
    raise RuntimeError("a thousand systems have the name of this model")
