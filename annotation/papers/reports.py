"""Figures of the relevance paper, as printed and as computed from rounds and answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from annotation.answers.models import Answer
from annotation.answers.reports import numbered_labels, numbered_texts
from annotation.consensus.models import FinalLabel
from annotation.consensus.reports import machine_table, vote_table
from annotation.judges.reports.label_compare import labels_of_rater
from annotation.labelling.models import Assignment, Item, LabelRound
from annotation.papers.methods import relevance_paper
from annotation.papers.methods.relevance_answers import CitingAnswer
from annotation.papers.methods.relevance_paper import Values
from cqa_site.people.models import Rater, Study
from cqa_site.reproduction.figures import (
    Key,
    MeasuredFigure,
    PaperFigure,
    PrintedFigure,
    ReproducedValue,
    compare,
)
from cqa_site.reproduction.tables import TableCell, TableLayout, TableLine

# Printed figures of the relevance paper, and the layout of its tables
#
# The keys match the values that `annotation.papers.methods` computes from the released files, and
# the functions below from imported rounds.

VOTES, CROWD, CONTROLS = "votes (3.1, 3.3.1)", "crowd agreement", "control items (3.3.1)"
KEPT, LABELS = "workers kept by control accuracy", "final labels (3.3.1)"
EXPERTS, MODEL = "experts (3.3)", "GPT-4 (3.4)"
TABLE_3, SOUND, IMPORTS = "Table 3", "Table 3, sound recipe", "import"

NO_REPLIES = "the judge's replies are not among the files"
OTHER_SCORES = "the released answers and labels give the other value; the reason is not known"


@dataclass(frozen=True)
class PublishedFigure:
    """A published figure: the key of its value, its position, and the printed text."""

    key: str
    table: str
    cell: str
    text: str = ""
    why: str = ""

    @property
    def place(self) -> Key:
        return self.table, self.cell

    @property
    def printed(self) -> PrintedFigure:
        return PrintedFigure(self.table, self.cell, self.text, self.why)


FIGURES = (
    PublishedFigure("rows", VOTES, "rows of the crowd's file"),
    PublishedFigure("answered_void", VOTES, "rows approved / expired"),
    PublishedFigure("workers", VOTES, "workers with approved work", "282"),
    PublishedFigure("tasks", VOTES, "sentences", "1,729"),
    PublishedFigure("ordinary_control", VOTES, "ordinary / control items"),
    PublishedFigure("blank", VOTES, "items with a blank sentence"),
    PublishedFigure("pairs", VOTES, "object pairs", "112"),
    PublishedFigure("pairs_folded", VOTES, "object pairs without case and order"),
    PublishedFigure(
        "control_positions",
        VOTES,
        "control items by place in a suite",
        "after every 4",
        "the release has them at any of five places",
    ),
    PublishedFigure(
        "votes_per_task",
        VOTES,
        "votes on a sentence, least / most",
        "2 / 60",
        "the release has other extremes",
    ),
    PublishedFigure("votes", VOTES, "votes on ordinary / control items"),
    PublishedFigure("vote_values", VOTES, "votes 0 / 1 / 2 / 3"),
    *(
        PublishedFigure(f"alpha_{items}_{level}", CROWD, f"alpha, {items} items, {level}")
        for items in ("all", "ordinary")
        for level in ("nominal", "ordinal", "interval")
    ),
    PublishedFigure("control_accuracy", CONTROLS, "right answers / all"),
    PublishedFigure("workers_below_half", CONTROLS, "workers with accuracy below 0.5"),
    PublishedFigure("workers_perfect_zero", CONTROLS, "workers with accuracy 1 / 0"),
    PublishedFigure("kept_workers", KEPT, "kept workers"),
    PublishedFigure("kept_votes", KEPT, "their votes on ordinary items"),
    PublishedFigure("kept_tasks_without", KEPT, "ordinary items without a vote"),
    PublishedFigure("kept_ties", KEPT, "tied items"),
    PublishedFigure("kept_alpha", KEPT, "alpha, ordinal"),
    PublishedFigure("kept_labels", KEPT, "majority labels 0 / 1 / 2 / 3"),
    PublishedFigure("majority_tasks", LABELS, "majority of items 0 / 1 / 2 / 3"),
    PublishedFigure("majority_units", LABELS, "majority of arguments 0 / 1 / 2 / 3"),
    PublishedFigure("splits", LABELS, "ordinary items split 3-0 / 2-1 / 1-1-1"),
    PublishedFigure("tied_units", LABELS, "arguments decided by experts", "265"),
    PublishedFigure("equal_majority", LABELS, "majority equals the released label / of"),
    PublishedFigure("equal_experts", LABELS, "with expert batches 1–3 overriding / of"),
    PublishedFigure("equal_adjudicated", LABELS, "with ties as released / of"),
    PublishedFigure("expert_controls", EXPERTS, "control sheet: items / raters"),
    PublishedFigure("expert_alpha", EXPERTS, "control sheet: alpha, ordinal", "0.89"),
    PublishedFigure("expert_fleiss", EXPERTS, "control sheet: Fleiss' kappa", "0.81"),
    PublishedFigure(
        "batch_items",
        EXPERTS,
        "sentences labelled in batches",
        "480",
        "the five rated sheets of 100 hold fewer different ones",
    ),
    PublishedFigure("batch_twice", EXPERTS, "sentences labelled in two batches"),
    PublishedFigure("batch_alpha", EXPERTS, "sentences in two batches: alpha, ordinal"),
    PublishedFigure("batch_equal", EXPERTS, "sentences in two batches with equal labels"),
    PublishedFigure("model_exact", MODEL, "label equals the final one"),
    *(
        PublishedFigure(f"model_alpha_{level}", MODEL, f"alpha with the final labels, {level}")
        for level in ("nominal", "ordinal", "interval")
    ),
    PublishedFigure(
        "model_experts", MODEL, "alpha with experts", "0.68", "its labels are not among the files"
    ),
    PublishedFigure(
        "model_crowd",
        MODEL,
        "alpha with the crowd",
        "0.43",
        "the released labels give the alphas above",
    ),
    PublishedFigure("added_twice", IMPORTS, "objects added by importing everything again"),
)

# Rows and columns of table 3 as printed, with keys of values and headings.
ROWS = {"gold": "Gold (human)", "subset": "Silver (subset)", "silver": "Silver"}
COLUMNS = {
    "size": "Size",
    "questions": "Questions",
    "jaccard_text": "Jaccard, text",
    "jaccard_sentence": "Jaccard, sentence",
    "levenshtein": "Levenshtein",
    "similarity": "S-BERT",
    "precision": "AR Pr",
    "recall": "AR R",
    "f1": "AR F1",
    "coherence": "AAC",
}
HEADINGS = ("Size", "Qu.", "text", "sent.", "Lev.", "S-BERT", "Pr", "R", "F1", "AAC")
SPANS = (("", 2), ("Jaccard", 2), ("", 2), ("AR", 3), ("", 1))
PRINTED = {
    "gold": ("80", "50", "0.14", "0.18", "20.54", "0.68", "0.96", "0.53", "0.64", "0.72"),
    "subset": ("150", "50", "0.24", "0.21", "11.88", "0.69", "0.95", "0.77", "0.82", "0.78"),
    "silver": ("336", "112", "0.25", "0.21", "11.82", "0.68", "0.96", "0.75", "0.81", "0.77"),
}
_WHY = {"recall": OTHER_SCORES, "f1": OTHER_SCORES, "coherence": NO_REPLIES}
ANSWERS = tuple(
    PublishedFigure(
        f"{row}_{column}", TABLE_3, f"{ROWS[row]}, {COLUMNS[column]}", text, _WHY.get(column, "")
    )
    for row, texts in PRINTED.items()
    for column, text in zip(COLUMNS, texts, strict=True)
)
RECIPE_NOTES = (
    "Jaccard, Levenshtein and S-BERT: each segment against its closest argument; AR: cited "
    "against relevant arguments (label 2 or 3), means over answers; AAC: coherent among the "
    "judged citations of an answer, mean over answers.",
)
SOUND_COLUMNS = ("jaccard_text", "jaccard_sentence", "levenshtein", "precision", "recall", "f1")
SOUND_FIGURES = (
    *(
        PublishedFigure(f"{row}_sound_{column}", SOUND, f"{name}, {COLUMNS[column]}")
        for row, name in ROWS.items()
        for column in SOUND_COLUMNS
    ),
    *(
        PublishedFigure(
            f"clean_{column}", SOUND, f"Silver (subset), clean reader, {COLUMNS[column]}"
        )
        for column in ("precision", "recall", "f1")
    ),
)
PUBLISHED = (*FIGURES[:-1], *ANSWERS, *SOUND_FIGURES, FIGURES[-1])


def table_3() -> TableLayout:
    """Table 3 as printed."""
    rows = {name: [answers_place(name, column) for column in COLUMNS] for name in ROWS.values()}
    return answers_layout(rows)


def answers_place(row: str, column: str) -> Key:
    """Return the position of a figure in table 3."""
    return TABLE_3, f"{row}, {COLUMNS[column]}"


def answers_layout(rows: Mapping[str, Sequence[Key]]) -> TableLayout:
    """Return the layout of table 3 with these rows and all columns."""
    return TableLayout(
        name="relevance-3",
        caption="Faithfulness of edited (gold) and machine-written (silver) answers to their "
        "arguments, after table 3 of the relevance paper.",
        headings=("Answers", *HEADINGS),
        lines=tuple(
            TableLine((name,), tuple(map(TableCell, places))) for name, places in rows.items()
        ),
        spans=SPANS,
        notes=RECIPE_NOTES,
    )


def votes_layout(caption: str) -> TableLayout:
    """Return the layout of the crowd's figures from the paper's text, one per line."""
    return _listed("relevance-votes", caption, (VOTES, CROWD, CONTROLS, KEPT, LABELS))


def _listed(name: str, caption: str, tables: tuple[str, ...]) -> TableLayout:
    rows = [figure for figure in FIGURES if figure.table in tables]
    return TableLayout(
        name=name,
        caption=caption,
        headings=("", "", "Value"),
        lines=tuple(TableLine((row.table, row.cell), (TableCell(row.place),)) for row in rows),
        digits=4,
    )


def layouts() -> tuple[TableLayout, ...]:
    """Return the layouts of the paper's table and of its figures outside tables."""
    return (
        votes_layout("The crowd's votes and their results."),
        _listed("relevance-raters", "Experts and GPT-4.", (EXPERTS, MODEL)),
        table_3(),
    )


