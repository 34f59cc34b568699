"""What can be seen of a file before anybody has said what it is, and small files to try."""

import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.functional import Promise

from cqa_site.tabular import write_csv

_CRITERION = re.compile(r"c\d{1,2}")
# So many columns of criteria make a table of points.
FEWEST_CRITERIA = 3


@dataclass(frozen=True)
class Look:
    """The beginning of a file.

    Attributes
    ----------
    kind
        ``csv``, ``tsv``, ``json``, ``jsonl``, ``xlsx``, ``lines`` or ``zip``; empty where it is
        none of them.
    columns, first
        Headers or keys, and the first record by them; empty where the file is no table.
    keys
        Of a JSON file that is one object and no list.
    members
        Names of the files in an archive.
    trouble
        Why nothing can be seen.
    """

    kind: str = ""
    columns: tuple[str, ...] = ()
    first: Mapping[str, Any] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    trouble: str = ""

    @property
    def bare(self) -> frozenset[str]:
        """Columns in lower case, with nothing but letters and digits."""
        return frozenset(re.sub(r"[^a-z0-9]", "", name.lower()) for name in self.columns)

    @property
    def has_points(self) -> bool:
        """Whether there are columns C1, C2, … of a rubric."""
        found = [name for name in self.bare if _CRITERION.fullmatch(name)]
        return len(found) >= FEWEST_CRITERIA

    def has(self, *columns: str) -> bool:
        """Whether all of these columns are there, exactly so called."""
        return set(columns) <= set(self.columns)


@dataclass(frozen=True)
class Sample:
    """A small invented file of a format.

    ``options`` is what the format would ask; ``after`` names the kind of file whose sample has to
    be imported before.
    """

    name: str
    make: Callable[[], bytes]
    options: Mapping[str, Any] = field(default_factory=dict)
    after: str = ""
    # What a study may want to find out with such a file: keys of paths.
    goals: tuple[str, ...] = ()


Fits = Callable[[Look], str | Promise]


def nothing_fits(_look: Look) -> str:
    """Of a format that is never recognised by its content."""
    return ""


def csv_of(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, delimiter: str = ","
) -> bytes:
    """A table as CSV, exactly as given."""
    target = io.BytesIO()
    write_csv(target, columns, rows, delimiter=delimiter, for_spreadsheets=False)
    return target.getvalue()


def json_of(content: Any) -> bytes:
    """Any content as JSON that people can read."""
    return json.dumps(content, indent=1, ensure_ascii=False).encode()
