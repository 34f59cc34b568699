"""Import of comments: the form and the comparison with stored comments."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from django import forms
from django.utils.translation import gettext as _, gettext_lazy, ngettext

from argsum.datasets.actions import CellBook, count_comments, drop_unsaid, in_use, replace_comment
from argsum.datasets.forms import DatasetNameForm
from argsum.datasets.methods.argument_cells import LONGEST_TOPIC
from argsum.datasets.methods.comment_columns import Order, question_of, wrong_columns
from argsum.datasets.methods.preprocessing import COMMENT_STEPS
from argsum.datasets.methods.statements import SAMPLE, language_of
from argsum.datasets.models import Cell, Comment, Dataset
from argsum.datasets.reports.comments import not_english
from cqa_site.files.actions.imports import ImportRefused
from cqa_site.files.forms import ColumnsForm, ImportColumnsForm
from .argument_files import CellReconciliation, dataset_name
from .comment_files import (
    ARE_NEW,
    ARE_SAME,
    AS_COMMENT,
    AS_HEADER,
    COMMENTS,
    CommentEntry,
    first_is_comment,
)
from .datasets import MOST_NAMES

# A dataset of comments can always grow: stored comments do not change, and new comments get the
# next positions. Only replacing comments is refused once the dataset is in use.
STATEMENTS = "statements"
# Maximum number of topics named in the notes.
MOST_TOPICS = 10
T = TypeVar("T")


class CommentReconciliation(CellReconciliation):
    """Comparison of one file of comments."""

    new_recipe = {"holds": COMMENTS, "steps": list(COMMENT_STEPS)}
    other_content = gettext_lazy("“%s” contains arguments without comments. Choose another name.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._books: dict[str, CellBook] = {}
        # Earlier content of each comment with an id.
        self._said: dict[bytes, bytes] = {}
        self._group = ""
        self._attributes: dict[str, None] = {}
        self._from_elsewhere = self._otherwise = self._replaced = 0
        self._sample: list[str] = []

    def compare(self, entries: Sequence[CommentEntry]) -> None:
        """Compare part of the file, topic by topic."""
        dataset = self.open(entries[0].dataset, entries[0].comment.source)
        by_topic: dict[str, list[CommentEntry]] = {}
        for entry in entries:
            by_topic.setdefault(entry.topic, []).append(entry)
            self._group = entry.group or self._group
            self._attributes.update(dict.fromkeys(entry.comment.attributes))
        self._find_books(dataset, by_topic)
        for topic, comments in by_topic.items():
            self._compare_cell(self._books[topic], comments)

    def finish(self) -> None:
        """Report the statements of the new comments and update the counts of the dataset."""
        if self.dataset is None:
            return
        if self._replaced and self.is_frozen:
            more = _("Comments can be added but not replaced.")
            raise ImportRefused(f"{in_use(self.dataset)} {more}")
        self.outcome.notes.extend(self._notes())
        if self.write:
            if self._replaced:
                drop_unsaid(self.dataset)
            count_comments(self.dataset, attributes=self._attributes, group=self._group)

    def _find_books(self, dataset: Dataset, topics: Iterable[str]) -> None:
        wanted = [topic for topic in topics if topic not in self._books]
        stored = {}
        if wanted and dataset.pk is not None:
            cells = dataset.cells.filter(topic__in=wanted, stance=Cell.Stance.NONE)
            stored = {cell.topic: cell for cell in cells}
        for topic in wanted:
            self.result("cells", "same" if topic in stored else "new")
            cell = stored.get(topic) or self.new_cell(topic)
            self._books[topic] = CellBook(cell, dataset.recipe["steps"])

    def _compare_cell(self, book: CellBook, entries: Sequence[CommentEntry]) -> None:
        stored = book.stored(entry.comment.key for entry in entries)
        new = []
        for entry in entries:
            comment = entry.comment
            if comment.name and not self._is_first(entry):
                continue
            if comment.key in stored:
                self._compare_one(book, entry, stored[comment.key])
            else:
                new.append(comment)
                self.result(COMMENTS, "new")
        counts = book.add(new, write=self.write)
        self.outcome.counts[STATEMENTS]["new"] += counts.new
        self.outcome.counts[STATEMENTS]["same"] += counts.known
        self._sample += counts.texts[: SAMPLE - len(self._sample)]

    def _is_first(self, entry: CommentEntry) -> bool:
        """Return whether this id is new in the file; it may recur only with the same text."""
        comment = entry.comment
        key = hashlib.blake2b(f"{entry.topic}\n{comment.key}".encode(), digest_size=16).digest()
        text = hashlib.blake2b(comment.text.encode(), digest_size=16).digest()
        before = self._said.setdefault(key, text)
        if before is text:
            return True
        if before == text:
            self.result(COMMENTS, "same")
        else:
            reason = _("The id “%s” appears earlier in this file with a different text.")
            self.leave_out(entry, "id", reason % comment.name[:40])
        return False

    def _compare_one(self, book: CellBook, entry: CommentEntry, stored: Comment) -> None:
        comment = entry.comment
        is_other_text = stored.text != comment.text
        is_otherwise = bool(comment.name) and (
            stored.attributes != comment.attributes or stored.written_on != comment.written_on
        )
        self.result(COMMENTS, "changed" if is_other_text or is_otherwise else "same")
        if is_other_text:
            quotation = f"“{stored.text[:200]}”"
            self.mention(entry, "comment", f"{comment.name[:40]}: {self.changed(quotation)}")
        elif is_otherwise:
            self._otherwise += 1
        elif not comment.name and stored.source != comment.source:
            self._from_elsewhere += 1
        if (is_other_text or is_otherwise) and self.update_changed:
            self._replaced += 1
            if self.write and not self.is_frozen:
                replace_comment(book, stored, comment)

    def _notes(self) -> Iterator[str]:
        books = [book for book in self._books.values() if book.comments]
        for book in books[:MOST_TOPICS]:
            about = {
                "topic": book.cell.topic[:80],
                "comments": f"{book.comments:,}",
                "statements": f"{book.statements:,}",
                "different": f"{book.different:,}",
                "saying": f"{book.saying:,}",
            }
            yield (
                _(
                    "New on “%(topic)s”: comments: %(comments)s → statements: %(statements)s → "
                    "new and distinct: %(different)s → with content: %(saying)s"
                )
                % about
            )
        if (more := len(books) - MOST_TOPICS) > 0:
            text = ngettext("And %s more topic.", "And %s more topics.", more)
            yield text % more
        if self._otherwise:
            text = ngettext(
                "%s comment differs from the stored one in its date or other columns.",
                "%s comments differ from the stored ones in their dates or other columns.",
                self._otherwise,
            )
            yield text % f"{self._otherwise:,}"
        if self._from_elsewhere:
            text = ngettext(
                "%s row is identical to a comment from another file and is treated as the "
                "same comment. If it is a new comment, change this under Columns.",
                "%s rows are identical to comments from another file and are treated as the "
                "same comments. If they are new comments, change this under Columns.",
                self._from_elsewhere,
            )
            yield text % f"{self._from_elsewhere:,}"
        if warning := not_english(language_of(self._sample), is_known=len(self._sample) > 20):
            yield warning


# Number of datasets named in the help text; typing suggests all datasets.
NAMED = 3
LABELS = {
    "comment": gettext_lazy("Comment"),
    "topic": gettext_lazy("Topic (if it differs by row)"),
    "id": gettext_lazy("Id"),
    "date": gettext_lazy("Date"),
    "group": gettext_lazy("Group"),
}


class CommentsForm(ColumnsForm, DatasetNameForm):
    """Dataset, topic and columns; the topic is entered here or read from every row."""

    beside = ("dataset", "topic", "first_row", "date_order", "repeats")
    advanced = ("first_row", "date_order", "repeats", *ColumnsForm.advanced)
    rater_kind = None  # type: ignore[assignment]  # nobody rates
    topic = forms.CharField(
        label=gettext_lazy("Topic or question"),
        max_length=LONGEST_TOPIC,
        required=False,
        help_text=gettext_lazy(
            "Required unless a column has the topic or the existing dataset has only one topic."
        ),
    )
    first_row = forms.ChoiceField(
        label=gettext_lazy("First row"),
        required=False,
        choices=[
            (AS_COMMENT, gettext_lazy("is a comment")),
            (AS_HEADER, gettext_lazy("is a header")),
        ],
        help_text=gettext_lazy("Only files with a single column may lack a header."),
    )
    date_order = forms.ChoiceField(
        label=gettext_lazy("Order in dates such as 3/4/2024"),
        required=False,
        choices=[
            (Order.UNKNOWN.value, gettext_lazy("detect automatically")),
            (Order.DAY.value, gettext_lazy("day first")),
            (Order.MONTH.value, gettext_lazy("month first")),
        ],
    )
    repeats = forms.ChoiceField(
        label=gettext_lazy("Rows without an id that already exist"),
        required=False,
        choices=[
            (ARE_SAME, gettext_lazy("are the same comments")),
            (ARE_NEW, gettext_lazy("are new comments with the same text")),
        ],
        help_text=gettext_lazy("Importing this same file again adds nothing, either way."),
    )

    def __init__(
        self, *args: Any, has_topic: bool, names: Sequence[str] = (), **kwargs: Any
    ) -> None:
        """Build the form; ``names`` are the datasets that the file could extend."""
        super().__init__(*args, labels=LABELS, required=("comment",), **kwargs)
        self.has_topic = has_topic
        if names:
            self.fields["dataset"].widget.attrs["list"] = "dataset-names"
            self.fields["dataset"].help_text = gettext_lazy(
                "A new name, or the name of an existing dataset to extend: %s."
            ) % ", ".join(f"“{name}”" for name in names[:NAMED])

    def grouped(self) -> Sequence[tuple[Any, Sequence[str]]]:
        """Return the comment columns and the optional topic column."""
        return (
            (gettext_lazy("Columns"), ("comment", "id", "date", "group")),
            (gettext_lazy("More than one topic"), ("topic",)),
        )

    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """Return the field groups, starting with the fields that cannot be read from a file."""
        about = [self["topic"], self["dataset"]]
        return [(str(gettext_lazy("Topic")), about), *super().groups()]

    def how(self) -> list[forms.BoundField]:
        """Return no fields, because the remaining fields are collapsed."""
        return []

    def check(self, mapping: Mapping[str, str]) -> list[str]:
        """Return problems such as a column that is chosen twice; require a topic."""
        problems = wrong_columns(mapping)
        data = self.cleaned_data
        if not (mapping.get("topic") or data.get("topic") or self.has_topic):
            missing = gettext_lazy(
                "Enter the question that people answered, or choose a topic column."
            )
            self.add_error("topic", str(missing))
        return problems


class CommentsImportForm(ImportColumnsForm):
    title = gettext_lazy("Comments")
    heading = gettext_lazy("Topic and columns")
    beside = "argsum/datasets/_comment_names.html"

    @cached_property
    def names(self) -> list[tuple[str, list[str]]]:
        """Existing datasets of comments, each with its first topics."""
        datasets = Dataset.objects.filter(study=self.study, recipe__holds=COMMENTS)
        datasets = datasets.prefetch_related("cells")[:MOST_NAMES]
        return [
            (dataset.name, [cell.topic for cell in dataset.cells.all()][:3])
            for dataset in datasets
        ]

    def note(self) -> Any:
        """Return a note if the first row was read as a comment, or "" if not."""
        if not first_is_comment(self.preview, self.file.options):
            return ""
        return _("The first row looks like a comment and is read as one.")

    def form(self, data: Any) -> CommentsForm:
        """Return the form, filled in from the options and the file."""
        columns = self.preview.columns
        initial = self.initial()
        initial["dataset"] = dataset_name(self.file.options, self.file.name)
        has_first = first_is_comment(self.preview, self.file.options)
        initial["first_row"] = AS_COMMENT if has_first else AS_HEADER
        column = initial.get("map_comment") or columns[0]
        title = self.preview.titles.get(column, "")
        question = "" if has_first else question_of(title) or question_of(column)
        initial["topic"] = self.file.options.get("topic") or question
        named = (data or {}).get("dataset") or initial["dataset"]
        topics = dict(self.names).get(named.strip(), [])
        return CommentsForm(
            data,
            **self.about_columns,
            initial=initial,
            has_topic=len(topics) == 1,
            names=[name for name, _topics in self.names],
        )
