"""Define entries for votes, arguments, answers and questions, and read them from files."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar

from django.utils.translation import gettext as _, ngettext

from annotation.answers.models import Answer, System
from annotation.imports.methods.question_list import read_question_list
from annotation.imports.methods.releases import (
    HUMAN,
    RawAnswer,
    ReleasedComparison,
    is_human,
    propose_origin,
    read_gold,
    read_raw_answers,
    read_silver,
)
from annotation.labelling.actions.rounds import default_levels
from annotation.labelling.models import LabelRound
from cqa_site.files.actions.imports import (
    ImportEntry,
    ImportSource,
    Line,
    Note,
    named_by,
    rejected,
)
from cqa_site.tabular import Problem
from cqa_site.tabular.cells import text_key

Unit = tuple[str, str, str]
ItemKey = tuple[str, str]
RaterKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Vote:
    """One rater's answer to one item, as stated in a file.

    ``external_id`` is the vote's own id in the source. Without this id, a vote is
    identified by its item and rater.
    """

    rater_kind: str
    rater_id: str
    rater_name: str = ""
    label: int | None = None
    state: str = "answered"
    external_id: str = ""
    at: datetime | None = None
    active_ms: int | None = None
    is_extra: bool = False
    is_flagged: bool = False
    is_rater_excluded: bool = False
    skip_reason: str = ""
    block: int = 0
    position: int = 0
    comment: str = ""


@dataclass(frozen=True, slots=True)
class ArgumentEntry(ImportEntry):
    """One row of a file: an argument, optionally as an item of a round and with votes.

    ``item_id`` identifies the item in the round; with "", the argument itself is the item. With
    ``keeps_first_copy``, a second, different vote by the same rater is flagged, not rejected.
    """

    object1: str
    object2: str
    text: str
    place: str = ""
    source_url: str = ""
    argument_id: str = ""
    label_round: str = ""
    item_id: str = ""
    control_label: int | None = None
    is_retired: bool = False
    votes: tuple[Vote, ...] = ()
    keeps_first_copy: bool = False
    # Values of further columns by column name.
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AnswerEntry(ImportEntry):
    """One answer in a file, identified by file name, position in the file and choice.

    ``arguments`` are the numbered sentences it may cite. With ``joins_arguments``, the file has no
    arguments, and the answer may cite the study's arguments for the same pair. ``column`` is the
    field of the record that contains the text.
    """

    makes: ClassVar[str] = "answers"

    object1: str
    object2: str
    text: str
    source: str
    position: int
    system: str
    system_kind: str
    aspect: str = ""
    wording: str = ""
    scenario: int = 0
    choice: int = 1
    arguments: tuple[tuple[int, str], ...] = ()
    joins_arguments: bool = False
    column: str = ""


@dataclass(frozen=True, slots=True)
class QuestionEntry(ImportEntry):
    """One question in a list, identified by pair, aspect and wording."""

    makes: ClassVar[str] = "questions"

    object1: str
    object2: str
    aspect: str = ""
    wording: str = ""


def unit_of(entry: ArgumentEntry) -> Unit:
    """Return the identity of an argument: its pair, and the hash of its sentence."""
    return (entry.object1, entry.object2, text_key(entry.text))


def item_of(entry: ArgumentEntry) -> ItemKey:
    """Return the round and item id; without an id, the argument's hash identifies the item."""
    if entry.item_id:
        return entry.label_round, entry.item_id
    pair = text_key(f"{entry.object1}\x00{entry.object2}")
    return entry.label_round, f"unit:{pair[:16]}:{text_key(entry.text)}"


def rater_of(vote: Vote) -> RaterKey:
    """Return the kind and id of a vote's rater."""
    return vote.rater_kind, vote.rater_id


LONGEST_ROUND_NAME = 100


def label_round_of(source: ImportSource) -> str:
    """Return the requested name, or otherwise the file name without its extension."""
    return named_by(source.options, "label_round", source.name, LONGEST_ROUND_NAME)


def scale_of(source: ImportSource) -> tuple[int, ...]:
    """Return the labels of the round's guideline or of the study's newest guideline, or 0–3."""
    named = LabelRound.objects.filter(
        study=source.study, name=source.options.get("label_round", "")
    )
    label_round = named.select_related("guideline").first()
    guideline = label_round.guideline if label_round else source.study.guidelines.first()
    levels = guideline.levels if guideline else default_levels()
    return tuple(level["value"] for level in levels)


Scenario = Answer.Scenario
SILVER_SYSTEM = "gpt-3.5-turbo"
LONGEST_NAME = 120
HUMANS = System.Kind.HUMAN
Options = Mapping[str, Any]


@dataclass(frozen=True)
class SystemOrigin:
    """A system's name and kind, and the scenario (0 for none)."""

    system: str
    system_kind: str
    scenario: int

    def __str__(self) -> str:
        if self.scenario == Scenario.NONE:
            return _("Written by “%s” without a scenario.") % self.system
        names = {"system": self.system, "scenario": Scenario(self.scenario).label}
        return _("Written by “%(system)s” under scenario %(scenario)s.") % names


