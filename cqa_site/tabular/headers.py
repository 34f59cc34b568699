"""Column names from a header row: every column gets a name, and only one."""

from collections.abc import Sequence


def unique_headers(cells: Sequence[object]) -> list[str]:
    """Name the columns so that repeated and empty headers stay visible.

    Parameters
    ----------
    cells : sequence
        The header row; None and blank cells are allowed.

    Returns
    -------
    list of str
        Outer white space removed, as many names as cells, all different.

    Examples
    --------
    >>> unique_headers(["Label", "Label", "", "Label (2)"])
    ['Label', 'Label (3)', 'Column 3', 'Label (2)']
    """
    wanted = [_name(cell, place) for place, cell in enumerate(cells, start=1)]
    taken = set(wanted)
    seen: set[str] = set()
    result = []
    for name in wanted:
        free = name if name not in seen else _free_name(name, taken)
        seen.add(free)
        taken.add(free)
        result.append(free)
    return result


def _name(cell: object, place: int) -> str:
    text = "" if cell is None else str(cell).strip()
    return text or f"Column {place}"


def _free_name(name: str, taken: set[str]) -> str:
    number = 2
    while f"{name} ({number})" in taken:
        number += 1
    return f"{name} ({number})"
