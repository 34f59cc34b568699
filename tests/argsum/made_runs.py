"""Runs of systems that really ran, with scores made up from words in place of a model's."""

import json
import re
from collections.abc import Callable, Sequence

import numpy as np

from argsum.datasets.models import Dataset
from argsum.keypoints.actions.system_runs import SystemPlan, start_system
from argsum.keypoints.models import SystemRun
from argsum.writing.actions.prompts import OF_VARIANT, PROMPTS
from argsum.writing.actions.runs import target_of
from cqa_site.judging.chat import ChatRequest
from cqa_site.people.models import User
from cqa_site.runs import jobs
from cqa_site.runs.actions.endpoints import first_prompts
from cqa_site.runs.actions.runs import RunPlan
from cqa_site.runs.models import Endpoint, Run
from tests.argsum.made_cells import SIDES, make_scorer
from tests.runs.made_runs import carry_run

# Every argument of the made cells → the place of its key point.
PLACES = {
    text: place
    for _stance, key_points in SIDES
    for place, texts in enumerate(key_points.values())
    for text in texts
} | {
    key_point: place for _stance, key_points in SIDES for place, key_point in enumerate(key_points)
}


class PlaceScorer:
    """Texts of one key point match with .9, others with .2; what is unknown with .5."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []

    def matrix(
        self, rows: Sequence[str], columns: Sequence[str], *, topic: str = ""
    ) -> np.ndarray:
        """Scores, shape (r, c)."""
        self.asked.append((len(rows), len(columns)))
        return np.array(
            [[_score(row, column) for column in columns] for row in rows], dtype=np.float32
        ).reshape(len(rows), len(columns))


def _score(row: str, column: str) -> float:
    if row == column:
        return 1.0
    if row not in PLACES or column not in PLACES:
        return 0.5
    return 0.9 if PLACES[row] == PLACES[column] else 0.2


def place_vectors(texts: Sequence[str]) -> np.ndarray:
    """Two directions, one for each key point, a little apart within each."""
    found = np.zeros((len(texts), 8), dtype=np.float32)
    for row, text in enumerate(texts):
        found[row, PLACES[text]] = 1
        found[row, 2 + row % 6] = 0.1
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def plan_of(dataset: Dataset, **chosen) -> SystemPlan:
    """A plan over the test split; without a scorer, one is made."""
    study = dataset.study
    scorer = study.scorers.filter(task="match").first() or make_scorer(study)
    usual = {"system": "mcargsum", "grid": {"threshold": [0.5], "min_size": [3]}}
    usual |= {"dataset": dataset, "match_scorer": scorer, "split": "test"}
    return SystemPlan(**usual | chosen)


def work(run: SystemRun) -> SystemRun:
    """Let a worker do what waits."""
    jobs.drain()
    run.refresh_from_db()
    return run


def make_run(dataset: Dataset, actor: User, **chosen) -> SystemRun:
    """Start a run of a system and let a worker do what waits."""
    return work(start_system(study=dataset.study, actor=actor, plan=plan_of(dataset, **chosen)))


def write(run: SystemRun, endpoint: Endpoint, actor: User, answer: Callable, **chosen) -> Run:
    """Have a scripted model write for a run, and let a worker finish the sets."""
    prompts = {each.kind: each for each in first_prompts(run.study, PROMPTS, actor)}
    plan = {
        "kind": "writing",
        "endpoint": endpoint,
        "prompt": prompts[OF_VARIANT[run.variant]],
        "target": target_of(run, **chosen.pop("target", {})),
        "params": {"temperature": 0, "max_tokens": 900},
        "preflight": "off",
    }
    done = carry_run(run.study, actor, answer, RunPlan(**plan | chosen))
    work(run)
    return done


def shown(request: ChatRequest) -> list[dict]:
    """The records between the marker lines of a request."""
    text = request.messages[-1]["content"]
    found = re.search(r"=== begin \w+ ===\n(.*)\n=== end", text, re.DOTALL)
    assert found is not None
    return [json.loads(line) for line in found[1].split("\n")]


def name_clusters(request: ChatRequest) -> dict[str, str]:
    """Code → a key point that names the first argument of its cluster."""
    return {each["cluster"]: f"As in: {each['arguments'][0]}" for each in shown(request)}


def in_order(request: ChatRequest) -> str:
    """A key point for each cluster."""
    return json.dumps(name_clusters(request))
