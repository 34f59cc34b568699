"""Runs in which a scripted judge counts."""

from argsum.counting.actions.judge import COVERAGE, PROMPTS, target_of
from cqa_site.people.models import Study, User
from cqa_site.runs.actions.endpoints import first_prompts
from cqa_site.runs.actions.runs import RunPlan
from cqa_site.runs.models import Endpoint, Run
from tests.runs.made_runs import carry_run


def make_counting_run(
    study: Study, endpoint: Endpoint, actor: User, answer=None, *, kind: str = COVERAGE, **chosen
) -> Run:
    """A run over the sets of the study, carried as far as it goes by itself."""
    prompts = {each.kind: each for each in first_prompts(study, PROMPTS, actor)}
    plan = {
        "kind": "counting",
        "endpoint": endpoint,
        "prompt": prompts[kind],
        "target": target_of(**chosen.pop("target", {})),
        "params": {"temperature": 1.0, "max_tokens": 400},
    } | {"replicates": 2, "preflight": "off", "reuse": False}
    answer = answer or (lambda _request: "Count: 1")
    return carry_run(study, actor, answer, RunPlan(**plan | chosen))
