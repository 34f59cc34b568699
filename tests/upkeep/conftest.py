"""What an examination finds, lines of the log as a machine reads them, fresh figures."""

import io
import json
import logging

import pytest

from cqa_site.upkeep.doctor import examinations
from cqa_site.upkeep.doctor.examining import EXAMINATIONS, look_at
from cqa_site.upkeep.watching import figures, views
from cqa_site.web.logging import SECURITY, JsonLines

assert examinations  # they register themselves


class Lines:
    """What was written, line by line."""

    def __init__(self) -> None:
        self.stream = io.StringIO()

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def all(self) -> list[dict]:
        return [json.loads(line) for line in self.text.splitlines()]

    def of(self, logger: str) -> list[dict]:
        return [line for line in self.all if line["logger"] == logger]

    @property
    def events(self) -> list[str]:
        return [line["message"] for line in self.of(SECURITY)]


@pytest.fixture
def lines():
    """Every line from INFO on, as production writes it."""
    found, root = Lines(), logging.getLogger()
    handler = logging.StreamHandler(found.stream)
    handler.setFormatter(JsonLines())
    levels = {each: each.level for each in (root, logging.getLogger("django"))}
    root.addHandler(handler)
    for each in levels:
        each.setLevel(logging.INFO)
    yield found
    root.removeHandler(handler)
    for each, level in levels.items():
        each.setLevel(level)


@pytest.fixture
def fresh():
    """Nothing is remembered of an earlier look at the figures."""
    views._scrape.cache_clear()
    figures._ENDED.clear()


@pytest.fixture
def finds():
    """A function from the key of an examination to what it finds now."""
    return lambda key: look_at(EXAMINATIONS[key])
