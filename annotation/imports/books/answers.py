"""Books that find or create questions, systems, argument lists and answers."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _, ngettext

from annotation.answers.actions import list_key
from annotation.answers.models import Answer, LearnedComparison, System
from annotation.corpus.models import ArgumentList, ListedArgument, Question
from annotation.generation.actions.answer_runs import condition
from cqa_site.people.models import Study
from cqa_site.tabular.cells import text_key
from ..actions.entries import AnswerEntry, QuestionEntry
from .arguments import ArgumentBook, ComparisonBook, EntryReconciliation, Pair

QuestionKey = tuple[str, str, str, str]
QuestionSource = AnswerEntry | QuestionEntry


class SystemBook:
    """Systems named in the file; new systems have no key until written."""

    def __init__(self, work: EntryReconciliation) -> None:
        self.work = work
        self.known: dict[str, System] = {}

    def take(self, entries: list[AnswerEntry]) -> None:
        """Find or create the systems of a batch; the kind of a known system is unchanged."""
        fresh = {entry.system: entry for entry in entries if entry.system not in self.known}
        if not fresh:
            return
        stored = System.objects.filter(study=self.work.study, name__in=fresh)
        systems = {system.name: system for system in stored}
        for name, entry in fresh.items():
            self.work.result("systems", "same" if name in systems else "new")
            if name not in systems:
                self._add(entry)
        self.known |= systems

    def _add(self, entry: AnswerEntry) -> None:
        system = System(study=self.work.study, name=entry.system, kind=entry.system_kind)
        if self.work.write:
            system.save()
        self.known[entry.system] = system


class QuestionBook:
    """Questions named in the file; new questions have no key until written.

    An entry without a wording refers to the first question about the pair and
    aspect. An entry with a wording refers to the question with that wording or, if
    it does not exist, to the question without a wording. If neither exists, a new
    question is added. Entries in a list of questions must match exactly.
    """

    def __init__(self, work: EntryReconciliation, comparisons: ComparisonBook) -> None:
        self.work, self.comparisons = work, comparisons
        self._known: dict[QuestionKey, Question] = {}
        self._about: dict[tuple[Pair, str], list[Question]] = {}
        self._loaded: set[Pair] = set()

    def take(self, entries: Sequence[QuestionSource]) -> None:
        """Find or create the questions of a batch; their comparisons already exist."""
        self._load({(entry.object1, entry.object2) for entry in entries} - self._loaded)
        new = []
        for entry in entries:
            key = _asked(entry)
            if key in self._known:
                continue
            about = self._about.setdefault((key[:2], entry.aspect), [])
            is_listed = isinstance(entry, QuestionEntry)
            question = _meant(about, entry.wording, exactly=is_listed)
            if question is None:
                question = self._made(entry)
                about.append(question)
                new.append(question)
                self.work.result("questions", "new")
            else:
                self._compare(entry, question)
            self._known[key] = question
        if self.work.write:
            Question.objects.bulk_create(new)

    def of(self, entry: AnswerEntry) -> Question:
        """Return the question of an entry that was already processed."""
        return self._known[_asked(entry)]

    def _load(self, pairs: set[Pair]) -> None:
        known = self.comparisons.known
        of_comparison = {known[pair]: pair for pair in pairs if known[pair] is not None}
        stored = Question.objects.filter(comparison__in=of_comparison).order_by("pk")
        for question in stored:
            pair = of_comparison[question.comparison_id]
            self._about.setdefault((pair, question.aspect), []).append(question)
        self._loaded |= pairs

    def _made(self, entry: QuestionSource) -> Question:
        return Question(
            study=self.work.study,
            comparison_id=self.comparisons.known[entry.object1, entry.object2],
            aspect=entry.aspect,
            wording=entry.wording,
        )

    def _compare(self, entry: QuestionSource, question: Question) -> None:
        is_changed = bool(entry.wording) and question.wording != entry.wording
        self.work.result("questions", "changed" if is_changed else "same")
        if not is_changed:
            return
        message = self.work.changed(question.wording or _("no wording"))
        self.work.mention(entry, "question", message)
        if self.work.update_changed:
            question.wording = entry.wording
            if self.work.write:
                question.save(update_fields=["wording"])


def _asked(entry: QuestionSource) -> QuestionKey:
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


# Number, key of the argument (None in a dry run that would create it), sentence.
Numbered = tuple[tuple[int, int | None, str], ...]


class ListBook:
    """Lists that answers in the file cite; new lists have no key until written."""

    def __init__(
        self, work: EntryReconciliation, arguments: ArgumentBook, questions: QuestionBook
    ) -> None:
        self.work, self.arguments, self.questions = work, arguments, questions
        self._known: dict[tuple[int, str], ArgumentList] = {}
        self._of_pair: dict[Pair, dict[int, Numbered]] = {}

    def take(self, entries: list[AnswerEntry]) -> None:
        """Find or create the lists of a batch; their questions and arguments already exist."""
        self._load_pairs({(e.object1, e.object2) for e in entries if e.joins_arguments})
        fresh: dict[tuple[int, str], tuple[AnswerEntry, Numbered]] = {}
        for entry in entries:
            numbered = self._numbered(entry)
            if numbered:
                key = self._key(entry, numbered)
                if key not in self._known:
                    fresh.setdefault(key, (entry, numbered))
        self._find(fresh)
        self._add({key: value for key, value in fresh.items() if key not in self._known})

    def of(self, entry: AnswerEntry) -> ArgumentList | None:
        """Return the list that an answer cites, or None if there are no arguments to cite."""
        numbered = self._numbered(entry)
        return self._known[self._key(entry, numbered)] if numbered else None

    def _key(self, entry: AnswerEntry, numbered: Numbered) -> tuple[int, str]:
        # Uses the object's identity because a new question has no key in a dry run.
        question = self.questions.of(entry)
        return id(question), list_key((number, text) for number, _pk, text in numbered)

    def _numbered(self, entry: AnswerEntry) -> Numbered:
        if entry.joins_arguments:
            return self._joined(entry)
        pair = (entry.object1, entry.object2)
        known = self.arguments.known
        return tuple(
            (number, known[(*pair, text_key(text))], text) for number, text in entry.arguments
        )

    def _joined(self, entry: AnswerEntry) -> Numbered:
        """Return the imported list of the question, or otherwise the first list for its pair."""
        lists = self._of_pair.get((entry.object1, entry.object2), {})
        question = self.questions.of(entry).pk
        return lists.get(question) or next(iter(lists.values()), ())

    def _load_pairs(self, pairs: set[Pair]) -> None:
        known = self.arguments.comparisons.known
        fresh = {known[pair]: pair for pair in pairs - set(self._of_pair)}
        self._of_pair |= {pair: {} for pair in fresh.values()}
        entries = ListedArgument.objects.filter(
            argument_list__question__comparison__in=set(fresh) - {None},
            argument_list__recipe__has_key="source",
        )
        rows = entries.order_by("argument_list", "number").values_list(
            "argument_list__question__comparison_id",
            "argument_list__question_id",
            "argument_list_id",
            "number",
            "argument_id",
            "argument__text",
        )
        first: dict[int, int] = {}
        for comparison, question, pk, number, argument, text in rows:
            if first.setdefault(question, pk) == pk:
                of_pair = self._of_pair[fresh[comparison]]
                of_pair[question] = (*of_pair.get(question, ()), (number, argument, text))

    def _find(self, fresh: dict[tuple[int, str], tuple[AnswerEntry, Numbered]]) -> None:
        candidates = [self.questions.of(entry) for entry, _numbered in fresh.values()]
        questions = {question.pk: question for question in candidates if question.pk is not None}
        stored = ArgumentList.objects.filter(
            question__in=questions, sha256__in={key for _question, key in fresh}
        )
        for row in stored:
            key = (id(questions[row.question_id]), row.sha256)
            if key in fresh:
                self._known[key] = row

    def _add(self, fresh: dict[tuple[int, str], tuple[AnswerEntry, Numbered]]) -> None:
        lists = {
            key: ArgumentList(
                question=self.questions.of(entry), sha256=key[1], recipe={"source": entry.source}
            )
            for key, (entry, _numbered) in fresh.items()
        }
        self._known |= lists
        if not self.work.write:
            return
        ArgumentList.objects.bulk_create(lists.values())
        ListedArgument.objects.bulk_create(
            ListedArgument(argument_list=lists[key], number=number, argument_id=argument)
            for key, (_entry, numbered) in fresh.items()
            for number, argument, _text in numbered
        )


Place = tuple[str, int, int]
# Question, system, scenario, choice and text; answers equal in all of these are the same answer.
Content = tuple[int | None, int | None, int, int, str]
FIELDS = ("question_id", "system_id", "scenario", "argument_list_id")


class AnswerBook:
    """Answers in the file, compared with stored answers; new answers are added.

    A text is evidence and is never replaced. Its question, system, scenario and list can be
    changed on request.
    """

    def __init__(
        self,
        work: EntryReconciliation,
        systems: SystemBook,
        questions: QuestionBook,
        lists: ListBook,
    ) -> None:
        self.work, self.systems, self.questions, self.lists = work, systems, questions, lists
        # Position of each answer → its key, or None for a new answer until written.
        self.known: dict[Place, int | None] = {}
        self._without_list = 0
        self._twins: Counter[str] = Counter()
        self._conditions: dict[int, int] = {}
        # System and comparison of all training data; queried with the first new answer.
        self._learned: set[tuple[int, int]] | None = None

    def take(self, entries: list[AnswerEntry]) -> None:
        """Compare a batch; its questions, systems and lists already exist."""
        stored = _stored(self.work.study, entries)
        twins = self._equal_answers(entries)
        new = []
        for entry in entries:
            self._without_list += entry.joins_arguments and self.lists.of(entry) is None
            answer = stored.get(_place(entry))
            if answer is not None:
                self._compare(entry, answer)
            elif (twin := twins.get(self._content(entry))) is not None:
                self._compare(entry, twin)
                self._twins[twin.source] += 1
            elif self._is_learned(entry):
                reason = _("the answer's system was trained on this question")
                self.work.leave_out(entry, entry.column, reason)
            else:
                self.work.result("answers", "new")
                new.append(entry)
        self._add(new)

    def _is_learned(self, entry: AnswerEntry) -> bool:
        """Return whether the answer would test a system on its model's training data."""
        if self._learned is None:
            rows = LearnedComparison.objects.filter(system__study=self.work.study)
            self._learned = set(rows.values_list("system", "comparison"))
        about = self._about(entry)
        if not self._learned or None in (about["system_id"], about["question_id"]):
            return False
        question = self.questions.of(entry)
        return (about["system_id"], question.comparison_id) in self._learned

    def _add(self, new: list[AnswerEntry]) -> None:
        self.known |= dict.fromkeys(map(_place, new))
        if self.work.write:
            rows = Answer.objects.bulk_create(map(self._made, new))
            self.known |= {_place(entry): row.pk for entry, row in zip(new, rows, strict=True)}

    def finish(self) -> None:
        """Add remarks on the whole file that would be tedious to repeat for every row."""
        for source, number in self._twins.items():
            text = ngettext(
                "%(number)s answer already exists, from %(source)s.",
                "%(number)s answers already exist, from %(source)s.",
                number,
            )
            self.work.outcome.notes.append(text % {"number": number, "source": source})
        if self._without_list:
            text = ngettext(
                "%s answer has no numbered arguments, because the study has no arguments for "
                "its pair. Import the silver file first, then import this file again.",
                "%s answers have no numbered arguments, because the study has no arguments for "
                "their pairs. Import the silver file first, then import this file again.",
                self._without_list,
            )
            self.work.outcome.notes.append(text % self._without_list)

    def _compare(self, entry: AnswerEntry, answer: Answer) -> None:
        if answer.text_sha256 != text_key(entry.text):
            reason = _(
                "a different text was imported from this position in a file with this name; "
                "answers never change, so rename the file"
            )
            self.work.leave_out(entry, entry.column, reason)
            return
        self.known[_place(entry)] = answer.pk
        wanted = self._about(entry)
        if wanted["argument_list_id"] is None and self.lists.of(entry) is None:
            # A file without arguments leaves the stored list unchanged.
            wanted["argument_list_id"] = answer.argument_list_id
        differing = [name for name in FIELDS if getattr(answer, name) != wanted[name]]
        self.work.result("answers", "changed" if differing else "same")
        if not differing:
            return
        summary = ", ".join(_shown(answer, name) for name in differing)
        self.work.mention(entry, entry.column, self.work.changed(summary))
        if self.work.write and self.work.update_changed:
            wanted["condition_id"] = self._condition(entry.scenario)
            Answer.objects.filter(pk=answer.pk).update(**wanted)

    def _about(self, entry: AnswerEntry) -> dict[str, Any]:
        listed = self.lists.of(entry)
        return {
            "question_id": self.questions.of(entry).pk,
            "system_id": self.systems.known[entry.system].pk,
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
        """Return the condition with only this scenario, creating it if necessary."""
        if scenario not in self._conditions:
            self._conditions[scenario] = condition(self.work.study, scenario=scenario).pk
        return self._conditions[scenario]

    def _equal_answers(self, entries: list[AnswerEntry]) -> dict[Content, Answer]:
        """Map contents to identical answers from files with other names; the first answer wins."""
        answers = _rows(self.work.study).filter(
            question__in={self.questions.of(entry).pk for entry in entries} - {None},
            system__in={self.systems.known[entry.system].pk for entry in entries} - {None},
            scenario__in={entry.scenario for entry in entries},
        )
        elsewhere = answers.exclude(source__in={"", *(entry.source for entry in entries)})
        return {
            (row.question_id, row.system_id, row.scenario, row.choice, row.text_sha256): row
            for row in elsewhere.order_by("-pk")
        }


def _place(entry: AnswerEntry) -> Place:
    return entry.source, entry.position, entry.choice


def _stored(study: Study, entries: list[AnswerEntry]) -> dict[Place, Answer]:
    """Return stored answers at the same positions in files with the same names."""
    answers = _rows(study).filter(
        source__in={entry.source for entry in entries},
        position__in={entry.position for entry in entries},
    )
    return {(row.source, row.position, row.choice): row for row in answers}


def _rows(study: Study) -> QuerySet[Answer]:
    return Answer.objects.filter(study=study).select_related("system").defer("text").order_by()


def _shown(answer: Answer, field: str) -> str:
    if field == "system_id":
        return answer.system.name
    if field == "scenario":
        return answer.get_scenario_display()
    return _("another question") if field == "question_id" else _("other numbered arguments")