def compare_values(
    released: Mapping[str, Any],
    ours: Mapping[str, Any],
    *,
    recipes: Mapping[str, str] | None = None,
) -> list[PaperFigure]:
    """Compare printed, released and our own values; ``recipes`` maps keys to our changes."""
    changes = recipes or {}
    values = {
        figure.place: ReproducedValue(
            measured(released.get(figure.key)),
            measured(ours.get(figure.key)),
            changes.get(figure.key, ""),
        )
        for figure in PUBLISHED
    }
    return compare(values, [figure.printed for figure in PUBLISHED])


def measured(value: Any) -> MeasuredFigure | None:
    """Wrap one or more numbers as a figure; return None if there is no value."""
    if value in (None, ()):
        return None
    return MeasuredFigure(value if isinstance(value, tuple) else (value,))


# Figures of the relevance paper from imported or live rounds
#
# The computation is in `annotation.papers.methods.relevance_paper`; this part builds its tables.

VOTE_ROWS = {
    "item": "item_id",
    "unit": "item__argument_id",
    "text": "item__argument__text",
    "object1": "item__argument__comparison__object1",
    "object2": "item__argument__comparison__object2",
    "rater": "rater_id",
    "value": "label",
    "control_label": "item__control_label",
    "state": "state",
    "place": "position",
}


