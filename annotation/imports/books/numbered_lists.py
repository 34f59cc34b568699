"""The numbered arguments that imported answers cite: with the file, or those of the same pair."""

from typing import TYPE_CHECKING

from annotation.answers.actions.lists import list_key
from annotation.corpus.models.questions import ArgumentList, ListedArgument, text_key

from ..actions.rows import AnswerEntry
from .arguments import Pair

if TYPE_CHECKING:
    from ..actions.reconcile import StudyReconciliation

# Number, key of the argument (None in a dry run that would make it), sentence.
Numbered = tuple[tuple[int, int | None, str], ...]


class ListBook:
    """Lists that answers of the file cite; without a key while new and not written."""

    def __init__(self, work: "StudyReconciliation") -> None:
        self.work = work
        self._known: dict[tuple[int, str], ArgumentList] = {}
        self._of_pair: dict[Pair, dict[int, Numbered]] = {}

    def take(self, entries: list[AnswerEntry]) -> None:
        """Find the lists of a piece, or make them; questions and arguments are known by now."""
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
        """The list an answer cites; None where it has nothing to cite."""
        numbered = self._numbered(entry)
        return self._known[self._key(entry, numbered)] if numbered else None

    def _key(self, entry: AnswerEntry, numbered: Numbered) -> tuple[int, str]:
        # By identity: in a dry run a new question has no key of its own yet.
        question = self.work.questions.of(entry)
        return id(question), list_key((number, text) for number, _pk, text in numbered)

    def _numbered(self, entry: AnswerEntry) -> Numbered:
        if entry.joins_arguments:
            return self._joined(entry)
        pair = (entry.object1, entry.object2)
        known = self.work.arguments.known
        return tuple(
            (number, known[(*pair, text_key(text))], text) for number, text in entry.arguments
        )

    def _joined(self, entry: AnswerEntry) -> Numbered:
        """The imported list of the question, else the first of its pair."""
        lists = self._of_pair.get((entry.object1, entry.object2), {})
        question = self.work.questions.of(entry).pk
        return lists.get(question) or next(iter(lists.values()), ())

    def _load_pairs(self, pairs: set[Pair]) -> None:
        known = self.work.comparisons.known
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
                of_pair[question] = (
                    *of_pair.get(question, ()),
                    (number, argument, text),
                )

    def _find(self, fresh: dict[tuple[int, str], tuple[AnswerEntry, Numbered]]) -> None:
        asked = [self.work.questions.of(entry) for entry, _numbered in fresh.values()]
        questions = {question.pk: question for question in asked if question.pk is not None}
        stored = ArgumentList.objects.filter(
            question__in=questions, sha256__in={key for _question, key in fresh}
        )
        for found in stored:
            key = (id(questions[found.question_id]), found.sha256)
            if key in fresh:
                self._known[key] = found

    def _add(self, fresh: dict[tuple[int, str], tuple[AnswerEntry, Numbered]]) -> None:
        made = {
            key: ArgumentList(
                question=self.work.questions.of(entry),
                sha256=key[1],
                recipe={"source": entry.source},
            )
            for key, (entry, _numbered) in fresh.items()
        }
        self._known |= made
        if not self.work.write:
            return
        ArgumentList.objects.bulk_create(made.values())
        ListedArgument.objects.bulk_create(
            ListedArgument(argument_list=made[key], number=number, argument_id=argument)
            for key, (_entry, numbered) in fresh.items()
            for number, argument, _text in numbered
        )
