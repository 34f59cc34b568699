"""Add comments to cells, prepare datasets, change their recipes and delete datasets."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple
from uuid import uuid4

from django.db import transaction
from django.db.models import Count, Max, ProtectedError, Q
from django.utils.translation import gettext as _

from argsum.datasets.methods.argument_cells import group_name
from argsum.datasets.methods.preprocessing import (
    COMMENT_STEPS,
    HALF,
    KEPT,
    ONE_SENTENCE,
    OTHER_HALF,
    PAPER_STEPS,
    SAYS_SOMETHING,
    UNIQUE,
    Half,
    checked_steps,
    first_failed,
    funnel,
    half_of,
)
from argsum.datasets.methods.statements import statements
from argsum.datasets.models import (
    Cell,
    CellArgument,
    Comment,
    CommentStatement,
    Dataset,
    KeyPointMatch,
    NearDuplicateGroup,
)
from argsum.datasets.reports.comments import ATTRIBUTES, COMMENTS, GROUP, is_of_comments
from argsum.datasets.reports.datasets import analyses, imported_sets
from cqa_site.people.access import record
from cqa_site.people.models import User
from cqa_site.tabular.cells import text_key
from cqa_site.web.bulk_queries import insert_like

PIECE = 2_000


def usual_steps(*, has_key_points: bool) -> tuple[str, ...]:
    """Return the paper's steps, without the key-point step if there are no references."""
    return PAPER_STEPS if has_key_points else (UNIQUE, ONE_SENTENCE)


def stored_half(dataset: Dataset) -> Half | None:
    """Return the half that the recipe selects, or None if it uses all arguments."""
    half = dataset.recipe.get("half")
    return Half(half["part"], half["seed"]) if half else None


def prepare_dataset(
    dataset: Dataset,
    *,
    steps: Iterable[str],
    repeats: Mapping[str, int] | None = None,
    again: Collection[int] | None = None,
    half: Half | None = None,
) -> None:
    """Store the first failed step of every argument and the counts per split.

    ``repeats`` counts the repeated arguments of each split. ``again`` contains the primary keys of
    arguments whose match is repeated in another row. ``half`` is the half that the step ``half``
    selects. If a parameter is None, the stored value is kept. Raises ValueError for an unknown
    step.
    """
    chosen = checked_steps(steps)
    known = dict(dataset.recipe.get("repeats") or {}) if repeats is None else dict(repeats)
    again = dataset.recipe.get("again") or () if again is None else sorted(again)
    half = (half or stored_half(dataset) or Half("test")) if HALF in chosen else None
    reasons = _mark(dataset, chosen, again=frozenset(again), half=half)
    others = {key: value for key, value in dataset.recipe.items() if key not in ("again", "half")}
    dataset.recipe = others | {
        **({"again": list(again)} if again else {}),
        **({"half": half._asdict()} if half else {}),
        "steps": list(chosen),
        "repeats": known,
        "counts": {
            split: funnel(reasons[split], steps=chosen, repeats=known.get(split, 0))
            for split in Cell.Split.values
            if split in reasons
        },
    }
    dataset.save(update_fields=["recipe"])


class _Marked(NamedTuple):
    pk: int
    cell: int
    split: str
    text: str
    stored: str
    reason: str


def _mark(
    dataset: Dataset, steps: tuple[str, ...], *, again: Collection[int], half: Half | None
) -> dict[str, Counter[str]]:
    """Store changed reasons for exclusion, and return counts by split and reason."""
    marked = _first_failed(dataset, steps, again)
    changed: dict[str, list[int]] = defaultdict(list)
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for argument in marked if half is None else _halved(dataset, list(marked), half):
        reasons[argument.split][argument.reason] += 1
        if argument.reason != argument.stored:
            changed[argument.reason].append(argument.pk)
    for reason, keys in changed.items():
        for start in range(0, len(keys), PIECE):
            piece = keys[start : start + PIECE]
            CellArgument.objects.filter(pk__in=piece).update(left_out=reason)
    return reasons


