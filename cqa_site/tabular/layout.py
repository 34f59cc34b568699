"""Layout of a table: the header, titles above it, and unique column names."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from .cells import as_moment, as_number, is_missing
from .shapes import Limits, Problem, ReadingLog, TableRow, UnreadableFile, counted, reject


def bare(cell: Any) -> str:
    """Return the letters and digits of a name in lower case.

    >>> bare("Object 1"), bare(None)
    ('object1', '')
    """
    return "".join(char for char in str(cell or "").lower() if char.isalnum())


def guess_by_name(headers: Sequence[str], known: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Map each field to the header that matches the first of its names, compared by `bare`.

    Each header is used once; of several matching headers, the first is used.

    >>> guess_by_name(["Object 1", "obj2", "note"], {"a": ["object1"], "b": ["object2", "obj2"]})
    {'a': 'Object 1', 'b': 'obj2'}
    """
    by_name = {bare(header): header for header in reversed(headers)}
    guess: dict[str, str] = {}
    for field, names in known.items():
        header = next((by_name[name] for name in names if name in by_name), None)
        if header is not None and header not in guess.values():
            guess[field] = header
    return guess


def unique_headers(cells: Sequence[object]) -> list[str]:
    """Return unique column names, in which repeated and empty headers stay visible.

    Parameters
    ----------
    cells : sequence
        The header row; None and blank cells are allowed.

    Returns
    -------
    list of str
        One name per cell, all different, without surrounding white space.

    Examples
    --------
    >>> unique_headers(["Label", "Label", "", "Label (2)"])
    ['Label', 'Label (3)', 'Column 3', 'Label (2)']
    """
    wanted = [_name(cell, place) for place, cell in enumerate(cells, start=1)]
    names = set(wanted)
    seen: set[str] = set()
    result = []
    for name in wanted:
        free = name if name not in seen else _free_name(name, names)
        seen.add(free)
        names.add(free)
        result.append(free)
    return result


def _name(cell: object, place: int) -> str:
    text = "" if cell is None else str(cell).strip()
    return text or f"Column {place}"


def _free_name(name: str, names: set[str]) -> str:
    number = 2
    while f"{name} ({number})" in names:
        number += 1
    return f"{name} ({number})"


def mapping_errors(
    columns: Collection[str],
    mapping: Mapping[str, str],
    *,
    known: Collection[str],
    required: Collection[str],
) -> list[str]:
    """Return the errors in a mapping of fields to columns, without final full stops."""
    wrong = [f"there is no field {field[:40]!a}" for field in mapping if field not in known]
    if missing := [field for field in required if field not in mapping]:
        wrong.append(f"choose a column for {', '.join(missing)}")
    wrong += [
        f"there is no column {column[:80]!a} for {field}"
        for field, column in mapping.items()
        if column not in columns
    ]
    if len(set(mapping.values())) < len(mapping):
        wrong.append("one column is chosen for two fields")
    return wrong


# Start of a table: the header, the rows above it, and further rows that belong to it
#
# Survey programs and people put a title or a line with the separator above the column names, or
# the full questions below the short names. These rows are not data.

Record = tuple[int, list[Any]]
# Number of records to examine before returning the first one.
BEGINNING = 100
_MOST_ABOVE = 30
_FEWEST_BELOW = 3
_LONGEST_NAME = 100
_TRUTH = ("true", "false", "wahr", "falsch", "vrai", "faux")
_ROW_NAMES = "Row name"
# Survey programs write {"ImportId":"QID1"} below every question.
_IMPORT_ID = re.compile(r'\s*\{"ImportId":')
# SurveyMonkey writes the kind of answer in the column below every question.
_ANSWER_KINDS = ("response", "openendedresponse")
_RESPONDENT = "respondentid"
# "Q00. What would you change?": short name and question in one heading.
_NAMED_QUESTION = re.compile(r"([A-Za-z]\w{0,40}(?:\[\w{1,40}\])*)\. (\S.*)", re.DOTALL)


