"""Compare import files with a study, and store new entries.

Natural keys identify everything: the pair, the sentence's hash, the item's id in the round,
the rater's id, and the vote's id or its item and rater.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.utils.translation import gettext as _

from ..books.answers import AnswerBook, ListBook, QuestionBook, SystemBook
from ..books.arguments import ArgumentBook, ComparisonBook, EntryReconciliation, LabelRoundBook
from ..books.votes import ItemBook, PlacedRaterBook, VoteBook
from .entries import AnswerEntry, ArgumentEntry, QuestionEntry, rater_of

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_LIMITS = {"object1": 300, "object2": 300, "source_url": 2_000, "argument_id": 200, "item_id": 200}
_ANSWER_LIMITS = {
    "object1": 300,
    "object2": 300,
    "aspect": 300,
    "wording": 500,
    "system": 120,
    "source": 255,
}


class StudyReconciliation(EntryReconciliation):
    """Reconciliation of a file with a study; books remember the entries seen so far."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.comparisons = ComparisonBook(self)
        self.arguments = ArgumentBook(self, self.comparisons)
        self.label_rounds = LabelRoundBook(self, self.actor)
        self.items = ItemBook(self, self.label_rounds, self.arguments)
        self.raters = PlacedRaterBook(self, self.label_rounds)
        self.votes = VoteBook(self, self.label_rounds, self.items, self.raters)
        self.systems = SystemBook(self)
        self.questions = QuestionBook(self, self.comparisons)
        self.lists = ListBook(self, self.arguments, self.questions)
        self.answers = AnswerBook(self, self.systems, self.questions, self.lists)

    def compare(self, entries: Sequence[Any]) -> None:
        """Compare entries, parents before children."""
        valid_entries = [entry for entry in entries if self._can_be_stored(entry)]
        sentences = [entry for entry in valid_entries if isinstance(entry, ArgumentEntry)]
        self.comparisons.take(valid_entries)
        self.arguments.take(sentences)
        labelled = [entry for entry in sentences if entry.label_round]
        if labelled:
            self.label_rounds.take(labelled)
            labelled = self.items.take(labelled)
            self.raters.take(labelled)
            self.votes.take(labelled)
        if questions := [entry for entry in valid_entries if isinstance(entry, QuestionEntry)]:
            self.questions.take(questions)
        answers = [entry for entry in valid_entries if isinstance(entry, AnswerEntry)]
        if answers:
            self.systems.take(answers)
            self.questions.take(answers)
            self.lists.take(answers)
            self.answers.take(answers)

    def finish(self) -> None:
        """Add remarks that need the whole file."""
        self.outcome.rounds = self.label_rounds.ids
        self.comparisons.suggest_merges()
        self.arguments.finish()
        self.answers.finish()

    def _can_be_stored(self, entry: ArgumentEntry | AnswerEntry | QuestionEntry) -> bool:
        """Return whether every cell can be stored; report the first cell that cannot."""
        for column, reason in _UNSTORABLE_CELLS[type(entry)](entry):
            self.leave_out(entry, column, reason)
            return False
        return True


def _unstorable_answer(entry: AnswerEntry) -> Iterator[tuple[str, str]]:
    """Yield values that are too long, and empty answers."""
    for column, most in _ANSWER_LIMITS.items():
        if len(getattr(entry, column)) > most:
            yield column, _("longer than %s characters") % most
    if not entry.text.strip():
        yield entry.column, _("the answer is empty")


def _unstorable_question(entry: QuestionEntry) -> Iterator[tuple[str, str]]:
    """Yield values that are too long or contain characters that no database accepts."""
    for column in ("object1", "object2", "aspect", "wording"):
        text = getattr(entry, column)
        if len(text) > _ANSWER_LIMITS[column]:
            yield column, _("longer than %s characters") % _ANSWER_LIMITS[column]
        if _UNSTORABLE.search(text):
            yield (
                column,
                _("contains a character that is not valid text (NUL or half of a surrogate pair)"),
            )


def _unstorable(entry: ArgumentEntry) -> Iterator[tuple[str, str]]:
    """Yield values that PostgreSQL would reject, even if the database is SQLite."""
    for column, most in _LIMITS.items():
        if len(getattr(entry, column)) > most:
            yield column, _("longer than %s characters") % most
    texts = [entry.object1, entry.object2, entry.text, entry.source_url, entry.item_id]
    for vote in entry.votes:
        texts += [vote.rater_id, vote.comment]
        if not vote.rater_id:
            yield "rater", _("is empty")
        if len(vote.rater_id) > 128 or len(vote.external_id) > 200:
            yield "rater", _("an id is too long")
    if any(map(_UNSTORABLE.search, texts)):
        yield (
            "",
            _("contains a character that is not valid text (NUL or half of a surrogate pair)"),
        )
    repeated = Counter(map(rater_of, entry.votes))
    if any(count > 1 for count in repeated.values()):
        yield "rater", _("names the same rater twice")


_UNSTORABLE_CELLS: dict[type, Callable[[Any], Iterator[tuple[str, str]]]] = {
    ArgumentEntry: _unstorable,
    AnswerEntry: _unstorable_answer,
    QuestionEntry: _unstorable_question,
}