def _first_failed(
    dataset: Dataset, steps: tuple[str, ...], again: Collection[int]
) -> Iterator[_Marked]:
    with_key_points = set(
        Cell.objects.filter(dataset=dataset, key_points__isnull=False).values_list("pk", flat=True)
    )
    rows = (
        CellArgument.objects.filter(cell__dataset=dataset)
        .annotate(matched=Count("matches", filter=Q(matches__is_match=True)))
        .order_by()
        .values_list("pk", "cell_id", "cell__split", "text", "left_out", "matched")
    )
    for pk, cell, split, text, stored, matched in rows.iterator(PIECE):
        key_points = matched if cell in with_key_points else None
        reason = first_failed(text, key_points, steps, is_again=pk in again)
        yield _Marked(pk, cell, split, text, stored, reason)


def _halved(dataset: Dataset, marked: list[_Marked], half: Half) -> Iterator[_Marked]:
    """Yield the arguments, marking the included arguments of the other half as excluded."""
    cells = {cell.pk: cell for cell in dataset.cells.all()}
    points: dict[int, list[str]] = defaultdict(list)
    matches = KeyPointMatch.objects.filter(argument__cell__dataset=dataset, is_match=True)
    for argument, text in matches.values_list("argument", "key_point__text"):
        points[argument].append(text)

    def group(row: _Marked) -> str:
        cell = cells[row.cell]
        return group_name(cell.topic, cell.stance, points[row.pk])

    rows = [row for row in marked if row.reason == KEPT]
    drawn = half_of(((group(row), row.text) for row in rows), half)
    others = {row.pk for place, row in enumerate(rows) if place not in drawn}
    for statement in marked:
        yield statement._replace(reason=OTHER_HALF) if statement.pk in others else statement


class RecipeRefused(Exception):
    """A dataset does not support a step; the message gives the reason."""


class DatasetInUse(Exception):
    """A dataset is in use and cannot be changed; the message names the use."""


def is_frozen(dataset: Dataset) -> bool:
    """Return whether the arguments, key points and recipe can no longer change."""
    keys = [dataset.pk]
    return any((dataset.system_runs.count(), imported_sets(keys).count(), analyses(keys).count()))


@transaction.atomic
def change_recipe(
    *, dataset: Dataset, steps: Iterable[str], actor: User | None, half: Half | None = None
) -> Dataset:
    """Preprocess again with other steps; ``half`` describes the step ``half``.

    Raises DatasetInUse, RecipeRefused for steps that statements of comments do not support, and
    ValueError for an unknown step.
    """
    held = _held(dataset)
    if is_of_comments(held):
        _require_of_statements(steps, half)
    before = held.recipe
    prepare_dataset(held, steps=steps, half=half)
    after = held.recipe
    if any(after.get(name) != before.get(name) for name in ("steps", "half")):
        _record(held, actor, "dataset_prepared", steps=after["steps"])
    return held


@transaction.atomic
def delete_dataset(*, dataset: Dataset, actor: User | None) -> None:
    """Delete a dataset with its cells. Raises DatasetInUse."""
    held = _held(dataset)
    cells = held.cells.count()
    try:
        held.delete()
    except ProtectedError as error:
        raise DatasetInUse(in_use(held)) from error
    _record(held, actor, "dataset_deleted", cells=cells)


def in_use(dataset: Dataset) -> str:
    """Return the reason why a dataset cannot change."""
    return (
        _("“%s” has system runs or imported summaries and can no longer be changed.")
        % dataset.name
    )


def _require_of_statements(steps: Iterable[str], half: Half | None) -> None:
    if half or HALF in steps:
        raise RecipeRefused(_("A half cannot be drawn from statements in comments."))
    if not {*steps} <= {UNIQUE, SAYS_SOMETHING}:
        raise RecipeRefused(_("Only the step says_something applies to statements in comments."))


def _held(dataset: Dataset) -> Dataset:
    """Return the row, locked so that no run can start meanwhile. Raises DatasetInUse."""
    held = Dataset.objects.select_for_update().get(pk=dataset.pk)
    if is_frozen(held):
        raise DatasetInUse(in_use(held))
    return held


def _record(dataset: Dataset, actor: User | None, verb: str, **facts: Any) -> None:
    record(study=dataset.study, actor=actor, verb=verb, subject=dataset.name, **facts)


@dataclass(frozen=True, slots=True)
class RawComment:
    """A comment as read from a file; see `Comment`."""

    key: str
    text: str
    name: str
    attributes: Mapping[str, str]
    written_on: date | None
    source: str


