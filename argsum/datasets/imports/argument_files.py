"""Read files of arguments, recognize their formats, and provide samples."""

import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.db.models import Max
from django.utils.translation import gettext as _, gettext_lazy as lazy

from argsum.datasets.actions import is_frozen
from argsum.datasets.methods.argument_cells import RawCell, named_columns
from argsum.datasets.methods.argument_files import (
    ARGKP_PARTS,
    ArgumentFile,
    is_wanted,
    read_argkp as read_archive,
    read_argument_list,
    read_argument_pairs,
)
from argsum.datasets.methods.preprocessing import (
    HALF,
    LARGEST_SEED,
    ONE_KEY_POINT,
    ONE_ROW,
    ONE_SENTENCE,
    PARTS,
    PUBLISHED_SENTENCE,
    READ,
    SAYS_SOMETHING,
    UNIQUE,
    Half,
)
from argsum.datasets.models import Cell, Dataset
from argsum.datasets.reports.comments import is_of_comments
from cqa_site.files.actions.imports import (
    ImportEntry,
    ImportRefused,
    ImportSource,
    Line,
    Note,
    Reconciliation,
    named_by,
    rejected,
)
from cqa_site.files.format_parts import Look, Sample, csv_of
from cqa_site.people.models import Study
from cqa_site.tabular import printable_name


def find_dataset(study: Study, name: str, *, lock: bool) -> Dataset | None:
    """Return the dataset with this name, or None; ``lock`` locks it for the transaction."""
    rows = Dataset.objects.filter(study=study, name=name)
    return (rows.select_for_update() if lock else rows).first()


def existing_dataset(study: Study, name: str, *, lock: bool = False) -> Dataset:
    """Return the dataset with this name. Raises ImportRefused if it does not exist."""
    if dataset := find_dataset(study, name, lock=lock):
        return dataset
    raise ImportRefused(_("The study has no dataset named “%s”.") % name)


