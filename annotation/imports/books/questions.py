"""Questions and systems named by files with answers: found, or made."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from annotation.answers.models.answers import System
from annotation.corpus.models.questions import Question

from ..actions.rows import AnswerEntry, QuestionEntry
from .arguments import Pair

if TYPE_CHECKING:
    from ..actions.reconcile import StudyReconciliation

Asked = tuple[str, str, str, str]
Asking = AnswerEntry | QuestionEntry


class SystemBook:
    """Systems named by the file; without a key while new and not written."""

    def __init__(self, work: "StudyReconciliation") -> None:
        self.work = work
        self.known: dict[str, System] = {}

    def take(self, entries: list[AnswerEntry]) -> None:
        """Find the systems of a piece, or make them; the kind of a known one stays."""
        fresh = {entry.system: entry for entry in entries if entry.system not in self.known}
        if not fresh:
            return
        stored = System.objects.filter(study=self.work.study, name__in=fresh)
        found = {system.name: system for system in stored}
        for name, entry in fresh.items():
            self.work.result("systems", "same" if name in found else "new")
            if name not in found:
                self._add(entry)
        self.known |= found

    def _add(self, entry: AnswerEntry) -> None:
        made = System(study=self.work.study, name=entry.system, kind=entry.system_kind)
        if self.work.write:
            made.save()
        self.known[entry.system] = made


class QuestionBook:
    """Questions named by the file; without a key while new and not written.

    A file without a wording means the first question about the pair and
    aspect. A file with one means the question so worded, else the one that
    has no wording yet, else a new one. A list of questions means exactly what it says.
    """

    def __init__(self, work: "StudyReconciliation") -> None:
        self.work = work
        self._known: dict[Asked, Question] = {}
        self._about: dict[tuple[Pair, str], list[Question]] = {}
        self._loaded: set[Pair] = set()

    def take(self, entries: Sequence[Asking]) -> None:
        """Find the questions of a piece, or make them; their comparisons are known by now."""
        self._load({(entry.object1, entry.object2) for entry in entries} - self._loaded)
        new = []
        for entry in entries:
            asked = _asked(entry)
            if asked in self._known:
                continue
            about = self._about.setdefault((asked[:2], entry.aspect), [])
            is_listed = isinstance(entry, QuestionEntry)
            question = _meant(about, entry.wording, exactly=is_listed)
            if question is None:
                question = self._made(entry)
                about.append(question)
                new.append(question)
                self.work.result("questions", "new")
            else:
                self._compare(entry, question)
            self._known[asked] = question
        if self.work.write:
            Question.objects.bulk_create(new)

    def of(self, entry: AnswerEntry) -> Question:
        """The question an entry taken before is about."""
        return self._known[_asked(entry)]

    def _load(self, pairs: set[Pair]) -> None:
        known = self.work.comparisons.known
        of_comparison = {known[pair]: pair for pair in pairs if known[pair] is not None}
        stored = Question.objects.filter(comparison__in=of_comparison).order_by("pk")
        for question in stored:
            pair = of_comparison[question.comparison_id]
            self._about.setdefault((pair, question.aspect), []).append(question)
        self._loaded |= pairs

    def _made(self, entry: Asking) -> Question:
        return Question(
            study=self.work.study,
            comparison_id=self.work.comparisons.known[entry.object1, entry.object2],
            aspect=entry.aspect,
            wording=entry.wording,
        )

    def _compare(self, entry: Asking, question: Question) -> None:
        is_changed = bool(entry.wording) and question.wording != entry.wording
        self.work.result("questions", "changed" if is_changed else "same")
        if not is_changed:
            return
        shown = self.work.changed(question.wording or _("no wording"))
        self.work.mention(entry.row, "question", shown)
        if self.work.update_changed:
            question.wording = entry.wording
            if self.work.write:
                question.save(update_fields=["wording"])


def _asked(entry: Asking) -> Asked:
    return entry.object1, entry.object2, entry.aspect, entry.wording


def _meant(about: list[Question], wording: str, *, exactly: bool) -> Question | None:
    exact = [question for question in about if question.wording == wording]
    if exactly:
        return exact[0] if exact else None
    unworded = [question for question in about if not question.wording]
    if exact or not about:
        return exact[0] if exact else None
    if wording:
        return unworded[0] if unworded else None
    return about[0]
