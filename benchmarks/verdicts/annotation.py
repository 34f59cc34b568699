"""Verdicts about labels, judges of labels, faithfulness, editing and control items."""

from __future__ import annotations

import os
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import django
import numpy as np
import pandas as pd
from django.apps import apps

if not apps.ready:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cqa_site.settings")
    django.setup()

from annotation.faithfulness.methods.faithfulness import AnswerFigures
from annotation.faithfulness.reports import edited, faithfulness
from annotation.faithfulness.reports.edited import (
    edited_finding,
    experts_finding,
    faithfulness_finding,
)
from annotation.faithfulness.reports.expert_agreement import ExpertAgreement
from annotation.judges.reports import figures as judge_figures
from annotation.judges.reports.agreement import difference_from_people
from annotation.judges.reports.charts import judges_finding, trained_finding
from annotation.judges.reports.results import TrainedFigures
from benchmarks.verdicts.simulating import Simulation
from cqa_site.rounds.rules.records import ControlRecord
from cqa_site.stats.agreement import krippendorff_alpha
from cqa_site.stats.disagreement import replace_one_vote
from cqa_site.stats.drift import accuracy_chart, find_fall
from cqa_site.stats.ratings import Ratings

Draws = np.random.Generator
SKEWED = (0.7, 0.15, 0.1, 0.05)
PEOPLE = 3
MEASURES = 18


# -- labels: everybody reads the same truth with probability √alpha, otherwise guesses -----------


def _readings(n: int, raters: int, alpha: float, draws: Draws) -> np.ndarray:
    """Return labels, shape (raters, n), by raters with this alpha at any level of measurement."""
    truth = draws.choice(len(SKEWED), n, p=SKEWED)
    guesses = draws.choice(len(SKEWED), (raters, n), p=SKEWED)
    return np.where(draws.random((raters, n)) < alpha**0.5, truth, guesses).astype(float)


def _ratings(readings: np.ndarray) -> Ratings:
    raters, n = readings.shape
    items, people = np.tile(np.arange(n), raters), np.repeat(np.arange(raters), n)
    names = pd.Index(range(n), name="item"), pd.Index(range(raters), name="rater")
    return Ratings(items, people, readings.ravel(), *names)