class CellReconciliation(Reconciliation):
    """Cell-by-cell comparison of one file that creates or extends a dataset.

    A subclass sets the recipe of a new dataset. It also either sets the error for a dataset with
    other content, or accepts any content.
    """

    new_recipe: Mapping[str, Any] = {}
    takes_any = False
    other_content: Any = lazy("“%s” contains comments. Choose another name.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.dataset: Dataset | None = None
        self.is_new = self.is_frozen = False
        self._last_position = 0

    def open(self, name: str, source: str) -> Dataset:
        """Return the dataset. Raises ImportRefused if it has other content."""
        if self.dataset is not None:
            return self.dataset
        dataset = find_dataset(self.study, name, lock=self.write)
        self.is_new = dataset is None
        if dataset is None:
            dataset = Dataset(study=self.study, name=name, source=source, created_by=self.actor)
            dataset.recipe = dict(self.new_recipe)
            if self.write:
                dataset.save()
        elif not self.takes_any and is_of_comments(dataset) != bool(self.new_recipe):
            raise ImportRefused(self.other_content % dataset.name)
        else:
            self.is_frozen = not self.takes_any and is_frozen(dataset)
            self._last_position = dataset.cells.aggregate(last=Max("position"))["last"] or 0
        self.dataset = dataset
        return dataset

    def new_cell(self, topic: str, stance: int = 0, split: str = "") -> Cell:
        """Return a new last cell; it is saved only if the import writes."""
        self._last_position += 1
        about: dict[str, Any] = {"topic": topic, "stance": stance, "split": split}
        cell = Cell(dataset=self.dataset, position=self._last_position, **about)
        if self.write:
            cell.save()
        return cell


CELLS = "cells"
LONGEST_NAME = 120
PUBLISHED_RECIPE = "published"


@dataclass(frozen=True, slots=True)
class CellEntry(ImportEntry):
    """One topic and stance with all its data from the file."""

    is_row: ClassVar[bool] = False
    makes: ClassVar[str] = CELLS

    dataset: str
    source: str
    cell: RawCell
    # The member file that remarks refer to if the file is an archive.
    place: str = ""
    # The requested recipe of a new dataset.
    recipe: str = ""
    half: Half | None = None


def dataset_name(options: Mapping[str, Any], file_name: str) -> str:
    """Return the requested name, or the file name without its extension."""
    return named_by(options, "dataset", file_name, LONGEST_NAME)


def asked_half(source: ImportSource) -> Half | None:
    """Return the requested half with its seed. Raises ImportRefused."""
    part = source.choice("half", PARTS, _("The half must be test or dev, not “%s”."))
    seed = source.text("seed") or "1"
    if part and not (seed.isdecimal() and int(seed) <= LARGEST_SEED):
        raise ImportRefused(_("The seed “%s” is not a whole number of 0 or more.") % seed[:40])
    return Half(part, int(seed)) if part else None


def funnel_words(counts: Mapping[str, int]) -> str:
    words = {
        READ: _("%s read"),
        UNIQUE: _("%s unique"),
        ONE_KEY_POINT: _("%s with exactly one key point"),
        ONE_ROW: _("%s with a match in exactly one row"),
        ONE_SENTENCE: _("%s of one sentence"),
        PUBLISHED_SENTENCE: _("%s of one sentence"),
        SAYS_SOMETHING: _("%s with content"),
        HALF: _("%s in the chosen half"),
    }
    return " → ".join(words[step] % f"{number:,}" for step, number in counts.items())


def read_argkp(source: ImportSource) -> Iterator[Line]:
    """Read arguments, key points and labels from an archive; remarks name the member file."""
    return _lines(source, read_archive(source.path, name=source.name), has_members=True)


def read_pairs(source: ImportSource) -> Iterator[Line]:
    """Read one row per argument and key point. If no column has labels, every row is a match."""
    file = read_argument_pairs(source.path, name=source.name, **source.reading)
    if not file.has_label:
        yield from _matches_only(source.log.unread)
        source.log.unread.clear()
    yield from _lines(source, file)


def _matches_only(unread: Sequence[str]) -> Iterator[Note]:
    yield Note(
        _(
            "The file has no label column. Every row counts as a match; pairs not in the file "
            "are undecided."
        )
    )
    if unread:
        columns = ", ".join(printable_name(header, 40) for header in unread)
        yield Note(
            _("Columns not read: %s. If one of them is the label, rename it to label.") % columns
        )


def read_list(source: ImportSource) -> Iterator[Line]:
    """Read one row per argument."""
    return _lines(source, read_argument_list(source.path, name=source.name, **source.reading))


def _lines(
    source: ImportSource, file: ArgumentFile, *, has_members: bool = False
) -> Iterator[Line]:
    for problem in file.problems:
        yield rejected(problem, place=problem.file if has_members else "", of="arguments")
    name = dataset_name(source.options, source.name)
    refusal = _("There is no recipe named “%s”.")
    recipe, half = source.choice("recipe", [PUBLISHED_RECIPE], refusal), asked_half(source)
    for cell in file.cells:
        # If the file has no splits, each half becomes a split.
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


TOPIC, STANCE = "Every town should have a public garden", 1
# Enough statements per key point for every system to find the key point.
STATEMENTS = {
    "People meet there": (
        "A garden gives old people a place to sit and to meet.",
        "Neighbours get to know each other between the beds.",
        "People who live alone meet their neighbours in a garden.",
        "A garden is a place where neighbours meet and talk.",
        "Old and young people meet each other in a public garden.",
        "Neighbours who work in a garden together become friends.",
    ),
    "It is good for air and climate": (
        "Trees cool the streets around them in summer.",
        "Plants clean the air of the whole quarter.",
        "In hot summers trees and plants keep the air cool.",
        "Trees clean the air and give shade in summer.",
        "Green plants make the air of a town cleaner.",
        "The shade of trees keeps streets cool on hot days.",
    ),
    "Children learn there": (
        "Children learn there where vegetables come from.",
        "A school class can watch bees at work and learn about them.",
        "Children learn in a garden how vegetables grow.",
        "School children learn about plants and bees there.",
        "Children who grow vegetables learn what they eat.",
        "In a garden children learn how plants grow.",
    ),
}
KEY_POINTS = tuple(STATEMENTS)
ARGUMENTS = tuple(text for texts in STATEMENTS.values() for text in texts)
MATCHES = tuple(at for at, texts in enumerate(STATEMENTS.values()) for _text in texts)
DATASET = "Sample gardens"


def _argkp() -> bytes:
    about = (TOPIC, STANCE)
    tables = {
        "arguments": csv_of(
            ("arg_id", "argument", "topic", "stance"),
            [(f"a{place}", text, *about) for place, text in enumerate(ARGUMENTS)],
        ),
        "key_points": csv_of(
            ("key_point_id", "key_point", "topic", "stance"),
            [(f"k{place}", text, *about) for place, text in enumerate(KEY_POINTS)],
        ),
        "labels": csv_of(
            ("arg_id", "key_point_id", "label"),
            [
                (f"a{place}", f"k{point}", int(MATCHES[place] == point))
                for place in range(len(ARGUMENTS))
                for point in range(len(KEY_POINTS))
            ],
        ),
    }
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, table in tables.items():
            archive.writestr(zipfile.ZipInfo(f"{name}_dev.csv"), table)
    return target.getvalue()


def _pairs() -> bytes:
    rows = [
        (TOPIC, text, KEY_POINTS[MATCHES[place]], STANCE, 1)
        for place, text in enumerate(ARGUMENTS)
    ]
    return csv_of(("topic", "argument", "key_point", "stance", "label"), rows)


def _list() -> bytes:
    return csv_of(("topic", "argument", "stance"), [(TOPIC, text, STANCE) for text in ARGUMENTS])


GOALS = ("comments",)
SAMPLES = {
    "argkp": Sample("sample-key-points.zip", _argkp, {"dataset": DATASET}, goals=GOALS),
    "argument_pairs": Sample("sample-pairs.csv", _pairs, {"dataset": "Sample pairs"}, goals=GOALS),
    "argument_list": Sample("sample-list.csv", _list, {"dataset": "Sample list"}, goals=GOALS),
}


def fits_argkp(look: Look) -> str:
    """Return why the archive fits, or "" if it does not have the three files of a split."""
    names = [member.rsplit("/", 1)[-1].lower() for member in look.members]
    wanted = [name for name in names if is_wanted(name)]
    if not all(any(name.startswith(part) for name in wanted) for part in ARGKP_PARTS):
        return ""
    return _("the archive contains arguments_…, key_points_… and labels_…")


def fits_pairs(look: Look) -> str:
    """Return why the rows fit, or "" if they do not each have an argument and a key point."""
    if not named_columns(look.columns) >= {"topic", "argument", "key_point", "stance"}:
        return ""
    return _("each row has a topic, a stance, an argument and a key point")


def fits_list(look: Look) -> str:
    """Return why the rows fit, or "" if they are not arguments on topics with debate columns.

    Files with both qualities of ArgQ-30k belong to another format.
    """
    named = named_columns(look.columns)
    is_rated = {"wa", "macep"} <= look.bare
    if not named >= {"topic", "argument"} or "key_point" in named or is_rated:
        return ""
    if not named & {"stance", "set", "quality"}:
        return ""
    return _("each row has a topic and an argument, but no key point")
