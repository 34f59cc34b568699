"""As whom a run of a judge stands beside people."""

from typing import Any

from cqa_site.judging.identity import digest
from cqa_site.people.models import Rater

from .models import Run

ASKED = ("endpoint", "origin", "model", "prompt", "params")


def rater_of(run: Run, name: str = "", **also: Any) -> Rater:
    """One rater for each combination of model, prompt and parameters, made when first asked for.

    ``also`` is what else tells two judges apart; without a ``name`` model and prompt make one.
    """
    asked = {each: run.spec[each] for each in ASKED} | also
    rater, _is_new = Rater.objects.get_or_create(
        study=run.study,
        kind=Rater.Kind.MODEL,
        external_id=digest(asked),
        defaults={"name": (name or f"{run.spec['model']} · {run.prompt}")[:120]},
    )
    return rater
