"""The texts of one sheet over time, and the changes between two of them."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from annotation.answers.methods.length import count_words
from annotation.editing.methods.lines import align_lines
from annotation.editing.models import EditingRound, EditingSheet, Revision, RoundComment
from cqa_site.people.models import User
from cqa_site.runs.text_diff import AROUND, MOST_LINES, Line, compare_texts

from .editing import expert_name, expert_numbers

MACHINE, DRAFT = "machine", "draft"
MOST_EARLIER = 40


@dataclass(frozen=True)
class Version:
    """One text of a sheet; ``key`` names it in addresses."""

    key: str
    name: str
    text: str
    at: datetime | None = None
    revision: Revision | None = None
    is_after_closing: bool = False

    @property
    def words(self) -> int:
        """Words as the desk's checklist counts them."""
        return count_words(self.text)

    @property
    def reason_names(self) -> list[str | Promise]:
        """What the changes of a revision were for."""
        codes = self.revision.reasons if self.revision else []
        return [Revision.Reason(code).label for code in codes]

    @property
    def passed(self) -> int:
        """Checks passed when it was submitted."""
        return sum(state is True for state in self._checks)

    @property
    def judged(self) -> int:
        """Checks that could be judged when it was submitted."""
        return sum(state is not None for state in self._checks)

    @property
    def minutes(self) -> int:
        """Time at work until then, rounded."""
        return round(self.revision.active_seconds / 60) if self.revision else 0

    @property
    def _checks(self) -> list[bool | None]:
        return list(self.revision.checks.values()) if self.revision else []


def versions_of(sheet: EditingSheet, *, with_drafts: bool) -> list[Version]:
    """The machine's text, every revision and, for those who may see them, what was not submitted.

    Drafts come after the revisions: the present one where it differs from the
    last revision, then earlier drafts and texts kept in conflicts.
    """
    found = [Version(MACHINE, _("Machine text"), sheet.machine_text, sheet.answer.created_at)]
    seen = sheet.round.first_closed_at
    found += [_of_revision(revision, seen) for revision in sheet.events.all()]
    if with_drafts:
        found += _unsubmitted(sheet, found[-1].text)
    return found


def find_version(versions: list[Version], key: str | None) -> Version | None:
    """The version with a key."""
    return next((version for version in versions if version.key == key), None)


def changes(before: str, after: str) -> list[Line] | None:
    """Lines with what changed inside them, each rewritten line under the one it comes from.

    Of unchanged lines two stay around every change. None where the texts are too long.
    """
    if max(before.count("\n"), after.count("\n")) >= MOST_LINES:
        return None
    found: list[Line] = []
    for old, new in align_lines(before, after):
        found += _lines(old, new)
    return list(_without_the_unchanged(found))


def _lines(old: str | None, new: str | None) -> list[Line]:
    """An unchanged line, or what was removed above what was added."""
    if old is not None and old == new:
        return [Line("same", [(old, False)])]
    compared = compare_texts(old, new) if old is not None and new is not None else []
    sides = (("removed", old), ("added", new))
    return compared or [Line(mark, [(text, True)]) for mark, text in sides if text is not None]


def _without_the_unchanged(lines: list[Line]) -> Iterator[Line]:
    """Changed lines with two lines around them; a gap stands for the others."""
    changed = [place for place, line in enumerate(lines) if line.mark != "same"]
    near = {place + step for place in changed for step in range(-AROUND, AROUND + 1)}
    was_left_out = False
    for place, line in enumerate(lines):
        if place in near:
            yield line
        elif changed and not was_left_out:
            yield Line("gap", [])
        was_left_out = place not in near


@dataclass(frozen=True)
class ExpertVersion:
    """What one expert made of a calibration answer."""

    name: str
    is_own: bool
    sheet: EditingSheet
    revision: Revision | None
    lines: list[Line] | None


def shared_versions(
    editing_round: EditingRound, answer_id: int, *, reader: User, sees_all: bool, sees_names: bool
) -> list[ExpertVersion]:
    """The latest revision of each expert, own first; only the own one until others may be seen."""
    numbers = expert_numbers(editing_round)
    sheets = editing_round.sheets.filter(answer=answer_id, is_calibration=True)
    sheets = sheets.select_related("rater__user", "answer").prefetch_related("events")
    if not sees_all:
        sheets = sheets.filter(rater__user=reader)
    found = [_of_expert(each, numbers[each.rater.user_id], reader, sees_names) for each in sheets]
    return sorted(found, key=lambda each: (not each.is_own, numbers[each.sheet.rater.user_id]))


@dataclass(frozen=True)
class Word:
    """One contribution to a discussion, under the name that the reader may know."""

    name: str
    is_own: bool
    comment: RoundComment


def discussion(
    editing_round: EditingRound, answer_id: int, *, reader: User, sees_all: bool, sees_names: bool
) -> list[Word]:
    """Comments on one calibration answer, oldest first; only own ones until others may be seen."""
    comments = editing_round.comments.filter(answer=answer_id).select_related("author")
    if not sees_all:
        comments = comments.filter(author=reader)
    numbers = expert_numbers(editing_round)
    return [
        Word(
            name=_name(comment.author, numbers.get(comment.author_id), sees_names),
            is_own=comment.author_id == reader.pk,
            comment=comment,
        )
        for comment in comments
    ]


def _of_revision(revision: Revision, seen: datetime | None) -> Version:
    """``seen`` is when its writer could first see what others wrote."""
    return Version(
        key=str(revision.number),
        name=_("Revision %d") % revision.number,
        text=revision.text,
        at=revision.at,
        revision=revision,
        is_after_closing=seen is not None and revision.at > seen,
    )


def _unsubmitted(sheet: EditingSheet, latest: str) -> list[Version]:
    found = []
    if sheet.text != latest:
        found.append(Version(DRAFT, _("Draft"), sheet.text, sheet.saved_at))
    for kept in sheet.kept.all():
        found.append(_aside(kept.public_id, kept.content["text"], kept.created_at))
    for draft in sheet.earlier_drafts.all()[:MOST_EARLIER]:
        if draft.version is None:
            found.append(_aside(draft.public_id, draft.text, draft.saved_at))
        else:
            name = _("Earlier draft, version %d") % draft.version
            found.append(Version(str(draft.public_id), name, draft.text, draft.saved_at))
    return found


def _aside(key: uuid.UUID, text: str, at: datetime) -> Version:
    return Version(str(key), _("Text kept aside"), text, at)


def _of_expert(sheet: EditingSheet, number: int, reader: User, sees_names: bool) -> ExpertVersion:
    revisions = list(sheet.events.all())
    latest = revisions[-1] if revisions else None
    return ExpertVersion(
        name=_name(sheet.rater.user, number, sees_names),
        is_own=sheet.rater.user_id == reader.pk,
        sheet=sheet,
        revision=latest,
        lines=changes(sheet.machine_text, latest.text) if latest else None,
    )


def _name(user: User | None, number: int | None, sees_names: bool) -> str:
    if number is None:
        return str(user) if sees_names else _("Researcher")
    numbered = expert_name(number)
    return f"{user} ({numbered})" if sees_names else numbered
