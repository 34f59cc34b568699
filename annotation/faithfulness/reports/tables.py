"""Faithfulness by system and condition as a table, for the page and to take away."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from annotation.answers.reports.argument_lists import labels_name
from cqa_site.people.models import Study
from cqa_site.web.tables import TableData

from .faithfulness import COHERENCE, GroupFigures
from .versions import Choice


@dataclass(frozen=True, slots=True)
class Measure:
    """How one measure is called, counted and read.

    Parameters
    ----------
    unit
        What the mean is taken over.
    decimals
        Places behind the point on the page; files have all.
    """

    title: Promise
    unit: Promise
    recipe: Promise
    decimals: int = 3


ANSWERS, SEGMENTS, VERDICTS = lazy("answers"), lazy("segments"), lazy("citations")
MEASURES: dict[str, Measure] = {
    "precision": Measure(
        lazy("Precision"),
        ANSWERS,
        lazy("relevant among the cited arguments (label 2 or 3), mean over answers"),
    ),
    "recall": Measure(
        lazy("Recall"), ANSWERS, lazy("cited among the relevant arguments, mean over answers")
    ),
    "f1": Measure(lazy("F1"), ANSWERS, lazy("harmonic mean of both, mean over answers")),
    COHERENCE: Measure(
        lazy("Coherence"),
        VERDICTS,
        lazy("citations that a judge found coherent, among all citations with a verdict"),
    ),
    "jaccard_text": Measure(
        lazy("Jaccard, text"),
        ANSWERS,
        lazy("words that a text and all its arguments share, over all words of both"),
    ),
    "jaccard_segment": Measure(
        lazy("Jaccard, segment"), SEGMENTS, lazy("the same for a segment and its closest argument")
    ),
    "levenshtein": Measure(
        lazy("Edit distance"),
        SEGMENTS,
        lazy("words to change to get from a segment to its closest argument; lower is closer"),
        1,
    ),
    "similarity": Measure(
        lazy("Similarity"),
        SEGMENTS,
        lazy("cosine of the sentence embeddings of a segment and its closest argument"),
    ),
}
COHERENCE_OF_TEXTS = Measure(
    lazy("Coherence (AAC)"),
    ANSWERS,
    lazy("coherent among the judged citations of an answer, mean over answers, as in the paper"),
)
SKIPPED = {
    "uncited": lazy("segments without a citation"),
    "generated": lazy("segments with arguments of the writer's own"),
    "nonexistent": lazy("segments that cite only numbers which no argument has"),
    "unlabelled": lazy("cited arguments without a label"),
    "no_arguments": lazy("answers without arguments"),
    "no_labels": lazy("answers none of whose arguments has a label"),
    "no_relevant": lazy("answers without a relevant argument"),
    "no_citations": lazy("answers that cite nothing that counts"),
}
MODES = {
    "sound": lazy(
        "Sound: statements and citations as a reader sees them; each statement is held against "
        "the arguments that it cites, by words without case and punctuation."
    ),
    "paper": lazy(
        "As in the paper: segments run from a capital letter to the next bracket, each is held "
        "against all arguments, and some forms of citations and labels are missed; for comparison "
        "with the published figures only."
    ),
}
INTERVALS = lazy(
    "In brackets 95 % intervals over whole questions: t, corrected for skewness, from 10 "
    "questions on."
)


def measures_of(mode: str, groups: Sequence[GroupFigures] = ()) -> dict[str, Measure]:
    """The measures of a mode that any group has: coherence is of citations, or of answers."""
    every = MEASURES | ({COHERENCE: COHERENCE_OF_TEXTS} if mode == "paper" else {})
    has = {name for each in groups for name in every if each.measures[name].value is not None}
    return {name: measure for name, measure in every.items() if name in has or not groups}


def skipped_in_words(skipped: dict[str, int]) -> list[tuple[int, str]]:
    """How many were left out, and why, most first."""
    most_first = sorted(skipped.items(), key=lambda pair: -pair[1])
    return [(count, str(SKIPPED.get(name, name))) for name, count in most_first]


def text_of_group(group: GroupFigures) -> str:
    """Which texts of a system a group holds."""
    name = group.condition_name
    return _("%s, edited by experts") % name if group.is_edited else name


def faithfulness_table(
    study: Study, groups: Sequence[GroupFigures], choice: Choice, state: str
) -> TableData:
    """One row a group with every measure, its interval and what it was counted on."""
    mode = choice.mode
    columns = [_("System"), _("Condition"), _("Answers n"), _("Questions n"), _("Segments n")]
    for measure in measures_of(mode).values():
        title, unit = str(measure.title), str(measure.unit)
        columns += [title, _("low"), _("high"), f"{title}, {unit} n"]
    columns += [_("Left out"), _("Cited numbers without an argument"), _("Malformed citations")]
    where = _("Study “%(study)s”, state %(state)s.") % {"study": study.name, "state": state}
    return TableData(
        columns,
        [_row(group) for group in groups],
        caption=f"{_('Faithfulness of answers to their arguments.')} {where}",
        note=f"{MODES[mode]} {INTERVALS} {_('Labels:')} {labels_name(study, choice.labels)}.",
        name=f"faithfulness-{mode}",
    )


def _row(group: GroupFigures) -> list[Any]:
    cells: list[Any] = [group.name, text_of_group(group), group.n_answers]
    cells += [group.n_questions, group.n_segments]
    for name in MEASURES:
        found = group.measures[name]
        cells += [found.value, found.low, found.high, found.n_values]
    words = "; ".join(f"{text}: {count}" for count, text in skipped_in_words(group.skipped))
    return [*cells, words, group.out_of_range, group.malformed]
