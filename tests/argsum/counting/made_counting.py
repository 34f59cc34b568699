"""Counting rounds, forms as people fill them in, and runs in which a scripted judge counts."""

from argsum.counting.actions import rounds as counting_rounds
from argsum.counting.actions.judge import COVERAGE, PROMPTS, target_of
from argsum.counting.models import CountingRound
from cqa_site.people.models import Study, User
from cqa_site.rounds.lifecycle import open_round
from cqa_site.runs.actions.endpoints import first_prompts
from cqa_site.runs.actions.runs import RunPlan
from cqa_site.runs.models import Endpoint, Run
from tests.runs.made_runs import carry_run


def open_counting(study: Study, actor: User, *, opens: bool = True, **fields) -> CountingRound:
    """A round over all sets of the study, drawn and opened as a researcher does."""
    chosen = {"name": "First round", "seed": 1, "raters": 1, "per_cell": "all"} | fields
    plan = counting_rounds.CountingPlan(**chosen)
    made = counting_rounds.plan_round(study=study, plan=plan, actor=actor)
    if opens:
        open_round(round_=made, actor=actor)
    made.refresh_from_db()
    return made


def marked_form(**changed: str | list[str]) -> dict:
    """Two references, three summaries: 1.5 covered; the third partly repeats the first: 2.5."""
    fields = {"level-0": "full", "by-0": ["0", "2"], "level-1": "part", "by-1": ["1"]}
    fields |= {"group-0": "A", "group-1": "B", "group-2": "C", "partly-2": "1"}
    return fields | {"base_version": "0"} | changed


def make_counting_run(
    study: Study, endpoint: Endpoint, actor: User, answer=None, *, kind: str = COVERAGE, **chosen
) -> Run:
    """A run over the sets of the study, carried as far as it goes by itself."""
    prompts = {each.kind: each for each in first_prompts(study, PROMPTS, actor)}
    plan = {"kind": "counting", "endpoint": endpoint, "prompt": prompts[kind]}
    plan |= {"target": target_of(**chosen.pop("target", {})), "replicates": 2, "preflight": "off"}
    plan |= {"params": {"temperature": 1.0, "max_tokens": 400}, "reuse": False}
    answer = answer or (lambda _request: "Count: 1")
    return carry_run(study, actor, answer, RunPlan(**plan | chosen))
