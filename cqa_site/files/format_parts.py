"""Parts of an import format: options, counted objects, previews and samples."""

import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from cqa_site.tabular import TableRow, write_csv
from cqa_site.tabular.layout import bare

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from rest_framework import serializers


Text = str | Promise

# Every registered format by name; `formats` fills it and defines its type.
REGISTERED: dict[str, Any] = {}


def known_kinds() -> list[tuple[str, Text]]:
    """Return the kinds of files that the apps can read, with their titles."""
    return [(name, file_format.title) for name, file_format in REGISTERED.items()]


# Options for readers, declared once for page, API and command


@dataclass(frozen=True, slots=True)
class Option:
    """A text of limited length, or one of ``choices``; if blank, the file reader sets the value.

    An option with a ``label`` appears on the upload page; ``title`` is its short name under a
    heading that gives the subject. If ``is_shared``, the option can apply to all files of a batch.
    ``tells`` is the type of the value that a format derives for each file (see `Format.told`).
    """

    name: str
    longest: int = 0
    choices: Sequence[tuple[int, Any]] = ()
    label: Any = ""
    title: Any = ""
    help_text: Any = ""
    hint: str = ""
    is_shared: bool = False
    tells: type | None = None
    # Name on the command line, if it differs from the name in the API.
    flag: str = ""

    def field(self, *, is_short: bool = False) -> forms.Field:
        about = {
            "label": self.title if is_short else self.label,
            "help_text": "" if is_short else self.help_text,
            "required": False,
        }
        if not self.choices:
            return forms.CharField(max_length=self.longest, **about)
        choices = [("", _("From the kind and name of the file")), *self.choices]
        return forms.TypedChoiceField(choices=choices, coerce=int, empty_value=None, **about)

    def input(self) -> "serializers.Field":
        from rest_framework import serializers

        if self.choices:
            return serializers.ChoiceField(
                self.choices, allow_null=True, required=False, default=None, help_text=self.hint
            )
        return serializers.CharField(
            max_length=self.longest, allow_blank=True, default="", help_text=self.hint
        )

    def add_to(self, parser: "ArgumentParser") -> None:
        """Add the option to a command-line parser."""
        flag = f"--{self.flag or self.name}"
        about: dict[str, Any] = {"dest": self.name, "help": self.hint}
        if self.choices:
            values = [value for value, _name in self.choices]
            parser.add_argument(flag, type=int, choices=values, **about)
        else:
            parser.add_argument(flag, default="", metavar=flag[2:].upper(), **about)

    def output(self) -> "serializers.Field":
        """Return the option as an output field of the API, which is null if there is no value."""
        from rest_framework import serializers

        fields: dict[type | None, type[serializers.Field]] = {
            int: serializers.IntegerField,
            UUID: serializers.UUIDField,
        }
        field = fields.get(self.tells, serializers.CharField)
        about: dict[str, Any] = {"source": f"told.{self.name}", "help_text": self.hint}
        return field(allow_null=True, default=None, **about)


OPTIONS: dict[str, Option] = {}


def register_options(*options: Option) -> None:
    """Register options; several apps may register the same option."""
    OPTIONS.update({option.name: option for option in options})


def asked_with_uploads(*, of_batches: bool = False) -> list[Option]:
    """Return the options on the upload page, or only those that apply to many files at once."""
    return [
        option
        for option in OPTIONS.values()
        if option.label and (option.is_shared or not of_batches)
    ]


class OptionsForm(forms.Form):
    """Form for some options, with short names if a heading gives the subject."""

    def __init__(
        self, *args: Any, asked: Iterable[Option], is_short: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        for option in asked:
            self.fields[option.name] = option.field(is_short=is_short)


RESULTS = ("new", "same", "changed", "rejected")


@dataclass(frozen=True, slots=True)
class ObjectCount:
    """A kind of object that is counted during imports.

    ``new`` is a text about the number of new objects (``shown``), or empty if they need no
    mention; ``column`` is their heading in the list of files. If ``is_shared``, several files may
    contain the same object.
    """

    name: str
    title: Any
    new: Any = ""
    column: Any = ""
    is_shared: bool = False


COUNTED: dict[str, ObjectCount] = {}


def register_counted(*kinds: ObjectCount) -> None:
    """Register kinds of objects in the order in which tables show them."""
    COUNTED.update({kind.name: kind for kind in kinds})


def empty_counts() -> dict[str, dict[str, int]]:
    """Return zeros for every kind of object and every result."""
    return {name: dict.fromkeys(RESULTS, 0) for name in COUNTED}


# Preview of a file before a person has chosen its kind, and sample files

_CRITERION = re.compile(r"c\d{1,2}")
# A table with this many criterion columns contains points.
FEWEST_CRITERIA = 3


@dataclass(frozen=True)
class Look:
    """The beginning of a file.

    Attributes
    ----------
    kind
        ``csv``, ``tsv``, ``json``, ``jsonl``, ``xlsx``, ``lines`` or ``zip``; empty for other
        kinds.
    columns, rows, titles
        Headers or keys, the first records, and the full questions; empty if the file is not a
        table.
    keys
        Keys of a JSON file that is a single object rather than a list.
    members
        Names of the files in an archive.
    trouble
        Reason why the file cannot be shown, or can only be shown with ``reading``.
    reading
        Options used for this preview: the sheet or the encoding.
    """

    kind: str = ""
    columns: tuple[str, ...] = ()
    rows: Sequence[TableRow] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    trouble: str = ""
    reading: Mapping[str, Any] = field(default_factory=dict)

    @property
    def first(self) -> Mapping[str, Any]:
        """Values of the first record."""
        return self.rows[0].values if self.rows else {}

    @property
    def bare(self) -> frozenset[str]:
        """Column names in lower case, reduced to letters and digits."""
        return frozenset(map(bare, self.columns))

    @property
    def has_points(self) -> bool:
        """Whether there are rubric columns C1, C2, …."""
        names = [name for name in self.bare if _CRITERION.fullmatch(name)]
        return len(names) >= FEWEST_CRITERIA

    def has(self, *columns: str) -> bool:
        """Return whether all these columns exist under exactly these names."""
        return set(columns) <= set(self.columns)


@dataclass(frozen=True)
class Sample:
    """A small invented file of a format.

    ``options`` are the answers to the format's questions; ``after`` names the kind of file whose
    sample must be imported first.
    """

    name: str
    make: Callable[[], bytes]
    options: Mapping[str, Any] = field(default_factory=dict)
    after: str = ""
    # Goals of a study for which such a file is useful, as keys of paths.
    goals: tuple[str, ...] = ()


Fits = Callable[[Look], str | Promise]


def nothing_fits(_look: Look) -> str:
    """Return an empty reason, for a format that is never recognized by its content."""
    return ""


def csv_of(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, delimiter: str = ","
) -> bytes:
    """Return a table as CSV, with values unchanged."""
    target = io.BytesIO()
    write_csv(target, columns, rows, delimiter=delimiter, for_spreadsheets=False)
    return target.getvalue()


def json_of(content: Any) -> bytes:
    return json.dumps(content, indent=1, ensure_ascii=False).encode()
