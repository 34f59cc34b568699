"""Reproduction of the relevance paper from its release or from a study, for a command."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management import CommandError

from annotation.faithfulness.reports.faithfulness import (
    PAPER,
    SOUND,
    GroupFigures,
    compute_groups,
    judge_runs,
)
from annotation.faithfulness.reports.tables import text_of_group
from annotation.labelling.models import LabelRound, label_rounds_of
from cqa_site.files.actions.imports import ImportRefused
from cqa_site.people.models import Rater, Study
from cqa_site.reproduction.figures import (
    Key,
    MeasuredFigure,
    PaperFigure,
    ReproducedValue,
    compare,
)
from cqa_site.reproduction.reproduced import Reproduction, Say
from cqa_site.reproduction.tables import TableLayout
from cqa_site.runs.jobs import JobRefused
from ..management.environment import find_study, throwaway_database
from .reports import (
    COLUMNS,
    FIGURES,
    answers_layout,
    answers_place,
    crowd_values,
    layouts,
    measured,
    votes_layout,
)
from .reproduction import Choices, DataMissing, NoSuchControl, reproduce_judge, reproduce_relevance


def relevance(data: Path, options: dict[str, Any], say: Say) -> Reproduction:
    """Compute all figures of the released votes, labels and answers."""
    choices = Choices(options["min_accuracy"], dict(options["control_label"]))
    figures = _computed(lambda: reproduce_relevance(data, choices))
    return Reproduction(figures, layouts(), is_imported=True)


def judge(data: Path, options: dict[str, Any], say: Say) -> Reproduction:
    """Train a judge on the released labels, and evaluate it on held-out pairs."""
    return Reproduction(_computed(lambda: reproduce_judge(data, say)), is_imported=True)


def _computed(compute: Callable[[], list[PaperFigure]]) -> tuple[PaperFigure, ...]:
    """Run the computation in a temporary database; the configured database is not used."""
    try:
        with throwaway_database():
            return tuple(compute())
    except (DataMissing, NoSuchControl, ImportRefused, JobRefused) as error:
        raise CommandError(str(error)) from error


# Columns of table 3, with the names of the measures here.
MEASURES = {"jaccard_sentence": "jaccard_segment"}
RECIPE = "sound recipe: statements and citations as a reader sees them, citations pooled in AAC"


def study_relevance(name: str, options: dict[str, Any], say: Say) -> Reproduction:
    """Compute figures for the newest round with votes by people, and for all groups of answers."""
    study = find_study(name)
    if study is None:
        raise CommandError(f"There is no study “{name}”.")
    figures: dict[Key, ReproducedValue] = {}
    layouts: list[TableLayout] = []
    if label_round := _voted(study):
        values = crowd_values(label_round, options["min_accuracy"])
        figures |= {
            figure.place: ReproducedValue(ours=measured(values[figure.key]))
            for figure in FIGURES
            if figure.key in values
        }
        layouts.append(votes_layout(f"Votes of “{label_round.name}” and their results."))
    if answers := _answers(study):
        figures |= {place: value for row in answers.values() for place, value in row.items()}
        layouts.append(answers_layout({name: list(row) for name, row in answers.items()}))
    if not layouts:
        raise CommandError(f"“{study.name}” has neither votes nor figures of answers.")
    return Reproduction(tuple(compare(figures)), tuple(layouts))


def _voted(study: Study) -> LabelRound | None:
    people = label_rounds_of(study).filter(
        assignments__state="answered", assignments__rater__kind=Rater.Kind.PERSON
    )
    return people.order_by("-created_at", "-pk").first()


def _answers(study: Study) -> dict[str, dict[Key, ReproducedValue]]:
    """Map rows of table 3 to figures by position, under the paper's recipe and under ours."""
    run = judge_runs(study).first()
    paper, sound = (compute_groups(study, mode, run) for mode in (PAPER, SOUND))
    ours = {_name(group): group for group in sound}
    # Experts' texts are already included as edited texts of the systems they edited.
    experts = study.systems.filter(answers__revision__isnull=False)
    again = set(map(str, experts.values_list("public_id", flat=True)))
    return {
        _name(group): _row(_name(group), group, ours.get(_name(group), group))
        for group in paper
        if group.system not in again
    }


def _name(group: GroupFigures) -> str:
    return f"{group.name}, {text_of_group(group)}"


def _row(name: str, paper: GroupFigures, sound: GroupFigures) -> dict[Key, ReproducedValue]:
    sizes = {"size": paper.n_answers, "questions": paper.n_questions}
    values = {
        answers_place(name, column): ReproducedValue(ours=measured(n))
        for column, n in sizes.items()
    }
    return values | {
        answers_place(name, column): ReproducedValue(
            _mean(paper, column), _mean(sound, column), RECIPE
        )
        for column in COLUMNS
        if column not in sizes
    }


def _mean(group: GroupFigures, column: str) -> MeasuredFigure | None:
    mean = group.measures[MEASURES.get(column, column)]
    return None if mean.value is None else MeasuredFigure((mean.value,), n=mean.n_values)
