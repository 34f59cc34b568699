"""Which cases of a table `make test` runs; `make test-all` runs all of them."""

import pytest


def mostly(kinds, *short):
    """All kinds of work; `make test` runs only ``short``, which use the mechanism most."""
    return [
        each if each in short else pytest.param(each, marks=pytest.mark.long) for each in kinds
    ]


def first(most, cases):
    """All cases; `make test` runs only the first ones, each of which fails in its own way."""
    rows = [each if isinstance(each, tuple) else (each,) for each in cases]
    return [
        pytest.param(*row, marks=() if at < most else pytest.mark.long)
        for at, row in enumerate(rows)
    ]


def of_kinds(kinds, *short):
    """Parametrize what all kinds share; `make test` runs some, and `built` makes a world."""
    return pytest.mark.parametrize("built", mostly(kinds, *short), indirect=True)
