"""Comments into a cell: each split into statements, of which equal ones are one argument."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from uuid import uuid4

from django.db.models import Count, Max

from annotation.corpus.models.questions import text_key
from argsum.datasets.methods.preprocessing import COMMENT_STEPS, KEPT, first_failed, funnel
from argsum.datasets.methods.statements import statements
from argsum.datasets.models import Cell, CellArgument, Comment, CommentStatement, Dataset
from argsum.datasets.reports.comments import ATTRIBUTES, COMMENTS, GROUP, is_of_comments
from cqa_site.runs.ledger.writing import insert_like

__all__ = [
    "CellBook",
    "RawComment",
    "count_comments",
    "drop_unsaid",
    "is_of_comments",
    "replace_comment",
]

PIECE = 2_000


@dataclass(frozen=True, slots=True)
class RawComment:
    """A comment as a file brings it; see `Comment`."""

    key: str
    text: str
    name: str
    attributes: Mapping[str, str]
    written_on: date | None
    source: str


@dataclass
class Added:
    """Different statements of some comments that were new or known, and the new texts."""

    new: int = 0
    known: int = 0
    texts: list[str] = field(default_factory=list)


@dataclass
class CellBook:
    """One cell while comments are added to it, with counts of what was added.

    A cell that is not saved is only looked at. ``fresh`` are hashes of statements that a dry run
    would have written.
    """

    cell: Cell
    steps: Sequence[str]
    comments: int = 0
    statements: int = 0
    different: int = 0
    saying: int = 0
    fresh: set[bytes] = field(default_factory=set)
    _last: dict[type, int] = field(default_factory=dict)

    def stored(self, keys: Iterable[str]) -> dict[str, Comment]:
        """Those of the comments that are here, by key."""
        if self.cell.pk is None:
            return {}
        found = Comment.objects.filter(cell=self.cell, key__in=list(keys)).order_by()
        return {each.key: each for each in found}

    def add(self, raw: Sequence[RawComment], *, write: bool) -> Added:
        """Add new comments with their statements; the caller holds the transaction."""
        split = [statements(each.text) for each in raw]
        self.comments += len(raw)
        self.statements += sum(map(len, split))
        arguments, added = self._arguments(split, write=write)
        if write and raw:
            self._write(raw, split, arguments)
        return added

    def link(self, comment: Comment) -> None:
        """Give a stored comment the statements of its text."""
        split = [statements(comment.text)]
        arguments, _added = self._arguments(split, write=True)
        _link([comment.pk], split, arguments)

    # -- pieces -------------------------------------------------------------------------------

    def _arguments(
        self, split: Sequence[Sequence[str]], *, write: bool
    ) -> tuple[dict[str, int], Added]:
        """Keys of the arguments that statements are, by text; new ones are written."""
        texts = {text: text_key(text) for each in split for text in each}
        known = self._known(texts.values())
        new = [text for text, key in texts.items() if key not in known]
        if not write:
            new = [text for text in new if bytes.fromhex(texts[text]) not in self.fresh]
            self.fresh.update(bytes.fromhex(texts[text]) for text in new)
        reasons = [first_failed(text, None, self.steps) for text in new]
        self.different += len(new)
        self.saying += reasons.count(KEPT)
        kept = [text for text, reason in zip(new, reasons, strict=True) if reason == KEPT]
        added = Added(len(new), len(texts) - len(new), kept)
        if not write:
            return {}, added
        numbers = self._numbers(CellArgument, len(new))
        insert_like(
            CellArgument(cell=self.cell),
            ("public_id", "position", "text", "sha256", "left_out"),
            (
                (uuid4(), number, text, texts[text], reason)
                for number, text, reason in zip(numbers, new, reasons, strict=True)
            ),
        )
        known |= self._known(texts[text] for text in new)
        return {text: known[key] for text, key in texts.items()}, added

    def _known(self, keys: Iterable[str]) -> dict[str, int]:
        if self.cell.pk is None:
            return {}
        found: dict[str, int] = {}
        wanted = list(keys)
        rows = CellArgument.objects.filter(cell=self.cell).order_by()
        for start in range(0, len(wanted), PIECE):
            piece = rows.filter(sha256__in=wanted[start : start + PIECE])
            found |= dict(piece.values_list("sha256", "pk"))
        return found

    def _write(
        self,
        raw: Sequence[RawComment],
        split: Sequence[Sequence[str]],
        arguments: Mapping[str, int],
    ) -> None:
        numbers = self._numbers(Comment, len(raw))
        insert_like(
            Comment(cell=self.cell),
            ("public_id", "position", *RawComment.__slots__),
            (
                (uuid4(), number, *(getattr(each, name) for name in RawComment.__slots__))
                for number, each in zip(numbers, raw, strict=True)
            ),
        )
        rows = Comment.objects.filter(cell=self.cell, key__in=[each.key for each in raw])
        made = dict(rows.order_by().values_list("key", "pk"))
        _link([made[each.key] for each in raw], split, arguments)

    def _numbers(self, model: type, count: int) -> range:
        """The next positions of the cell's rows."""
        if model not in self._last:
            rows = model.objects.filter(cell=self.cell)  # type: ignore[attr-defined]
            self._last[model] = rows.aggregate(last=Max("position"))["last"] or 0
        first = self._last[model] + 1
        self._last[model] += count
        return range(first, first + count)


def _link(
    comments: Sequence[int], split: Sequence[Sequence[str]], arguments: Mapping[str, int]
) -> None:
    insert_like(
        CommentStatement(),
        ("comment", "argument", "position"),
        (
            (comment, arguments[text], place)
            for comment, texts in zip(comments, split, strict=True)
            for place, text in enumerate(texts, start=1)
        ),
    )


def replace_comment(book: CellBook, stored: Comment, raw: RawComment) -> None:
    """Give a comment another text, attributes and date; see `drop_unsaid` for what it said."""
    is_other_text = stored.text != raw.text
    stored.text, stored.attributes = raw.text, dict(raw.attributes)
    stored.written_on, stored.source = raw.written_on, raw.source
    stored.save(update_fields=["text", "attributes", "written_on", "source"])
    if is_other_text:
        stored.statements.all().delete()
        book.link(stored)


def drop_unsaid(dataset: Dataset) -> None:
    """Forget statements that no comment makes any more; only while nothing rests on them."""
    CellArgument.objects.filter(cell__dataset=dataset, said_in__isnull=True).delete()


def count_comments(dataset: Dataset, *, attributes: Iterable[str] = (), group: str = "") -> None:
    """Keep how many comments and statements there are, and which further columns.

    What is stored of comments and statements stays as it is.
    """
    rows = CellArgument.objects.filter(cell__dataset=dataset).order_by()
    reasons = dict(rows.values_list("left_out").annotate(n=Count("pk")))
    said = CommentStatement.objects.filter(comment__cell__dataset=dataset).count()
    repeats = said - sum(reasons.values())
    recipe = dict(dataset.recipe)
    steps = recipe.get("steps") or list(COMMENT_STEPS)
    known = dict.fromkeys([*recipe.get(ATTRIBUTES, []), *attributes])
    dataset.recipe = recipe | {
        "steps": steps,
        "repeats": {"": repeats},
        "counts": {"": funnel(reasons, steps=steps, repeats=repeats)},
        COMMENTS: Comment.objects.filter(cell__dataset=dataset).count(),
        ATTRIBUTES: list(known),
        GROUP: group or recipe.get(GROUP, ""),
    }
    dataset.save(update_fields=["recipe"])
