"""Invented answers with score sheets, for tests of everything that reads sheets."""

import random

from annotation.answers.actions import argument_list
from annotation.answers.models import Answer, System
from annotation.corpus.models import Argument, Comparison, Question
from annotation.generation.actions.answer_runs import condition
from benchmark.leaderboard.models import BoardSnapshot
from benchmark.rubrics.models import RubricVersion, default_rubric
from benchmark.scoring.models import ScoreSheet
from cqa_site.people.models import Rater, Study
from cqa_site.results.models import json_sha256
from cqa_site.tabular.cells import text_key

TEXT = "A kayak is faster than a canoe [1]. A canoe carries more. Final Choice: kayak (answer {})."


def make_scored_answers(
    study: Study,
    *,
    systems: tuple[str, ...] = ("Alpha", "Beta"),
    questions: int = 4,
    scenarios: tuple[int, ...] = (1,),
    aspect: str = "",
) -> list[Answer]:
    """One answer of every system to every question under every scenario."""
    start = study.comparisons.count()
    made = []
    for number in range(start, start + questions):
        comparison = Comparison.objects.create(
            study=study, object1=f"kayak {number}", object2=f"canoe {number}"
        )
        question = Question.objects.create(
            study=study, comparison=comparison, aspect=aspect if number % 2 else ""
        )
        for name in systems:
            system, _ = System.objects.get_or_create(study=study, name=name)
            for scenario in scenarios:
                text = TEXT.format(f"{name} {number} {scenario}")
                about = {"question": question, "system": system, "scenario": scenario}
                about |= {"condition": condition(study, scenario=scenario), "text": text}
                place = {"source": f"{name}.json", "position": number * 10 + scenario}
                made.append(Answer(study=study, text_sha256=text_key(text), **about, **place))
    return Answer.objects.bulk_create(made)


def give_list(answer: Answer, texts: list[str]) -> None:
    """Let the answer be written from these sentences, numbered from 1."""
    arguments = [
        Argument.objects.create(
            study=answer.study,
            comparison=answer.question.comparison,
            text=text,
            text_sha256=text_key(text),
            source_url=f"https://source.example/{number}",
        )
        for number, text in enumerate(texts)
    ]
    answer.argument_list = argument_list(answer.question, list(enumerate(arguments, 1)), {})
    answer.save()


def make_rater(study: Study, name: str, kind: str = Rater.Kind.PERSON) -> Rater:
    """A rater without an account."""
    rater, _ = Rater.objects.get_or_create(study=study, kind=kind, external_id=name, name=name)
    return rater


def make_sheets(
    study: Study,
    answers: list[Answer],
    raters: list[Rater],
    *,
    rubric: RubricVersion | None = None,
    seed: int = 1,
    replicates: int = 1,
) -> list[ScoreSheet]:
    """Submitted sheets of all raters for all answers, as if imported; raters mostly agree."""
    rubric = rubric or default_rubric(study)
    rng = random.Random(seed)
    made = []
    for answer in answers:
        truth = {each.key: rng.randint(0, each.maximum) for each in rubric.rubric.criteria}
        for rater in raters:
            for replicate in range(replicates):
                points = {
                    each.key: truth[each.key]
                    if rng.random() < 0.8
                    else rng.randint(0, each.maximum)
                    for each in rubric.rubric.criteria
                }
                about = {"study": study, "answer": answer, "rubric": rubric, "rater": rater}
                place = {"source": f"{rater.name}-{replicate}.csv", "position": answer.pk}
                given = {"points": points, "total": rubric.rubric.total(points)}
                given |= {"maximum": rubric.rubric.maximum, "state": ScoreSheet.State.SUBMITTED}
                made.append(ScoreSheet(replicate=replicate, **about, **place, **given))
    return ScoreSheet.objects.bulk_create(made)


def as_earlier_version(snapshot: BoardSnapshot) -> BoardSnapshot:
    """The snapshot as version 2 of the leaderboard left it, stored: with other intervals."""
    snapshot = BoardSnapshot.objects.get(pk=snapshot.pk)
    board = snapshot.figures["board"]
    board |= {"version": 2, "options": board["options"] | {"n_resamples": 1000, "seed": 1}}
    for row in board["rows"]:
        row |= {"low": row["mean"] - 1, "high": row["mean"] + 1, "reason": None}
    for judge in board["parts"].values():
        for means in judge.values():
            for each in means:
                each[2:] = [each[0], each[0]]
    for each in board["rankings"]:
        each["pairs"]["p_holm"] = [0.5] * len(each["pairs"]["p_holm"])
    snapshot.recipe |= {"version": 2, "figures_sha256": json_sha256(snapshot.figures)}
    snapshot.save()
    return snapshot