@dataclass
class StatementCounts:
    """Counts of new and known distinct statements in comments, and the new texts."""

    new: int = 0
    known: int = 0
    texts: list[str] = field(default_factory=list)


@dataclass
class CellBook:
    """Adds comments to one cell and counts the additions.

    Nothing is written for an unsaved cell. ``fresh`` contains the hashes of statements that a dry
    run would have written.
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
        if self.cell.pk is None:
            return {}
        comments = Comment.objects.filter(cell=self.cell, key__in=list(keys)).order_by()
        return {comment.key: comment for comment in comments}

    def add(self, raw: Sequence[RawComment], *, write: bool) -> StatementCounts:
        """Add new comments with their statements. The caller must open the transaction."""
        split = [statements(comment.text) for comment in raw]
        self.comments += len(raw)
        self.statements += sum(map(len, split))
        arguments, added = self._arguments(split, write=write)
        if write and raw:
            self._write(raw, split, arguments)
        return added

    def link(self, comment: Comment) -> None:
        split = [statements(comment.text)]
        arguments, _added = self._arguments(split, write=True)
        _link([comment.pk], split, arguments)

    def _arguments(
        self, split: Sequence[Sequence[str]], *, write: bool
    ) -> tuple[dict[str, int], StatementCounts]:
        """Return the argument keys of statements by text, creating missing arguments."""
        texts = {text: text_key(text) for statements in split for text in statements}
        known = self._known(texts.values())
        new = [text for text, key in texts.items() if key not in known]
        if not write:
            new = [text for text in new if bytes.fromhex(texts[text]) not in self.fresh]
            self.fresh.update(bytes.fromhex(texts[text]) for text in new)
        reasons = [first_failed(text, None, self.steps) for text in new]
        self.different += len(new)
        self.saying += reasons.count(KEPT)
        valid_texts = [text for text, reason in zip(new, reasons, strict=True) if reason == KEPT]
        added = StatementCounts(len(new), len(texts) - len(new), valid_texts)
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
        matches: dict[str, int] = {}
        wanted = list(keys)
        rows = CellArgument.objects.filter(cell=self.cell).order_by()
        for start in range(0, len(wanted), PIECE):
            piece = rows.filter(sha256__in=wanted[start : start + PIECE])
            matches |= dict(piece.values_list("sha256", "pk"))
        return matches

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
                (uuid4(), number, *(getattr(comment, name) for name in RawComment.__slots__))
                for number, comment in zip(numbers, raw, strict=True)
            ),
        )
        rows = Comment.objects.filter(cell=self.cell, key__in=[comment.key for comment in raw])
        keys = dict(rows.order_by().values_list("key", "pk"))
        _link([keys[comment.key] for comment in raw], split, arguments)

    def _numbers(self, model: type, count: int) -> range:
        """Return the next free positions in the cell."""
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
    """Replace a comment's text, attributes and date; see `drop_unsaid` for its old statements."""
    is_other_text = stored.text != raw.text
    stored.text, stored.attributes = raw.text, dict(raw.attributes)
    stored.written_on, stored.source = raw.written_on, raw.source
    stored.save(update_fields=["text", "attributes", "written_on", "source"])
    if is_other_text:
        stored.statements.all().delete()
        NearDuplicateGroup.objects.filter(members__comment=stored).delete()
        Cell.objects.filter(pk=stored.cell_id).update(compared_until=None)
        book.link(stored)


def drop_unsaid(dataset: Dataset) -> None:
    """Delete statements that no comment contains; only allowed while the dataset is not in use."""
    CellArgument.objects.filter(cell__dataset=dataset, said_in__isnull=True).delete()


def count_comments(dataset: Dataset, *, attributes: Iterable[str] = (), group: str = "") -> None:
    """Store the numbers of comments and statements, and the names of the other columns.

    The comments and statements themselves do not change.
    """
    rows = CellArgument.objects.filter(cell__dataset=dataset).order_by()
    reasons = dict(rows.values_list("left_out").annotate(n=Count("pk")))
    total = CommentStatement.objects.filter(comment__cell__dataset=dataset).count()
    repeats = total - sum(reasons.values())
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
