"""Read a round's sheets, experts, versions of texts and checks, and verify their integrity."""

import hashlib
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Subquery
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy as lazy

from annotation.answers.methods.answer_text import count_words
from annotation.answers.models import Answer
from annotation.editing.methods import align_lines
from annotation.editing.models import (
    ConflictingText,
    EditingRound,
    EditingSheet,
    Revision,
    RoundComment,
)
from cqa_site.people.models import Study, User
from cqa_site.rounds.progress import count_of
from cqa_site.runs.text_diff import AROUND, MOST_LINES, DiffLine, compare_texts

# Code of `annotation.answers.methods.checklist.CHECKS` → title.
TITLES = {
    "summary_length": lazy("Length of the summary"),
    "body_length": lazy("Length of the main part"),
    "aspects_named": lazy("Named aspects"),
    "choice": lazy("One-word choice"),
    "length": lazy("Total length"),
    "argument_count": lazy("Number of arguments"),
    "citations_exist": lazy("Valid citations"),
    "generated_marked": lazy("Source for every aspect"),
    "not_copied": lazy("No argument copied in full"),
    "repetition": lazy("No repetition"),
}


def newest_revisions(study: Study) -> QuerySet[Revision]:
    """Return only the newest revision of each sheet."""
    newer = Revision.objects.filter(sheet=OuterRef("sheet"), number__gt=OuterRef("number"))
    return Revision.objects.filter(~Exists(newer), sheet__answer__study=study).order_by("pk")


def passed(checks: dict[str, bool | None]) -> int:
    return sum(value is True for value in checks.values())


# Experts and sheets of a round, and the names that readers may see

SUBMITTED = Q(submitted_at__isnull=False)


def expert_name(number: int) -> str:
    """Return an anonymous name for display to other experts."""
    return _("Expert %d") % number


def expert_numbers(editing_round: EditingRound) -> dict[Any, int]:
    """Map each editor's key to a stable number, starting at 1."""
    editors = editing_round.places.order_by("pk").values_list("rater__user", flat=True)
    return {editor: number for number, editor in enumerate(editors, 1)}


def calibration_answers(editing_round: EditingRound) -> QuerySet[EditingSheet]:
    """Return one sheet per calibration answer, with counts of its submissions and comments."""
    same = EditingSheet.objects.filter(
        round=editing_round, answer=OuterRef("answer"), is_calibration=True
    )
    first = same.order_by("pk").values("pk")[:1]
    comments = RoundComment.objects.filter(editing_round=editing_round, answer=OuterRef("answer"))
    return (
        editing_round.sheets.filter(is_calibration=True, pk=Subquery(first))
        .select_related("answer__question__comparison")
        .annotate(
            submitted=count_of(same.filter(SUBMITTED), "answer"),
            comments=count_of(comments, "answer"),
        )
        .order_by("answer__question__comparison__object1", "answer__question", "answer")
    )


def sheets_with_revisions(editing_round: EditingRound) -> QuerySet[EditingSheet]:
    """Return every sheet of the round with its number of revisions, grouped by expert."""
    revisions = Revision.objects.filter(sheet=OuterRef("pk"))
    return (
        editing_round.sheets.select_related("rater__user", "answer__question__comparison")
        .defer("submitted_text", "answer__text")
        .annotate(revision_count=count_of(revisions, "sheet"))
        .order_by("rater", "place")
    )


def desk_of(user: User, study: Study) -> QuerySet[EditingSheet]:
    """Return the person's own sheets in opened rounds, running rounds first."""
    waiting = ConflictingText.objects.filter(sheet=OuterRef("pk"))
    return (
        EditingSheet.objects.filter(study=study, rater__user=user)
        .exclude(round__state=EditingRound.State.DRAFT)
        .select_related("round", "answer__question__comparison")
        .defer("submitted_text", "answer__text")
        .annotate(has_conflict=Exists(waiting))
        .order_by("-round__state", "-round__opened_at", "round", "place")
    )


MACHINE, DRAFT = "machine", "draft"
MOST_EARLIER = 40


@dataclass(frozen=True)
class TextVersion:
    """One text of a sheet; ``key`` identifies it in URLs."""

    key: str
    name: str
    text: str
    at: datetime | None = None
    revision: Revision | None = None
    is_after_closing: bool = False

    @property
    def words(self) -> int:
        """Number of words as counted by the desk's checklist."""
        return count_words(self.text)

    @property
    def reason_names(self) -> list[str | Promise]:
        """Names of the reasons for the changes."""
        codes = self.revision.reasons if self.revision else []
        return [Revision.Reason(code).label for code in codes]

    @property
    def passed(self) -> int:
        """Number of checks passed at submission."""
        return sum(state is True for state in self._checks)

    @property
    def judged(self) -> int:
        """Number of checks that could be judged at submission."""
        return sum(state is not None for state in self._checks)

    @property
    def minutes(self) -> int:
        """Minutes of work until this version, rounded."""
        return round(self.revision.active_seconds / 60) if self.revision else 0

    @property
    def _checks(self) -> list[bool | None]:
        return list(self.revision.checks.values()) if self.revision else []


def versions_of(sheet: EditingSheet, *, with_drafts: bool) -> list[TextVersion]:
    """Return the machine's text, every revision and, if allowed, unsubmitted texts.

    Drafts follow the revisions: first the current draft if it differs from the last revision, then
    texts from conflicts and earlier drafts.
    """
    versions = [
        TextVersion(MACHINE, _("Machine text"), sheet.machine_text, sheet.answer.created_at)
    ]
    seen = sheet.round.first_closed_at
    versions += [_of_revision(revision, seen) for revision in sheet.events.all()]
    if with_drafts:
        versions += _unsubmitted(sheet, versions[-1].text)
    return versions


