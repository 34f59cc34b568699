"""What people said about texts that are nearly those of the study."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction

from cqa_site.files.models import ImportFile
from cqa_site.people.models import User

from .files import BY_ROW, FOR_ALL, choose_mapping

SAME, OTHER = "same", "other"


class NoSuchMatch(Exception):
    """The file has no near match in one of the rows."""


def decided(
    options: Mapping[str, Any], row: int, alike: Mapping[str, int]
) -> tuple[str, int | None]:
    """What was said about a row, and the key of what it is, if that was named.

    A word on a text that is none of ``alike`` (id → key) any more counts as none.
    """
    said = (options.get(BY_ROW) or {}).get(str(row), "")
    if said in alike:
        return SAME, alike[said]
    if said == OTHER:
        return OTHER, None
    word = options.get(FOR_ALL) or ""
    return (word if word in (SAME, OTHER) else ""), None


@transaction.atomic
def decide_matches(
    *,
    import_file: ImportFile,
    decision: str,
    rows: Iterable[int] | None = None,
    actor: User | None,
) -> None:
    """Say that near matches are the same or something else, then look at the file again.

    Without ``rows`` it is said of all. Raises NoSuchMatch for a row without one, and
    NotInThisState.
    """
    found = import_file.matches.all()
    if rows is None:
        chosen = list(found)
    else:
        wanted = set(rows)
        chosen = list(found.filter(row__in=wanted))
        if not chosen or {each.row for each in chosen} != wanted:
            raise NoSuchMatch
    ids = {each.row: str(each.known) for each in chosen}
    said = {str(row): known if decision == SAME else OTHER for row, known in ids.items()}
    kept = import_file.options.get(BY_ROW) or {}
    options = import_file.options | {BY_ROW: kept | said}
    choose_mapping(import_file=import_file, options=options, actor=actor)