@dataclass(frozen=True)
class Sources:
    """Imported rounds: the crowd's, the experts' batches and controls, and the released labels."""

    crowd: LabelRound
    batches: tuple[LabelRound, ...]
    controls: LabelRound
    released: LabelRound


def crowd_rows(label_round: LabelRound) -> pd.DataFrame:
    """Return all assignments of a round, answered or not, for `relevance_paper`."""
    assignments = label_round.assignments.order_by("pk").values_list(*VOTE_ROWS.values())
    rows = pd.DataFrame(assignments, columns=list(VOTE_ROWS))
    rows["pair"] = list(zip(rows.pop("object1"), rows.pop("object2"), strict=True))
    rows["is_blank"] = rows.pop("text").str.strip() == ""
    rows["is_counted"] = rows.pop("state") == Assignment.State.ANSWERED
    rows["is_control"] = rows["control_label"].notna()
    # Positions in blocks start at 0.
    rows["place"] += 1
    return rows


def crowd_values(crowd: LabelRound, min_accuracy: float) -> Values:
    """Return the sizes, agreement, control accuracy and majority labels of the crowd's votes."""
    return relevance_paper.crowd_values(crowd_rows(crowd), min_accuracy)


def consensus_values(sources: Sources) -> dict[str, tuple[int, int]]:
    """Count the majority and final labels that match a released label."""
    rater = Rater.objects.get(study=sources.released.study_id, kind=Rater.Kind.REFERENCE)
    released = labels_of_rater(sources.released, rater).copies
    rows = FinalLabel.objects.filter(label_round=sources.crowd, argument__in=released)
    majority: dict[int, Any] = dict(rows.values_list("argument", "majority_label"))
    final: dict[int, Any] = dict(rows.values_list("argument", "label"))
    return {
        "equal_majority": relevance_paper.consensus_values(majority, released),
        "equal_final": relevance_paper.consensus_values(final, released),
    }


