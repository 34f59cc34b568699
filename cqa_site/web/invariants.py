"""What must always hold in the database; every app says how to check its part."""

from collections.abc import Callable, Iterator

from django.utils.module_loading import import_string

_CHECKS: list[str] = []


def register(path: str) -> None:
    """Make ``function() -> iterator of sentences`` known by its dotted path.

    It yields one sentence for every broken invariant, and nothing when all is well.
    """
    if path not in _CHECKS:
        _CHECKS.append(path)


def find_violations() -> Iterator[str]:
    """Every broken invariant of every app."""
    for path in _CHECKS:
        check: Callable[[], Iterator[str]] = import_string(path)
        yield from check()
