"""Worlds that are built once for a test file, of which every test gets a copy."""

import pickle
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from inspect import Parameter, Signature
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


class SharedStudies:
    """Studies with everything in them, built once for folders that run after one another.

    `close` rolls their transaction back; the next use builds them again.
    """

    def __init__(self, names: Iterable[str], blocker: Any, folder: Any) -> None:
        self._names, self._blocker, self.folder = names, blocker, folder
        self._open = ExitStack()
        self._built: list[BuiltWorld] = []

    def copies(self) -> tuple[Any, ...]:
        """All of them, as they were built."""
        if not self._built:
            self._build()
        return tuple(world.copy() for world in self._built)

    def _build(self) -> None:
        from django.db import transaction
        from django.test import override_settings

        from tests.everything import make_everything

        self._open.enter_context(self._blocker.unblock())
        self._open.enter_context(transaction.atomic())
        self._open.callback(transaction.set_rollback, True)
        with override_settings(MEDIA_ROOT=self.folder):
            self._built = [BuiltWorld(make_everything(name)) for name in self._names]

    def close(self) -> None:
        """Take them back."""
        self._built = []
        self._open.close()


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


def parts_of(world: str, *names: str) -> list[Any]:
    """Fixtures that are attributes of another: ``study, people = parts_of("lab", ...)``."""

    def part(name: str) -> Any:
        def given(**worlds):
            return getattr(worlds[world], name)

        # What pytest reads the name of the world from.
        wanted = Parameter(world, Parameter.POSITIONAL_OR_KEYWORD)
        given.__signature__ = Signature([wanted])
        return pytest.fixture(given)

    return [part(name) for name in names]


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