@dataclass(frozen=True)
class FileLayout:
    """Layout of a file: position of the ``header`` record, and number of records ``below`` it."""

    header: int
    below: int
    columns: list[str]
    titles: dict[str, str]
    has_row_names: bool = False


def lay_out(
    records: Iterator[Record],
    *,
    name: str,
    limits: Limits,
    header_row: int | None,
    log: ReadingLog | None,
) -> tuple[FileLayout, int, Iterator[TableRow]]:
    """Find the header in the first records, and return the rows below it.

    Parameters
    ----------
    records : iterator of (number, cells)
        Every row of the file with its number.
    name : str
        Name of the file, for messages.
    limits : Limits
        Limits for rows and columns.
    header_row : int or None
        The number of the row with the names; everything below it is then data. If None, the
        header is detected.
    log : ReadingLog or None
        Collects unreadable rows and omissions.

    Returns
    -------
    layout, number, rows
        The number is the row number of the header.

    Raises
    ------
    UnreadableFile
        For a file without rows, with too many columns, or without the requested header row.
    """
    first = list(islice(records, BEGINNING))
    if not first:
        raise UnreadableFile(name, "holds no rows")
    layout = _layout_of(first, header_row, name)
    if len(layout.columns) > limits.columns:
        reason = f"has {len(layout.columns)} columns, more than {limits.columns}"
        raise UnreadableFile(name, reason)
    header = first[layout.header]
    if log is not None:
        log.notes += _left_out(layout, first)
    rest = chain(first[layout.header + layout.below + 1 :], records)
    return layout, header[0], _rows(rest, layout, header[1], name, limits, log)


def begins_below_title(first: Sequence[Record]) -> bool:
    """Return whether the table is preceded by lines that do not belong to it."""
    layout = _layout_of(first, None, "")
    return layout.header > 0 and len(layout.columns) > 1


def named_question(heading: str) -> tuple[str, str]:
    """Split a heading into short name and question; return ("", "") if either is missing.

    >>> named_question("Q00. What would you change?"), named_question("Comment")
    (('Q00', 'What would you change?'), ('', ''))
    """
    match = _NAMED_QUESTION.fullmatch(heading)
    return (match[1], match[2]) if match else ("", "")


def _layout_of(first: Sequence[Record], header_row: int | None, name: str) -> FileLayout:
    if header_row is None:
        place = _header_place(first)
        below = _rows_below(first[place:])
    else:
        places = [at for at, (number, _cells) in enumerate(first) if number == header_row]
        if not places:
            raise UnreadableFile(name, "this row cannot be the header", row=header_row)
        place, below = places[0], _marked_below(first[places[0] :])
    cells = list(first[place][1])
    data = [cells for _number, cells in first[place + below + 1 :]]
    width = _common_width(data) if data else 0
    is_narrow = len(cells) == width - 1 and all(map(_is_filled, cells))
    has_row_names = is_narrow and _are_named(data, width)
    if has_row_names:
        cells = [_ROW_NAMES, *cells]
    padded = [_extent(line) for line in data if len(line) <= len(cells)]
    end = max([_extent(cells), *padded])
    columns = unique_headers([*cells, *[None] * (end - len(cells))][:end])
    titles = _titles(columns, first[place + 1][1] if below else [])
    return FileLayout(place, below, columns, titles, has_row_names)


def _header_place(first: Sequence[Record]) -> int:
    """Return the position of the first row that is wide enough, or of a later, better header."""
    width = _common_width([cells for _number, cells in first])
    if width < 2:
        return 0
    rows = [cells for _number, cells in first]
    for place, cells in enumerate(rows[:_MOST_ABOVE]):
        if _has_kinds_below(rows[place:]):
            return place
        filled = _filled(cells)
        if filled < 2 or filled < width / 2 or (place and not _may_be_names(cells)):
            continue
        full = [at for at in range(place + 1, place + 4) if at < len(rows) and _filled(rows[at])]
        for later in full[:2] if filled < width else ():
            if _filled(rows[later]) >= width and _stand_apart(rows[later], rows[later + 1 :]):
                return later
        return place
    return 0


