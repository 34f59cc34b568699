"""Worlds that are built once for a test file, of which every test gets a copy."""

import pickle
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tests.lengths import mostly


class BuiltWorld:
    """Rows that are built once, as bytes: reading these is quicker than a deep copy."""

    def __init__(self, world: Any) -> None:
        self._bytes = pickle.dumps(world)

    def copy(self) -> Any:
        """The rows as they were built, for one test."""
        return pickle.loads(self._bytes)


def built_once(make: Callable[[], Any]) -> Any:
    """A fixture that gives each test its own copy of what ``make`` builds once for the file.

    ``lab = built_once(Lab)`` in a test file is all it takes. The world must pickle: rows and
    classes of modules, no test clients. Worlds of one file stand in one database.
    """

    @pytest.fixture
    def copied(built_worlds, db):
        return built_worlds[make].copy()

    copied.make_world = make
    return copied


def built_of(make: Callable[[str], Any], kinds: Iterable[str], *short: str) -> tuple[Any, Any]:
    """Two fixtures: a world of each kind, built once for the file, and a test's own copy of it.

    ``built, world = built_of(World, KINDS, "label", "score")``; `make test` only builds the kinds
    named last, or all if there are none.
    """

    @pytest.fixture(scope="module", params=mostly(kinds, *(short or kinds)))
    def built(request, build_once):
        return build_once(make, request.param)

    @pytest.fixture
    def copied(built, db):
        return built.copy()

    return built, copied
