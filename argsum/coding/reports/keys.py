"""Keys of requests: the subject of a request of a proposal or an assignment."""

from collections.abc import Sequence
from typing import NamedTuple

from cqa_site.runs.kinds import Subject


class ListKey(NamedTuple):
    """A request for a list of key points: step, number of its records, and where they are from.

    In step 0 ``sources`` are statements, afterwards lists, by primary key.
    """

    step: int
    records: int
    sources: tuple[int, ...]

    @classmethod
    def of(cls, ids: Sequence[int]) -> "ListKey":
        """Read the key from a request's row."""
        step, records, *sources = ids
        return cls(step, records, tuple(sources))

    @property
    def ids(self) -> tuple[int, ...]:
        """The key as a request's row stores it."""
        return (self.step, self.records, *self.sources)

    def subject(self, number: int) -> Subject:
        """Return the subject for the engine, the one of this number in its step."""
        return Subject(f"{self.step}-{number}", self.ids)


class CodingKey(NamedTuple):
    """A request for codes: attempt, and statements by primary key."""

    attempt: int
    statements: tuple[int, ...]

    @classmethod
    def of(cls, ids: Sequence[int]) -> "CodingKey":
        """Read the key from a request's row."""
        attempt, *statements = ids
        return cls(attempt, tuple(statements))

    @property
    def ids(self) -> tuple[int, ...]:
        """The key as a request's row stores it."""
        return (self.attempt, *self.statements)

    @property
    def subject(self) -> Subject:
        """Return the subject for the engine; its name is unique in a run."""
        return Subject(f"{self.attempt}-{self.statements[0]}", self.ids)