def _stand_apart(names: Sequence[Any], rows: Sequence[Sequence[Any]]) -> bool:
    """Return whether a row looks like names and, in some column, differs in type from the data."""
    if not _looks_like_names(names):
        return False
    for place, name in enumerate(names):
        column = [
            cells[place] for cells in rows if place < len(cells) and _is_filled(cells[place])
        ]
        if column and all(map(_is_typed, column)):
            return True
        if column and min(len(str(cell)) for cell in column) > 2 * len(str(name)):
            return True
    return False


def _rows_below(first: Sequence[Record]) -> int:
    """Return the number of rows below the header that belong to it."""
    if marked := _marked_below(first):
        return marked
    rows = [cells for _number, cells in first]
    below = 0
    while below < 2 and _is_second_header(rows[0], rows[below + 1 :]):
        below += 1
    return below


def _has_kinds_below(rows: Sequence[Sequence[Any]]) -> bool:
    """Return whether the second row gives the kind of answer for the first row's columns.

    The first row has gaps, because a question appears only above its first column.
    """
    if len(rows) < 2 or not all(rows[:2]):
        return False
    names, kinds = rows[0], rows[1]
    if bare(names[0]) != _RESPONDENT or _is_filled(kinds[0]):
        return False
    return any(bare(kind) in _ANSWER_KINDS for kind in kinds)


def _marked_below(first: Sequence[Record]) -> int:
    if _has_kinds_below([cells for _number, cells in first[:2]]):
        return 1
    for place, (_number, cells) in enumerate(first[1:4], start=1):
        marks = sum(isinstance(cell, str) and bool(_IMPORT_ID.match(cell)) for cell in cells)
        if marks and marks * 2 >= _filled(cells):
            return place
    return 0


def _is_second_header(names: Sequence[Any], rows: Sequence[Sequence[Any]]) -> bool:
    """Return whether the first row has words where all further rows have numbers or dates.

    This requires two such columns, or one if the words repeat the names. It is also enough if the
    first cell is empty and is filled in all further rows.
    """
    if len(rows) <= _FEWEST_BELOW:
        return False
    row, data = rows[0], rows[1:]
    apart = 0
    for place in range(len(row)):
        column = [cells[place] for cells in data if place < len(cells)]
        column = [cell for cell in column if not is_missing(cell)]
        if len(column) < _FEWEST_BELOW or is_missing(row[place]):
            continue
        if _is_typed(row[place]):
            return False
        apart += all(map(_is_typed, column))
    repeated = sum(
        bare(name) == bare(other) != "" for name, other in zip(names, row, strict=False)
    )
    is_headless = not _is_filled(row[0] if row else None) and _is_filled(names[0])
    is_headless = is_headless and all(cells and _is_filled(cells[0]) for cells in data)
    return apart > 1 or (apart > 0 and repeated * 2 >= _filled(row)) or is_headless


def _titles(columns: Sequence[str], below: Sequence[Any]) -> dict[str, str]:
    """Return the questions by column, from the row below the header or from combined headings."""
    pairs = zip(columns, below, strict=False)
    titles = {column: " ".join(str(cell).split()) for column, cell in pairs if _is_filled(cell)}
    if not titles:
        parted = {column: named_question(column)[1] for column in columns}
        named = {column: title for column, title in parted.items() if title}
        titles = named if len(named) > 1 and len(named) * 2 > len(columns) else {}
    return {column: title for column, title in titles.items() if title != column}


