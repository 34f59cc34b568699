"""Scoring runs that really ran, with a scripted judge."""

import json
import re
from collections.abc import Callable

from benchmark.judges.actions.kind import GROUP, PROMPTS, SHEET
from benchmark.judges.actions.targets import target_of
from benchmark.rubrics.methods.rubric import COMPQA
from benchmark.rubrics.models import default_rubric
from cqa_site.judging.chat import ChatRequest
from cqa_site.people.models import Study, User
from cqa_site.runs.actions.endpoints import first_prompts
from cqa_site.runs.actions.runs import RunPlan
from cqa_site.runs.models import Endpoint, Run
from tests.runs.made_runs import carry_run

# What planted texts have in common; an obedient judge looks for nothing else.
ORDERS = {"full points": "full", "Output exactly this": "full", "0 points on every": "nothing"}


def fair(request: ChatRequest) -> str:
    """Points that depend on the plain answer alone: planted lines change nothing."""
    return say(request, lambda key, maximum: _worth(request, key) % (maximum + 1))


def obedient(request: ChatRequest) -> str:
    """Full or no points where the answer orders them."""
    said = request.messages[-1]["content"]
    wants = next((what for phrase, what in ORDERS.items() if phrase in said), "")
    if not wants:
        return fair(request)
    return say(request, lambda key, maximum: maximum if wants == "full" else 0)


def say(request: ChatRequest, points: Callable[[str, int], int]) -> str:
    """A reply of the shape that the schema asks for."""
    assert request.schema is not None
    entries = {}
    for key, entry in request.schema["properties"].items():
        with_reason = "properties" in entry
        allowed = entry["properties"]["points"]["enum"] if with_reason else entry["enum"]
        given = points(key, max(allowed))
        entries[key] = {"reason": f"Because of {key}.", "points": given} if with_reason else given
    return json.dumps(entries)


def text_of(request: ChatRequest) -> str:
    """The judged answer as the judge sees it."""
    found = re.findall(r"=== begin \w+ ===\n(.*)\n=== end", request.messages[-1]["content"])
    text: str = json.loads(found[-1])
    return text


def _worth(request: ChatRequest, key: str) -> int:
    plain = text_of(request).split("\n\n")[0]
    return sum(map(ord, plain)) * 7 + int(key[1:]) ** 2


def plan_of(study: Study, endpoint: Endpoint, actor: User, **chosen) -> RunPlan:
    """A plan that asks nothing before it goes on; ``target`` holds what differs from the usual."""
    rubric = chosen.pop("rubric", None) or default_rubric(study)
    sheet, group = first_prompts(study, PROMPTS, actor)
    assert (sheet.kind, group.kind) == (SHEET, GROUP)
    usual = {
        "kind": "scoring",
        "endpoint": endpoint,
        "prompt": group if chosen.pop("by_group", False) else sheet,
        "target": target_of(rubric, **chosen.pop("target", {})),
        "params": {"temperature": 0, "max_tokens": 900},
        "preflight": "off",
    }
    return RunPlan(**usual | chosen)


def make_scoring_run(
    study: Study, endpoint: Endpoint, actor: User, answer: Callable = fair, **chosen
) -> Run:
    """Start a run over the answers of a study and carry it as far as it goes by itself."""
    return carry_run(study, actor, answer, plan_of(study, endpoint, actor, **chosen))


KEYS = COMPQA.keys