def find_version(versions: list[TextVersion], key: str | None) -> TextVersion | None:
    """Return the version with this key, or None."""
    return next((version for version in versions if version.key == key), None)


def changes(before: str, after: str) -> list[DiffLine] | None:
    """Return lines with the changes inside them, each rewritten line below its original.

    Two unchanged lines remain on each side of every change. Return None if the texts are too long.
    """
    if max(before.count("\n"), after.count("\n")) >= MOST_LINES:
        return None
    lines: list[DiffLine] = []
    for old, new in align_lines(before, after):
        lines += _lines(old, new)
    return list(_without_the_unchanged(lines))


def _lines(old: str | None, new: str | None) -> list[DiffLine]:
    """Return an unchanged line, or removed text above added text."""
    if old is not None and old == new:
        return [DiffLine("same", [(old, False)])]
    compared = compare_texts(old, new) if old is not None and new is not None else []
    sides = (("removed", old), ("added", new))
    return compared or [DiffLine(mark, [(text, True)]) for mark, text in sides if text is not None]


def _without_the_unchanged(lines: list[DiffLine]) -> Iterator[DiffLine]:
    """Yield changed lines with two lines of context; a gap replaces other lines."""
    changed = [place for place, line in enumerate(lines) if line.mark != "same"]
    near = {place + step for place in changed for step in range(-AROUND, AROUND + 1)}
    was_left_out = False
    for place, line in enumerate(lines):
        if place in near:
            yield line
        elif changed and not was_left_out:
            yield DiffLine("gap", [])
        was_left_out = place not in near


@dataclass(frozen=True)
class ExpertVersion:
    """One expert's version of a calibration answer."""

    name: str
    is_own: bool
    sheet: EditingSheet
    revision: Revision | None
    lines: list[DiffLine] | None


def shared_versions(
    editing_round: EditingRound, answer_id: int, *, reader: User, sees_all: bool, sees_names: bool
) -> list[ExpertVersion]:
    """Return the latest revisions that the reader may see, the reader's own revision first."""
    numbers = expert_numbers(editing_round)
    sheets = editing_round.sheets.filter(answer=answer_id, is_calibration=True)
    sheets = sheets.select_related("rater__user", "answer").prefetch_related("events")
    if not sees_all:
        sheets = sheets.filter(rater__user=reader)
    versions = [
        _of_expert(sheet, numbers[sheet.rater.user_id], reader, sees_names) for sheet in sheets
    ]
    return sorted(
        versions, key=lambda version: (not version.is_own, numbers[version.sheet.rater.user_id])
    )


@dataclass(frozen=True)
class Word:
    """One comment in a discussion, with a name that the reader may see."""

    name: str
    is_own: bool
    comment: RoundComment


def discussion(
    editing_round: EditingRound, answer_id: int, *, reader: User, sees_all: bool, sees_names: bool
) -> list[Word]:
    """Return the comments on a calibration answer that the reader may see, oldest first."""
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


def _of_revision(revision: Revision, seen: datetime | None) -> TextVersion:
    """Return a revision as a version; after ``seen``, its writer could see others' texts."""
    return TextVersion(
        key=str(revision.number),
        name=_("Revision %d") % revision.number,
        text=revision.text,
        at=revision.at,
        revision=revision,
        is_after_closing=seen is not None and revision.at > seen,
    )


def _unsubmitted(sheet: EditingSheet, latest: str) -> list[TextVersion]:
    versions = []
    if sheet.text != latest:
        versions.append(TextVersion(DRAFT, _("Draft"), sheet.text, sheet.saved_at))
    for text in sheet.conflicts.all():
        versions.append(_aside(text.public_id, text.content["text"], text.created_at))
    for draft in sheet.earlier_drafts.all()[:MOST_EARLIER]:
        if draft.version is None:
            versions.append(_aside(draft.public_id, draft.text, draft.saved_at))
        else:
            name = _("Earlier draft, version %d") % draft.version
            versions.append(TextVersion(str(draft.public_id), name, draft.text, draft.saved_at))
    return versions


def _aside(key: uuid.UUID, text: str, at: datetime) -> TextVersion:
    return TextVersion(str(key), _("Text set aside"), text, at)


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


def find_editing_violations() -> Iterator[str]:
    """Yield a message for every broken invariant."""
    yield from _changed_revisions()
    yield from _gaps_between_revisions()
    yield from _answers_unlike_their_revision()


def _changed_revisions() -> Iterator[str]:
    for revision in Revision.objects.only("content", "text_sha256").iterator(500):
        if hashlib.sha256(revision.text.encode()).hexdigest() != revision.text_sha256:
            yield f"revision {revision.pk} no longer matches its hash"


def _gaps_between_revisions() -> Iterator[str]:
    rows = Revision.objects.order_by().values("sheet")
    for row in rows.annotate(n=Count("pk"), last=Max("number")).exclude(n=F("last")):
        yield f"edit sheet {row['sheet']} has {row['n']} revisions up to number {row['last']}"


def _answers_unlike_their_revision() -> Iterator[str]:
    unlike = Answer.objects.filter(revision__isnull=False).exclude(
        text_sha256=F("revision__text_sha256"),
        question=F("revision__sheet__answer__question"),
        study=F("revision__sheet__answer__study"),
    )
    for pk in unlike.order_by("pk").values_list("pk", flat=True):
        yield f"answer {pk} does not match its revision"