def expert_values(controls: LabelRound, batches: Iterable[LabelRound]) -> Values:
    """Return experts' agreement on their control sheet and in the overlap of their batches."""
    together = pd.concat([vote_table(label_round) for label_round in batches])
    return relevance_paper.expert_values(vote_table(controls), together)


def model_values(released: LabelRound) -> Values:
    """Return the agreement of the model's labels with the released labels."""
    names = {Rater.Kind.MODEL: "model", Rater.Kind.REFERENCE: "final"}
    labels = pd.concat([vote_table(released), machine_table(released)])
    return relevance_paper.model_values(labels.assign(rater=labels["rater_kind"].map(names)))


def relabel_controls(crowd: LabelRound, labels: dict[str, int]) -> list[str]:
    """Change known labels of the crowd's control items; return the ids that match no such item."""
    missing = []
    for task, label in labels.items():
        controls = Item.objects.filter(round=crowd, external_id=task)
        if not controls.filter(control_label__isnull=False).update(control_label=label):
            missing.append(task)
    return missing


def cited_answers(study: Study, kind: str) -> list[CitingAnswer]:
    """Return every answer by one kind of system; answers without a list have no arguments."""
    answers = Answer.objects.filter(study=study, system__kind=kind)
    answers = answers.select_related("question__comparison")
    lists = {answer.argument_list_id for answer in answers if answer.argument_list_id}
    texts, labels = numbered_texts(lists), numbered_labels(study, lists)
    return [
        CitingAnswer(
            (answer.question.comparison.object1, answer.question.comparison.object2, answer.text),
            texts.get(answer.argument_list_id, {}),
            labels.get(answer.argument_list_id, {}),
        )
        for answer in answers
    ]