def origin_of(
    file_name: str, options: Options, proposed: tuple[str, int] | None = None
) -> SystemOrigin:
    """Return the origin chosen for the file, filling gaps with ``proposed`` or the file name."""
    system, scenario = proposed or propose_origin(file_name)
    system = (options.get("system") or "").strip() or system[:LONGEST_NAME]
    if options.get("scenario") is not None:
        scenario = int(options["scenario"])
    return SystemOrigin(system, kind_of(system, scenario), scenario)


def silver_origin(file_name: str, options: Options) -> SystemOrigin:
    """Return the origin of answers with arguments; one model wrote the whole release."""
    return origin_of(file_name, options, (SILVER_SYSTEM, Scenario.FULL))


def gold_origin(file_name: str, options: Options) -> SystemOrigin:
    """Return the origin of edited answers; people wrote them, whatever the system's name."""
    origin = origin_of(file_name, options, (HUMAN, Scenario.NONE))
    return replace(origin, system_kind=HUMANS)


def kind_of(system: str, scenario: int) -> str:
    """Guess a system's kind from its name and the scenario."""
    if is_human(system):
        return HUMANS
    return System.Kind.MODEL if scenario != Scenario.NONE else System.Kind.IMPORTED


def read_silver_answers(source: ImportSource) -> Iterator[Line]:
    """Yield comparisons with numbered arguments, and the machine answers that cite them."""
    origin = silver_origin(source.name, source.options)
    comparisons = read_silver(source.path, name=source.name)
    return _compared(source, origin, comparisons, column="gpt_answers")


def read_gold_answers(source: ImportSource) -> Iterator[Line]:
    """Yield edited answers, which cite the study's arguments for the same pair."""
    origin = gold_origin(source.name, source.options)
    comparisons = read_gold(source.path, name=source.name)
    return _compared(source, origin, comparisons, column="comparison", joins_arguments=True)


def _compared(
    source: ImportSource,
    origin: SystemOrigin,
    comparisons: Iterator[ReleasedComparison | Problem],
    *,
    column: str,
    joins_arguments: bool = False,
) -> Iterator[Line]:
    yield Note(str(origin))
    for comparison in comparisons:
        if isinstance(comparison, Problem):
            yield rejected(comparison, of="answers")
            continue
        listed = tuple((argument.number, argument.text) for argument in comparison.arguments)
        for _number, sentence in listed:
            yield ArgumentEntry(
                row=comparison.position,
                object1=comparison.object1,
                object2=comparison.object2,
                text=sentence,
            )
        for choice, text in enumerate(comparison.texts, start=1):
            yield answer_entry(
                source,
                origin,
                comparison,
                text=text,
                choice=choice,
                wording=comparison.question or "",
                arguments=listed,
                joins_arguments=joins_arguments,
                column=f"{column} · {choice}",
            )


def read_system_answers(source: ImportSource) -> Iterator[Line]:
    """Yield the answers of one system; duplicates in the file are kept and reported."""
    origin = origin_of(source.name, source.options)
    yield Note(str(origin))
    copies: Counter[tuple[str, str, str | None, str]] = Counter()
    for record in read_raw_answers(source.path, name=source.name):
        if isinstance(record, Problem):
            yield rejected(record, of="answers")
            continue
        copies[record.object1, record.object2, record.aspect, record.text] += 1
        yield answer_entry(source, origin, record, text=record.text, choice=record.choice)
    repeated = copies.total() - len(copies)
    if repeated:
        yield Note(_repeated(repeated))


def _repeated(number: int) -> str:
    text = ngettext(
        "%s text repeats an earlier text in the file on the same question; every copy is kept.",
        "%s texts repeat earlier texts in the file on the same question; every copy is kept.",
        number,
    )
    return text % number


def answer_entry(
    source: ImportSource, origin: SystemOrigin, record: ReleasedComparison | RawAnswer, **more: Any
) -> AnswerEntry:
    """Return the entry for an answer that a system wrote."""
    return AnswerEntry(
        row=record.position,
        object1=record.object1,
        object2=record.object2,
        aspect=record.aspect or "",
        source=source.name,
        position=record.position,
        system=origin.system,
        system_kind=origin.system_kind,
        scenario=origin.scenario,
        **more,
    )


def read_questions(source: ImportSource) -> Iterator[Line]:
    """Yield the question of each row, and the row's arguments for its two objects."""
    for record in read_question_list(source.path, name=source.name, **source.reading):
        if isinstance(record, Problem):
            yield rejected(record, of="questions")
            continue
        yield QuestionEntry(
            row=record.row,
            object1=record.object1,
            object2=record.object2,
            aspect=record.aspect,
            wording=record.wording,
        )
        for text in record.arguments:
            yield ArgumentEntry(
                row=record.row, object1=record.object1, object2=record.object2, text=text
            )
