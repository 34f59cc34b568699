"""Answers: known by the file they came with, their place in it and their choice."""

from collections import Counter
from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.answers.models.answers import Answer
from annotation.answers.models.learned import LearnedComparison
from annotation.corpus.models.questions import text_key
from annotation.generation.actions.kind import condition

from ..actions.rows import AnswerEntry

if TYPE_CHECKING:
    from ..actions.reconcile import StudyReconciliation

Place = tuple[str, int, int]
# Question, system, scenario, choice and text: what makes two files' answers one.
Content = tuple[int | None, int | None, int, int, str]
FIELDS = ("question_id", "system_id", "scenario", "argument_list_id")


class AnswerBook:
    """Compares the answers of a file with those that are there, and adds the new ones.

    A text is evidence: it is never replaced, whatever was asked for. What may
    change on wish is what was said about it: question, system, scenario, list.
    """

    def __init__(self, work: "StudyReconciliation") -> None:
        self.work = work
        # Where each answer of the file is; None while new and not written.
        self.known: dict[Place, int | None] = {}
        self._without_list = 0
        self._twins: Counter[str] = Counter()
        self._conditions: dict[int, int] = {}
        # System and comparison of everything learned; asked for with the first new answer.
        self._learned: set[tuple[int, int]] | None = None

    def reject(self, entry: AnswerEntry, column: str, reason: str) -> None:
        """Leave an answer out."""
        self.work.leave_out(entry.row, column, reason, of="answers")

    def take(self, entries: list[AnswerEntry]) -> None:
        """Compare a piece; its questions, systems and lists are known by now."""
        stored = _stored(self.work, entries)
        twins = _twins(self.work, entries)
        new = []
        for entry in entries:
            self._without_list += entry.joins_arguments and self.work.lists.of(entry) is None
            found = stored.get(_place(entry))
            if found is not None:
                self._compare(entry, found)
            elif (twin := twins.get(self._content(entry))) is not None:
                self._compare(entry, twin)
                self._twins[twin.source] += 1
            elif self._is_learned(entry):
                self.reject(entry, entry.column, _("its system was trained on this question"))
            else:
                self.work.result("answers", "new")
                new.append(entry)
        self._add(new)

    def _is_learned(self, entry: AnswerEntry) -> bool:
        """Whether the answer would test a system on what its model was trained on."""
        if self._learned is None:
            rows = LearnedComparison.objects.filter(system__study=self.work.study)
            self._learned = set(rows.values_list("system", "comparison"))
        about = self._about(entry)
        if not self._learned or None in (about["system_id"], about["question_id"]):
            return False
        question = self.work.questions.of(entry)
        return (about["system_id"], question.comparison_id) in self._learned

    def _add(self, new: list[AnswerEntry]) -> None:
        self.known |= dict.fromkeys(map(_place, new))
        if self.work.write:
            rows = Answer.objects.bulk_create(map(self._made, new))
            self.known |= {_place(entry): row.pk for entry, row in zip(new, rows, strict=True)}

    def finish(self) -> None:
        """Say about the file as a whole what would be tiresome row by row."""
        for source, number in self._twins.items():
            text = ngettext(
                "%(number)s answer is here already, from %(source)s.",
                "%(number)s answers are here already, from %(source)s.",
                number,
            )
            self.work.outcome.notes.append(text % {"number": number, "source": source})
        if self._without_list:
            text = ngettext(
                "%s answer has no numbered arguments: the study has none for its pair. Import "
                "the silver file first, then this one again.",
                "%s answers have no numbered arguments: the study has none for their pairs. "
                "Import the silver file first, then this one again.",
                self._without_list,
            )
            self.work.outcome.notes.append(text % self._without_list)

    def _compare(self, entry: AnswerEntry, found: Answer) -> None:
        if found.text_sha256 != text_key(entry.text):
            reason = _(
                "another text came from this place of a file of this name; answers are never "
                "changed, so give the file another name"
            )
            self.reject(entry, entry.column, reason)
            return
        self.known[_place(entry)] = found.pk
        wanted = self._about(entry)
        if wanted["argument_list_id"] is None and self.work.lists.of(entry) is None:
            # A file without arguments says nothing about them.
            wanted["argument_list_id"] = found.argument_list_id
        differing = [name for name in FIELDS if getattr(found, name) != wanted[name]]
        self.work.result("answers", "changed" if differing else "same")
        if not differing:
            return
        shown = ", ".join(_shown(found, name) for name in differing)
        self.work.mention(entry.row, entry.column, self.work.changed(shown))
        if self.work.write and self.work.update_changed:
            wanted["condition_id"] = self._condition(entry.scenario)
            Answer.objects.filter(pk=found.pk).update(**wanted)

    def _about(self, entry: AnswerEntry) -> dict[str, Any]:
        listed = self.work.lists.of(entry)
        return {
            "question_id": self.work.questions.of(entry).pk,
            "system_id": self.work.systems.known[entry.system].pk,
            "scenario": entry.scenario,
            "argument_list_id": listed.pk if listed else None,
        }

    def _content(self, entry: AnswerEntry) -> Content:
        about = self._about(entry)
        key = text_key(entry.text)
        return about["question_id"], about["system_id"], entry.scenario, entry.choice, key

    def _made(self, entry: AnswerEntry) -> Answer:
        return Answer(
            study=self.work.study,
            text=entry.text,
            text_sha256=text_key(entry.text),
            source=entry.source,
            position=entry.position,
            choice=entry.choice,
            condition_id=self._condition(entry.scenario),
            **self._about(entry),
        )

    def _condition(self, scenario: int) -> int:
        """A file says the scenario and nothing else; asked for only when something is written."""
        if scenario not in self._conditions:
            self._conditions[scenario] = condition(self.work.study, scenario=scenario).pk
        return self._conditions[scenario]


def _place(entry: AnswerEntry) -> Place:
    return entry.source, entry.position, entry.choice


def _stored(work: "StudyReconciliation", entries: list[AnswerEntry]) -> dict[Place, Answer]:
    """Answers that came from the same places of files of the same names."""
    found = _rows(work).filter(
        source__in={entry.source for entry in entries},
        position__in={entry.position for entry in entries},
    )
    return {(row.source, row.position, row.choice): row for row in found}


def _twins(work: "StudyReconciliation", entries: list[AnswerEntry]) -> dict[Content, Answer]:
    """Equal answers from files of other names; of several the first."""
    found = _rows(work).filter(
        question__in={work.questions.of(entry).pk for entry in entries} - {None},
        system__in={work.systems.known[entry.system].pk for entry in entries} - {None},
        scenario__in={entry.scenario for entry in entries},
    )
    elsewhere = found.exclude(source__in={"", *(entry.source for entry in entries)})
    return {
        (row.question_id, row.system_id, row.scenario, row.choice, row.text_sha256): row
        for row in elsewhere.order_by("-pk")
    }


def _rows(work: "StudyReconciliation") -> QuerySet[Answer]:
    return (
        Answer.objects.filter(study=work.study).select_related("system").defer("text").order_by()
    )


def _shown(found: Answer, field: str) -> str:
    if field == "system_id":
        return found.system.name
    if field == "scenario":
        return found.get_scenario_display()
    return _("another question") if field == "question_id" else _("other numbered arguments")