def _rows(
    records: Iterator[Record],
    layout: FileLayout,
    header: Sequence[Any],
    name: str,
    limits: Limits,
    log: ReadingLog | None,
) -> Iterator[TableRow]:
    columns, width = layout.columns, len(layout.columns)
    repeated: list[int] = []
    empty = 0
    for count, (number, cells) in enumerate(records, start=1):
        if count > limits.rows:
            raise UnreadableFile(name, f"has more than {limits.rows:,} rows", row=number)
        if len(cells) != width:
            if len(cells) > width and _extent(cells) <= width:
                cells = cells[:width]
            elif not _filled(cells):
                continue
            else:
                reject(log, Problem(name, number, None, _ragged(cells, columns)))
                continue
        if log is not None and width > 1 and not _filled(cells):
            empty += 1
            continue
        if log is not None and width > 1 and cells == header[:width]:
            repeated.append(number)
            continue
        if problem := too_long(cells, columns, name, number, limits):
            reject(log, problem)
            continue
        yield TableRow(number, dict(zip(columns, cells, strict=True)))
    if log is not None and empty:
        log.notes.append(f"{counted(empty, 'empty row', 'empty rows')} left out.")
    if log is not None and repeated:
        rows = counted(len(repeated), "row repeats", "rows repeat")
        log.notes.append(f"{rows} the header, first row {repeated[0]}: left out.")


def too_long(
    cells: Sequence[Any], columns: Sequence[str], name: str, number: int, limits: Limits
) -> Problem | None:
    """Return a problem if a cell's text is too long, or None."""
    for column, cell in zip(columns, cells, strict=True):
        if isinstance(cell, str) and len(cell) > limits.cell_chars:
            reason = f"this cell is longer than {limits.cell_chars:,} characters"
            return Problem(name, number, column[:80], reason)
    return None


def _ragged(cells: Sequence[Any], columns: Sequence[str]) -> str:
    return (
        f"this row has {counted(len(cells), 'cell', 'cells')} but the header has {len(columns)}; "
        "a separator or quotation mark inside a cell may be unquoted"
    )


def _left_out(layout: FileLayout, first: Sequence[Record]) -> Iterator[str]:
    number = first[layout.header][0]
    if layout.header:
        above = counted(layout.header, "row", "rows")
        yield f"The header is row {number}; {above} above it left out."
    if layout.below:
        below = counted(layout.below, "row", "rows")
        yield f"Below the header, {below} of questions or descriptions left out."
    if layout.has_row_names:
        yield f"Rows have one cell more than the header. The first column is “{_ROW_NAMES}”."


def _common_width(rows: Sequence[Sequence[Any]]) -> int:
    widths = Counter(width for cells in rows if (width := _extent(cells)))
    return max(widths, key=lambda width: (widths[width], width), default=0)


def _looks_like_names(cells: Sequence[Any]) -> bool:
    """Return whether the cells are different short texts without a gap."""
    names = cells[: _extent(cells)]
    return _may_be_names(names) and len(set(names)) == len(names) == _filled(names)


def _may_be_names(cells: Sequence[Any]) -> bool:
    """Return whether the filled cells are short texts, and neither numbers nor dates."""
    filled = [cell for cell in cells if _is_filled(cell)]
    short = [cell for cell in filled if isinstance(cell, str) and len(cell) <= _LONGEST_NAME]
    return len(short) == len(filled) and not any(map(_is_typed, short))


def _is_typed(cell: Any) -> bool:
    """Return whether a cell is a number, a date or a boolean; "no" may be a column name."""
    if isinstance(cell, bool) or (isinstance(cell, str) and cell.strip().lower() in _TRUTH):
        return True
    return any(_reads(read, cell) for read in (as_number, as_moment))


def _reads(read: Callable[[Any], object], cell: Any) -> bool:
    try:
        return read(cell) is not None
    except ValueError:
        return False


def _is_filled(cell: Any) -> bool:
    return cell is not None and not (isinstance(cell, str) and not cell.strip())


def _filled(cells: Sequence[Any]) -> int:
    return sum(map(_is_filled, cells))


def _extent(cells: Sequence[Any]) -> int:
    """Return the number of cells up to the last filled cell."""
    return next((at for at in range(len(cells), 0, -1) if _is_filled(cells[at - 1])), 0)


def _are_named(rows: Sequence[Sequence[Any]], width: int) -> bool:
    """Return whether nearly all rows have ``width`` cells and start with a unique name."""
    names = [str(cells[0]) for cells in rows if _extent(cells) == width and _is_filled(cells[0])]
    return 1 < len(names) == len(set(names)) and len(names) * 10 >= len(rows) * 9
