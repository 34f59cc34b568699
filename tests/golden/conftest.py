"""The released data is read once: all tests of a module run in one process."""

import pytest


def pytest_itemcollected(item: pytest.Item) -> None:
    """Keep modules together, except under a group of their own."""
    if item.get_closest_marker("xdist_group") is None:
        item.add_marker(pytest.mark.xdist_group(item.nodeid.split("::")[0]))
