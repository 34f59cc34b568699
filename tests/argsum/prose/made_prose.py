"""A scripted language model that summarizes an analysis in prose."""

import json

from argsum.analysis.models import Analysis
from argsum.prose.actions.prompts import PROMPTS, target_of
from argsum.prose.actions.runs import KIND
from cqa_site.judging.chat import ChatRequest
from cqa_site.people.models import User
from cqa_site.runs.actions.runs import RunPlan
from cqa_site.runs.models import Endpoint
from tests.argsum.analysis.made_writing import WORDS, blocks, model_plan


def statements_in(request: ChatRequest) -> list[str]:
    """The statements of a request, in the order of their numbers."""
    return [row["statement"] for row in blocks(request)[1]]


def refused_in(request: ChatRequest) -> list[dict]:
    """Sentences refused earlier that a request shows, with the reasons."""
    shown = blocks(request)
    return shown[2] if len(shown) > 2 else []


def word_of(request: ChatRequest) -> str:
    said = " ".join(statements_in(request))
    return max(WORDS, key=said.count)


def writes(*sentences: tuple[str, list]) -> str:
    """A reply of some sentences with what they cite."""
    return json.dumps({"sentences": [{"text": text, "cites": cites} for text, cites in sentences]})


def on_theme(request: ChatRequest) -> str:
    word = word_of(request)
    return writes(
        (f"Visitors often speak of {word}.", [1, 2]), (f"There is more about {word}.", [2, 3])
    )


def plan_for(analysis: Analysis, endpoint: Endpoint, actor: User, **chosen) -> RunPlan:
    target = {"target": target_of(analysis)}
    return model_plan(KIND, PROMPTS, analysis, endpoint, actor, **target | chosen)
