"""Compare the entries of a file with a study, piece by piece, and write what is new.

Everything is known by its natural key: the pair, the sentence's hash, the item's
id in its campaign, the rater's id, the vote's id or its item and rater. A dry
run takes the same path and leaves out the inserts, so it holds no write lock
that annotators would have to wait for.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from django.utils.translation import gettext as _

from annotation.imports.books.answers import AnswerBook
from annotation.imports.books.arguments import ArgumentBook, ComparisonBook
from annotation.imports.books.campaigns import CampaignBook
from annotation.imports.books.items import ItemBook
from annotation.imports.books.numbered_lists import ListBook
from annotation.imports.books.questions import QuestionBook, SystemBook
from annotation.imports.books.raters import RaterBook
from annotation.imports.books.votes import VoteBook
from cqa_site.people.models import Study, User

from .registry import Book, new_book
from .rows import (
    AnswerEntry,
    Entry,
    Extra,
    Flag,
    Line,
    Near,
    Note,
    Outcome,
    QuestionEntry,
    rater_of,
)

CHUNK = 2_000
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


def reconcile(
    *,
    study: Study,
    lines: Iterable[Line],
    write: bool,
    update_changed: bool = False,
    actor: User | None = None,
    progress=None,
) -> Outcome:
    """Go through a file once; with ``write`` the caller holds the transaction."""
    work = Reconciliation(study, write=write, update_changed=update_changed, actor=actor)
    stream = iter(lines)
    done = 0
    while chunk := list(islice(stream, CHUNK)):
        work.take(chunk)
        done += len(chunk)
        if progress is not None:
            progress(done)
    return work.finish()


class Reconciliation:
    """One pass over one file; books remember what the file has named so far."""

    def __init__(
        self, study: Study, *, write: bool, update_changed: bool, actor: User | None
    ) -> None:
        self.study = study
        self.write = write
        self.update_changed = update_changed
        self.actor = actor
        self.outcome = Outcome()
        self.comparisons = ComparisonBook(self)
        self.arguments = ArgumentBook(self)
        self.campaigns = CampaignBook(self, actor)
        self.items = ItemBook(self)
        self.raters = RaterBook(self)
        self.votes = VoteBook(self)
        self.systems = SystemBook(self)
        self.questions = QuestionBook(self)
        self.lists = ListBook(self)
        self.answers = AnswerBook(self)
        self._books: dict[str, Book] = {}

    def take(self, chunk: list[Line]) -> None:
        """Compare one piece of the file, parents before children."""
        kept = [entry for line in chunk if (entry := self._sort_out(line)) is not None]
        entries = [entry for entry in kept if isinstance(entry, Entry)]
        self.comparisons.take([entry for entry in kept if not isinstance(entry, Extra)])
        self.arguments.take(entries)
        labelled = [entry for entry in entries if entry.campaign]
        if labelled:
            self.campaigns.take(labelled)
            labelled = self.items.take(labelled)
            self.raters.take(labelled)
            self.votes.take(labelled)
        if asked := [entry for entry in kept if isinstance(entry, QuestionEntry)]:
            self.questions.take(asked)
        answers = [entry for entry in kept if isinstance(entry, AnswerEntry)]
        if answers:
            self.systems.take(answers)
            self.questions.take(answers)
            self.lists.take(answers)
            self.answers.take(answers)
        self._take_extras([entry for entry in kept if isinstance(entry, Extra)])

    def _take_extras(self, extras: list[Extra]) -> None:
        for name in dict.fromkeys(entry.book for entry in extras):
            if name not in self._books:
                self._books[name] = new_book(name, self)
            self._books[name].take([entry for entry in extras if entry.book == name])

    def finish(self) -> Outcome:
        """Add what only the whole file shows."""
        self.outcome.campaign_ids = self.campaigns.ids
        self.comparisons.suggest_merges()
        self.answers.finish()
        for book in self._books.values():
            book.finish()
        return self.outcome

    def result(self, name: str, result: str) -> None:
        """Count one object."""
        self.outcome.counts[name][result] += 1

    def remark(self, entry: Entry, column: str, reason: str) -> None:
        """Flag a row that is kept."""
        self.outcome.flag(Flag(entry.row, _place(entry, column), reason, place=entry.place))

    def remark_blank(self, entry: Entry) -> None:
        """Released data holds tasks without a sentence: kept, and said."""
        if not entry.text.strip():
            self.remark(entry, "", _("The sentence is blank; kept and flagged."))

    def reject(self, entry: Entry, column: str, reason: str) -> None:
        """Leave a row out."""
        what = "votes" if entry.votes else "items" if entry.campaign else "arguments"
        column = _place(entry, column)
        flag = Flag(entry.row, column, reason, is_rejection=True, object=what, place=entry.place)
        self.outcome.flag(flag)

    # -- rows ---------------------------------------------------------------------------------

    def _sort_out(self, line: Line) -> Entry | AnswerEntry | QuestionEntry | Extra | None:
        """Keep flags and notes; give an entry back if every cell can be stored."""
        self.outcome.saw(line)
        if isinstance(line, Near):
            self.outcome.near.append(line)
            return None
        if isinstance(line, Note):
            self.outcome.notes.append(line.text)
            return None
        if isinstance(line, Flag):
            self.outcome.flag(line)
            return None
        if isinstance(line, Extra):
            # Its book knows what can be stored.
            return line
        if isinstance(line, AnswerEntry):
            for column, reason in _unstorable_answer(line):
                self.answers.reject(line, column, reason)
                return None
            return line
        if isinstance(line, QuestionEntry):
            for column, reason in _unstorable_question(line):
                flag = Flag(line.row, column, reason, is_rejection=True, object="questions")
                self.outcome.flag(flag)
                return None
            return line
        for column, reason in _unstorable(line):
            self.reject(line, column, reason)
            return None
        return line

    def changed(self, stored: object) -> str:
        """Say what is stored where the file has something else."""
        if self.update_changed:
            return _("Replaced; stored before: %s") % stored
        return _("Differs and was kept; stored: %s") % stored


def _unstorable_answer(entry: AnswerEntry) -> Iterator[tuple[str, str]]:
    """As `_unstorable`, for readers that refuse odd characters; no text is no answer."""
    for column, most in _ANSWER_LIMITS.items():
        if len(getattr(entry, column)) > most:
            yield column, _("longer than %s characters") % most
    if not entry.text.strip():
        yield entry.column, _("the answer is empty")


def _unstorable_question(entry: QuestionEntry) -> Iterator[tuple[str, str]]:
    """As `_unstorable`; a workbook can hold characters that no database keeps."""
    for column in ("object1", "object2", "aspect", "wording"):
        text = getattr(entry, column)
        if len(text) > _ANSWER_LIMITS[column]:
            yield column, _("longer than %s characters") % _ANSWER_LIMITS[column]
        if _UNSTORABLE.search(text):
            yield column, _("holds a NUL character or half of a surrogate pair")


def _place(entry: Entry, column: str) -> str:
    return " · ".join(part for part in (entry.place, column) if part)


def _unstorable(entry: Entry) -> Iterator[tuple[str, str]]:
    """What PostgreSQL would refuse, said in words and for SQLite alike."""
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
        yield "", _("holds a NUL character or half of a surrogate pair")
    repeated = Counter(map(rater_of, entry.votes))
    if any(count > 1 for count in repeated.values()):
        yield "rater", _("names one rater twice")
