"""What the counting form may know: allow-lists without system, setting, run and other people."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from argsum.counting.actions.kind import CountContent, counts_of
from argsum.counting.methods.marks import FULL, NONE, PART, Marks, marks_from_json
from argsum.counting.methods.statement_letters import letters
from argsum.counting.models import CountSheet
from argsum.datasets.methods.language import language_of


@dataclass(frozen=True)
class FormReference:
    """One reference with what was marked for it; ``place`` counts from 0."""

    place: int
    text: str
    level: str
    by: frozenset[int]

    @property
    def number(self) -> int:
        """As people count."""
        return self.place + 1


@dataclass(frozen=True)
class FormSummary:
    """One generated summary with its statement; ``letter`` is "0" where it says nothing."""

    place: int
    text: str
    letter: str
    is_partly: bool

    @property
    def number(self) -> int:
        """As people count."""
        return self.place + 1


@dataclass(frozen=True)
class FormSet:
    """Everything of a set that its judge sees."""

    topic: str
    stance: str
    references: list[FormReference]
    summaries: list[FormSummary]

    @property
    def language(self) -> str:
        """What most of the texts are written in, as they look; empty where they do not tell."""
        texts = [each.text for each in self.references] + [each.text for each in self.summaries]
        return language_of(texts)


def form_set(sheet: CountSheet, content: CountContent) -> FormSet:
    """The set with what stands on the form: two queries, texts only."""
    cell = sheet.summary_set.cell
    marks = marks_from_json(content.marks)
    chosen = _letters(marks, sheet.summaries)
    references = cell.key_points.values_list("text", flat=True)[: sheet.references]
    summaries = sheet.summary_set.summaries.values_list("text", flat=True)[: sheet.summaries]
    return FormSet(
        topic=cell.topic,
        stance=cell.get_stance_display() if cell.stance else "",
        references=[
            FormReference(
                place, text, marks.levels.get(place, ""), frozenset(marks.by.get(place, ()))
            )
            for place, text in enumerate(references)
        ],
        summaries=[
            FormSummary(place, text, chosen.get(place, ""), place in marks.partly)
            for place, text in enumerate(summaries)
        ],
    )


def levels() -> list[tuple[str, str, str]]:
    """The three marks of a reference with their keys and words."""
    return [
        (FULL, "1", _("covered")),
        (PART, "2", _("partly")),
        (NONE, "3", _("not covered")),
    ]


def shown_counts(sheet: CountSheet, content: CountContent) -> dict[str, float | None]:
    """The running counts; None where somebody is unsure."""
    counts = counts_of(content, references=sheet.references, summaries=sheet.summaries)
    return {"covered": counts.covered, "unique": counts.unique}


def said(sheet: CountSheet, content: CountContent) -> dict[str, str]:
    """A content in words, row by row."""
    marks = marks_from_json(content.marks)
    words = {value: word for value, _key, word in levels()}
    rows = {}
    for place in range(sheet.references):
        by = ", ".join(str(each + 1) for each in marks.by.get(place, ()))
        level = words.get(marks.levels.get(place, ""), "–")
        name = _("Reference %d") % (place + 1)
        rows[name] = _("%(level)s, by %(by)s") % {"level": level, "by": by} if by else level
    chosen = _letters(marks, sheet.summaries)
    for place in range(sheet.summaries):
        letter = chosen.get(place, "–")
        shown = _("says nothing") if letter == "0" else letter
        name = _("Summary %d") % (place + 1)
        rows[name] = _("%s, partly") % shown if place in marks.partly else shown
    typed = (
        (_("Typed: covered"), content.covered, content.covered_text),
        (_("Typed: different"), content.unique, content.unique_text),
    )
    rows |= {name: text or "–" if count is None else f"{count:g}" for name, count, text in typed}
    unsure = (
        (_("Unsure: covered"), content.covered_is_unsure),
        (_("Unsure: different"), content.unique_is_unsure),
    )
    rows |= {name: _("yes") if is_so else _("no") for name, is_so in unsure}
    return rows | {_("Comment"): content.comment or "–"}


def _letters(marks: Marks, summaries: int) -> dict[int, str]:
    names = letters(summaries)
    chosen = {each: names[number] for number, group in enumerate(marks.groups) for each in group}
    return chosen | dict.fromkeys(marks.empty, "0")