def _people(readings: np.ndarray) -> Any:
    final = pd.Series(np.sort(readings, axis=0)[len(readings) // 2])
    nothing = SimpleNamespace(value=None, low=None, high=None)
    return SimpleNamespace(votes=_ratings(readings), final=final, agreement=nothing)


def _judge(labels: np.ndarray, key: str = "one") -> Any:
    return SimpleNamespace(key=key, labels=pd.Series(labels), coverage=1.0)


def _best_of(judges: int):
    """Whether the sentence says "Yes" or "No" about judges that are simply additional people."""

    def study(n: int, draws: Draws) -> bool:
        readings = _readings(n, PEOPLE + judges, 0.6, draws)
        people = _people(readings[:PEOPLE])
        compared = [
            SimpleNamespace(
                judge=_judge(labels, str(at)),
                ordinal=krippendorff_alpha(_ratings(np.array([people.final, labels])), "ordinal"),
            )
            for at, labels in enumerate(readings[PEOPLE:])
        ]
        return not _says(compared, people).startswith("Not proven")

    return study


def _says(compared: list[Any], people: Any) -> str:
    """Return the sentence about the best of these judges."""
    best = judge_figures._best(sorted(compared, key=judge_figures._rank), people)
    row = SimpleNamespace(
        short_name="J",
        is_demonstration=False,
        ordinal=people.agreement,
        with_votes=people.agreement,
    )
    return judges_finding(
        SimpleNamespace(judges=[row], best=best, named=lambda key: row, people=people)
    ).says


def _difference_covers(n: int, draws: Draws) -> bool | None:
    readings = _readings(n, PEOPLE + 1, 0.6, draws)
    found = difference_from_people(_people(readings[:PEOPLE]), _judge(readings[-1]))
    return None if found.low is None else found.low <= 0 <= found.high


def _clearly_worse(n: int, draws: Draws) -> bool:
    readings = _readings(n, PEOPLE, 0.6, draws)
    labels = np.where(draws.random(n) < 0.4, readings[0], draws.permutation(readings[0]))
    judge = SimpleNamespace(judge=_judge(labels), ordinal=SimpleNamespace(value=0.2))
    return _says([judge], _people(readings)).startswith("No:")


def _trained_says_too_much(n: int, draws: Draws) -> bool:
    alpha = krippendorff_alpha(_ratings(_readings(n, 2, 0.66, draws)), "ordinal")
    if alpha.value is None:
        return False
    figures = TrainedFigures(
        n=n, pairs=n, folds=5, ordinal=alpha, interval=alpha, exact=None, bias=None, per_label=(),
        predicted=0,
    )  # fmt: skip
    return "labels well enough" in trained_finding(figures, 1).says


def _replacement_covers(n: int, draws: Draws) -> bool | None:
    readings = _readings(n, PEOPLE + 1, 0.6, draws)
    changed = replace_one_vote(_people(readings[:PEOPLE]).votes, pd.Series(readings[-1])).changed
    return None if changed.low is None else changed.low <= _replaced() <= changed.high


@lru_cache
def _replaced() -> float:
    readings = _readings(20_000, PEOPLE + 1, 0.6, np.random.default_rng(1))
    found = replace_one_vote(_people(readings[:PEOPLE]).votes, pd.Series(readings[-1]))
    return found.changed.value or 0.0


# -- faithfulness: F1 has few values, 1 is frequent, questions differ ---------------------------

F1 = np.array([0.0, 0.4, 0.67, 0.8, 1.0])


def _f1(n: int, texts: int, draws: Draws) -> np.ndarray:
    """Return F1 of texts on n questions, shape (texts, n); the few hard ones are hard for all."""
    is_hard = draws.random(n) < 0.2
    easy = draws.choice(F1, (texts, n), p=(0.02, 0.08, 0.1, 0.2, 0.6))
    hard = draws.choice(F1, (texts, n), p=(0.3, 0.3, 0.2, 0.1, 0.1))
    return np.where(is_hard, hard, easy)


MEAN_F1 = 0.8 * (0.08 * 0.4 + 0.067 + 0.16 + 0.6) + 0.2 * (0.12 + 0.134 + 0.08 + 0.1)


def _group(name: str, values: np.ndarray) -> faithfulness.GroupFigures:
    """Return a group with several texts per question, shape (texts, n)."""
    texts, n = values.shape
    members = faithfulness.Members(
        questions=np.tile(np.arange(n), texts).tolist(),
        figures=[AnswerFigures(f1=float(each)) for each in values.ravel()],
    )
    system = SimpleNamespace(public_id=name, name=name, kind="model")
    condition = SimpleNamespace(scenario=1, public_id="c", name="Plain", is_plain=True)
    share = faithfulness.SHARES["sound"]
    return faithfulness._figures(system, condition, members, share, [], is_edited=False)


def _closest(groups: int, texts: int = 1):
    def study(n: int, draws: Draws) -> bool:
        values = _f1(n, groups * texts, draws).reshape(groups, texts, n)
        found = [_group(f"S{at}", each) for at, each in enumerate(values)]
        return "cites the relevant arguments best" in faithfulness_finding(found).says

    return study


def _closest_found(n: int, draws: Draws) -> bool:
    """One of three groups is better by two thirds of a standard deviation of the differences."""
    values = _f1(n, 3, draws)
    values[1:] = np.clip(values[1:] - 0.2, 0, 1)
    found = [_group(f"S{at}", each[None]) for at, each in enumerate(values)]
    return faithfulness_finding(found).says.startswith("S0 (Plain) cites the relevant")


def _f1_covers(n: int, draws: Draws) -> bool | None:
    found = _group("S", _f1(n, 2, draws)).measures["f1"]
    return None if found.low is None else found.low <= MEAN_F1 <= found.high


def _segments_cover(n: int, draws: Draws) -> bool | None:
    """Similarity, pooled over 1 to 8 segments of a text; each question shifts all its segments."""
    members = faithfulness.Members()
    for question in range(n):
        level = 0.9 - draws.gamma(1.0, 0.1)
        values = level + draws.normal(0, 0.1, draws.integers(1, 9))
        members.questions.append(question)
        members.figures.append(AnswerFigures(similarity=tuple(values)))
    rows = [faithfulness.PARTS["similarity"](each) for each in members.figures]
    found = faithfulness._estimate(members.questions, rows, (-1.0, 1.0))
    return None if found.low is None else found.low <= 0.8 <= found.high


# -- editing ------------------------------------------------------------------------------------


def _changes(n: int, draws: Draws, measures: int = MEASURES) -> list[edited.MeasureChange]:
    """Changes in checks that few edits flip, and in skewed measures; two texts per question."""
    own = draws.exponential(1.0, (2, n)) - 1
    changes = []
    for at in range(measures):
        if at % 2:
            after = 1 + 0.05 * (0.7 * own + draws.exponential(1.0, (2, n)) - 1)
            before = np.ones_like(after)
        else:
            before = (draws.random((2, n)) < 0.7).astype(float)
            flips = draws.random((2, n))
            after = np.where(flips < 0.06, 0.0, np.where(flips > 0.86, 1.0, before))
        pairs = [
            SimpleNamespace(
                edited=SimpleNamespace(before=SimpleNamespace(question_id=question)),
                values=(before[text, question], after[text, question]),
            )
            for text in range(2)
            for question in range(n)
        ]
        changes.append(edited._change(str(at), f"M{at}", pairs, lambda pair: pair.values))
    return changes


def _moved(n: int, draws: Draws) -> bool:
    changes = _changes(n, draws)
    summary = SimpleNamespace(
        n=2 * n, n_questions=n, distance=changes[1].difference, checks=changes[::2],
        changes=changes[1::2],
    )  # fmt: skip
    return "Shown to have changed" in edited_finding(summary).sure


def _change_covers(n: int, draws: Draws) -> bool | None:
    found = _changes(n, draws, 2)[1].difference
    return None if found.low is None else found.low <= 0 <= found.high


def _experts(n: int, draws: Draws) -> bool:
    """Each answer has its own similarity; a few experts who make large changes skew it."""
    level = 0.9 - draws.gamma(1.0, 0.03, n)
    apart = draws.exponential(0.03, n) - 0.03
    found = ExpertAgreement(
        experts=[], n_answers=n, n_versions=3 * n, without_vector=0, cells=[], work=[],
        alike=list(zip(level + apart, level, strict=True)),
    )  # fmt: skip
    return "each other (" in experts_finding(found).says


# -- control items ------------------------------------------------------------------------------


def _low(mark: float):
    return lambda n, draws: _record(int(draws.binomial(n, mark)), n).is_below(mark)


def _ever_low(mark: float):
    """Check, after each of n answers, a person who is exactly at the mark."""

    def study(n: int, draws: Draws) -> bool:
        right = np.cumsum(draws.random(n) < mark)
        return any(_record(int(right[at]), at + 1).is_below_at_any_look(mark) for at in range(n))

    return study


def _record(right: int, n: int) -> ControlRecord:
    return ControlRecord((True,) * right + (False,) * (n - right))


def _fall_signalled(usual: float, now: float, *, first: int = 0):
    """Whether a fall is signalled in n control answers, after ``first`` answers without one."""
    chart = accuracy_chart(0.92, 0.78)

    def study(n: int, draws: Draws) -> bool | None:
        answers = [*(draws.random(first) < usual), *(draws.random(n) < now)]
        fall = find_fall(chart, answers)
        return None if fall and fall.signal <= first else fall is not None

    return study


def _accuracy_covers(n: int, draws: Draws) -> bool | None:
    found = _record(int(draws.binomial(n, 0.8)), n).interval
    return None if found is None else found[0] <= 0.8 <= found[1]


YES_OR_NO = "Yes/No: {J} agrees with people more/less than they do with each other"
CLOSEST = "{System} cites the relevant arguments best"
SIMULATIONS = (
    Simulation(
        says=f"{YES_OR_NO} (one judge)",
        rule="one against a group",
        truth="the judge is one more human; skewed labels, alpha .6",
        counts="false", sizes=(100, 150, 250), unit="arguments", study=_best_of(1),
        quick=12, full=600,
    ),
    Simulation(
        says=f"{YES_OR_NO} (best of 6)",
        rule="one against a group",
        truth="six judges are six more humans",
        counts="false", sizes=(100, 150, 250), unit="arguments", study=_best_of(6),
        quick=8, full=500,
    ),
    Simulation(
        says="No: {J} agrees with people less than they do with each other",
        rule="one against a group",
        truth="it repeats one person's label of two in five arguments, else guesses",
        counts="found", sizes=(100, 200), unit="arguments", study=_clearly_worse,
        quick=16, full=500,
    ),
    Simulation(
        says="difference of alphas, judge with votes minus people",
        rule="interval",
        truth="the judge is one more human",
        counts="covered", sizes=(100, 150, 250), unit="arguments", study=_difference_covers,
        quick=16, full=600,
    ),
    Simulation(
        says="Version {n} agrees with final labels well enough for … conclusions",
        rule="reliability",
        truth="alpha .66",
        counts="false", sizes=(20, 50, 100), unit="arguments", study=_trained_says_too_much,
        quick=24, full=1000,
    ),
    Simulation(
        says="share of majority labels that a judge in place of a vote changes",
        rule="interval",
        truth="the judge is one more human",
        counts="covered", sizes=(20, 50, 100), unit="arguments", study=_replacement_covers,
        quick=16, full=500,
    ),
    Simulation(
        says=f"{CLOSEST} (2 groups)",
        rule="paired means",
        truth="equal; F1 of few values, hard questions are few",
        counts="false", sizes=(10, 20, 40), unit="questions", study=_closest(2), quick=60,
    ),
    Simulation(
        says=f"{CLOSEST} (5 groups, 2 texts a question)",
        rule="paired means",
        truth="equal",
        counts="false", sizes=(10, 20, 60), unit="questions", study=_closest(5, 2),
        quick=8, full=500,
    ),
    Simulation(
        says=f"{CLOSEST} (3 groups)",
        rule="paired means",
        truth=".2 above the others, cut at 0",
        counts="found", sizes=(50, 100), unit="questions", study=_closest_found,
        quick=40, full=500,
    ),
    Simulation(
        says="mean F1 of a system",
        rule="interval",
        truth="two texts a question, few values, 1 is frequent",
        counts="covered", sizes=(10, 20, 60), unit="questions", study=_f1_covers, quick=100,
    ),
    Simulation(
        says="mean similarity of segments",
        rule="interval",
        truth="1 to 8 segments a question, skewed over questions",
        counts="covered", sizes=(10, 20, 60), unit="questions", study=_segments_cover, quick=100,
    ),
    Simulation(
        says="Shown to have changed: {measures}",
        rule="paired means",
        truth="none of 18 moved; skewed changes, checks that few edits flip",
        counts="false", sizes=(10, 20, 60), unit="questions", study=_moved, quick=16, full=600,
    ),
    Simulation(
        says="difference after editing, skewed",
        rule="interval",
        truth="no change on average",
        counts="covered", sizes=(10, 20, 60), unit="questions", study=_change_covers,
        quick=60, full=2000,
    ),
    Simulation(
        says="Experts' versions are more/less similar to each other than to the machine's",
        rule="paired means",
        truth="equally alike on average, differences skewed",
        counts="false", sizes=(10, 20, 40), unit="answers", study=_experts, quick=150,
    ),
    *(
        Simulation(
            says=f"95 % interval below the minimum of {mark}",
            rule="below a mark",
            truth="accuracy exactly at the mark",
            counts="false", sizes=(6, 20, 60), unit="control answers", study=_low(mark),
            quick=400,
        )
        for mark in (0.5, 0.8)
    ),
    *(
        Simulation(
            says=f"paused or excluded by the rule below {mark}, looked at after every answer",
            rule="below a mark at any look",
            truth="accuracy exactly at the mark",
            counts="false", sizes=(20, 60, 200), unit="control answers", study=_ever_low(mark),
            quick=60, full=1000,
        )
        for mark in (0.5, 0.8)
    ),
    Simulation(
        says="Fall signalled (accuracy .92 to .78)",
        rule="fall in accuracy",
        truth="accuracy .92 throughout",
        counts="false", sizes=(20, 60), unit="control answers",
        study=_fall_signalled(0.92, 0.92), quick=400,
    ),
    Simulation(
        says="Fall signalled (accuracy .92 to .78)",
        rule="fall in accuracy",
        truth="accuracy falls from .92 to .78 after 40 control answers",
        counts="found", sizes=(60,), unit="control answers after the fall",
        study=_fall_signalled(0.92, 0.78, first=40), quick=400,
    ),
    Simulation(
        says="control accuracy",
        rule="interval",
        truth="accuracy .8",
        counts="covered", sizes=(1, 6, 60), unit="control answers", study=_accuracy_covers,
        quick=400,
    ),
)  # fmt: skip
