"""The three kinds of files with arguments, as lines of an import."""

from collections.abc import Iterator

from django.utils.translation import gettext as _

from argsum.datasets.methods.argkp_files import read_argkp as read_archive
from argsum.datasets.methods.argument_files import (
    ArgumentFile,
    read_argument_list,
    read_argument_pairs,
)
from cqa_site.files.actions.rows import Line, Note, Source, rejected

from .entries import CellEntry, asked_half, dataset_name, recipe_of


def read_argkp(source: Source) -> Iterator[Line]:
    """Arguments, key points and labels from an archive; a remark names the member."""
    found = read_archive(source.path, name=source.name)
    yield from _lines(source, found, has_members=True)


def read_pairs(source: Source) -> Iterator[Line]:
    """One row per argument and key point; without a label column each is a match."""
    found = read_argument_pairs(source.path, name=source.name)
    if not found.has_label:
        yield from _matches_only(found)
    yield from _lines(source, found)


def _matches_only(found: ArgumentFile) -> Iterator[Note]:
    yield Note(
        _(
            "The file has no label column: every row is taken as a match, and pairs that are not "
            "in it as undecided."
        )
    )
    if found.unread:
        columns = ", ".join(found.unread)
        yield Note(_("Not read: %s. If one of these is the label, call it label.") % columns)


def read_list(source: Source) -> Iterator[Line]:
    """One row per argument."""
    yield from _lines(source, read_argument_list(source.path, name=source.name))


def _lines(source: Source, found: ArgumentFile, *, has_members: bool = False) -> Iterator[Line]:
    for problem in found.problems:
        yield rejected(problem, place=problem.file if has_members else "", of="arguments")
    name = dataset_name(source.options, source.name)
    recipe, half = recipe_of(source.options), asked_half(source.options)
    for cell in found.cells:
        # A half is a split of its own where the file has none.
        if half and not cell.split:
            cell.split = half.part
        yield CellEntry(
            row=cell.arguments[0].row,
            dataset=name,
            source=source.name,
            cell=cell,
            place=f"arguments_{cell.split}" if has_members else "",
            recipe=recipe,
            half=half,
        )
