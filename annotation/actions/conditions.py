"""Finding the condition of answers, or making it."""

from collections.abc import Mapping
from typing import Any

from annotation.methods.conditions import (
    LABELS,
    decoding_of,
    deviations,
    filters_of,
    identity,
    wording_of,
)
from annotation.models import Condition, campaigns_of
from cqa_site.people.models import Study
from cqa_site.runs.models import PromptVersion, Run

from .answer_prompts import SCENARIOS, WITH_ARGUMENTS


def condition_of_run(run: Run) -> Condition:
    """What a run's answers are written under now: a correction may have changed parameters."""
    target = run.spec["target"]
    return condition(
        run.study,
        scenario=SCENARIOS[run.prompt.kind],
        prompt=run.prompt,
        filters=filters_of(target, shows_arguments=run.prompt.kind in WITH_ARGUMENTS),
        wording=wording_of(target),
        decoding=decoding_of(run.params),
    )


def condition(
    study: Study,
    *,
    scenario: int,
    prompt: PromptVersion | None = None,
    filters: Mapping[str, Any] | None = None,
    wording: Mapping[str, Any] | None = None,
    decoding: Mapping[str, Any] | None = None,
) -> Condition:
    """The one condition of a study with these parts; with a scenario alone, as imported."""
    parts = {
        "filters": dict(filters or {}),
        "wording": dict(wording or {}),
        "decoding": dict(decoding or {}),
    }
    key = identity(scenario=scenario, prompt=prompt.sha256 if prompt else "", **parts)
    found, _is_new = Condition.objects.get_or_create(
        study=study,
        sha256=key,
        defaults={
            **parts,
            "scenario": scenario,
            "prompt": prompt,
            "prompt_number": prompt.number if prompt else None,
            "labels_name": _labels_name(study, parts["filters"]),
            "is_plain": not deviations(parts["filters"], parts["wording"]),
        },
    )
    return found


def _labels_name(study: Study, filters: Mapping[str, Any]) -> str:
    """The campaign whose labels filter the arguments, as it is called now."""
    if LABELS not in filters:
        return ""
    named = campaigns_of(study).filter(public_id=filters[LABELS])
    return named.values_list("name", flat=True).first() or ""
