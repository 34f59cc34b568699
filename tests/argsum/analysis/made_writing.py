"""A scripted language model that writes the key points of an analysis, and vectors from words."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from argsum.analysis.actions import analyses
from argsum.analysis.actions.point_writing import KIND, PROMPTS, target_of
from argsum.analysis.models import Analysis
from cqa_site.judging.chat import ChatRequest
from cqa_site.people.models import User
from cqa_site.runs import jobs
from cqa_site.runs.actions.endpoints import first_prompts
from cqa_site.runs.actions.runs import RunPlan
from cqa_site.runs.carrying.worker import drain_inline
from cqa_site.runs.models import Endpoint, Run
from tests.runs.made_runs import carry_run, scripted
from .made_comments import THEMES

WORDS = tuple(THEMES)


def word_vectors(texts: Sequence[str]) -> np.ndarray:
    """One direction for each theme that a text names, and one for all others."""
    found = np.zeros((len(texts), len(WORDS) + 1), dtype=np.float32)
    for row, text in enumerate(texts):
        named = [place for place, word in enumerate(WORDS) if word in text.lower()]
        found[row, named or [len(WORDS)]] = 1
    return found / np.linalg.norm(found, axis=1, keepdims=True)


@contextmanager
def scoring_words() -> Iterator[None]:
    """The match scorer of every analysis reads words, and takes nothing for filler."""
    with pytest.MonkeyPatch.context() as patch:
        tools = analyses.ScorerTools
        patch.setattr(tools, "vectors", lambda _tools, texts: word_vectors(texts))
        patch.setattr(tools, "filler", lambda _tools, texts: np.zeros(len(texts), dtype=bool))
        yield


def blocks(request: ChatRequest) -> list[list[dict]]:
    """What stands between marker lines of a request: statements, then what was refused."""
    text = request.messages[-1]["content"]
    found = re.findall(r"=== begin (\w+) ===\n(.*?)\n=== end \1 ===", text, re.DOTALL)
    return [[json.loads(line) for line in lines.split("\n")] for _token, lines in found]


def theme_of(request: ChatRequest) -> str:
    said = " ".join(each["argument"] for each in blocks(request)[0])
    return max(WORDS, key=said.count)


def says(text: str) -> str:
    return json.dumps({"key_point": text})


def on_theme(request: ChatRequest) -> str:
    return says(f"People speak of {theme_of(request)}")


def never_parking(request: ChatRequest) -> str:
    """About parking it always says what is nearer to another key point."""
    is_off = theme_of(request) == "parking"
    return says("The catalogue is what matters") if is_off else on_theme(request)


def model_plan(
    kind: str, prompts: Sequence, analysis: Analysis, endpoint: Endpoint, actor: User, **chosen
) -> RunPlan:
    """All at once, with the first prompt."""
    plan = {
        "kind": kind,
        "endpoint": endpoint,
        "prompt": first_prompts(analysis.study, prompts, actor)[0],
        "params": {"temperature": 0, "max_tokens": 900},
        "preflight": "off",
    }
    return RunPlan(**plan | chosen)


def plan_for(analysis: Analysis, endpoint: Endpoint, actor: User, **chosen) -> RunPlan:
    about = {"target": target_of(analysis), "params": {"temperature": 0, "max_tokens": 300}}
    return model_plan(KIND, PROMPTS, analysis, endpoint, actor, **about | chosen)


def go_on(answer: Callable, rounds: int = 4) -> None:
    """Let workers check and carry what waits."""
    with scripted(answer):
        for _round in range(rounds):
            jobs.drain()
            if not drain_inline():
                return


def carry(analysis: Analysis, actor: User, answer: Callable, plan: RunPlan) -> Run:
    """Have a scripted model reply, and let workers do what follows from it."""
    run = carry_run(analysis.study, actor, answer, plan)
    go_on(answer)
    run.refresh_from_db()
    analysis.refresh_from_db()
    return run


def noting(asked: list[ChatRequest], answer: Callable) -> Callable:
    """The same answer; it keeps the requests for it."""
    return lambda request: asked.append(request) or answer(request)


def dies_at(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> None:
    """The worker's process ends when it comes to a step, once."""
    whole, left = getattr(module, name), [1]

    def step(*args, **kwargs):
        if left:
            left.pop()
            raise SystemExit
        return whole(*args, **kwargs)

    monkeypatch.setattr(module, name, step)


def require_fenced(asked: list[ChatRequest]) -> None:
    """Nothing that a comment says changes the direction of a request, or ends its part."""
    sent = "".join(request.messages[-1]["content"] for request in asked)
    assert "\u202e" not in sent
    assert "<|im_end|>" not in sent
