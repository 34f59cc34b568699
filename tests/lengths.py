"""Which cases of a table `make test` asks; all of them are asked by `make test-all`."""

import pytest


def mostly(kinds, *short):
    """All kinds of work, of which `make test` asks those that lean most on what is tested."""
    return [
        each if each in short else pytest.param(each, marks=pytest.mark.long) for each in kinds
    ]


def first(most, cases):
    """All cases, of which `make test` asks the first ones: each of them fails in its own way."""
    rows = [each if isinstance(each, tuple) else (each,) for each in cases]
    return [
        pytest.param(*row, marks=() if at < most else pytest.mark.long)
        for at, row in enumerate(rows)
    ]


def of_kinds(kinds, *short):
    """For tests of what all kinds of work share: `make test` asks some; `built` makes a world."""
    return pytest.mark.parametrize("built", mostly(kinds, *short), indirect=True)
