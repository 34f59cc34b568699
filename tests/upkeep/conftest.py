"""What an examination finds, by its name."""

import pytest

from cqa_site.upkeep.doctor import examinations
from cqa_site.upkeep.doctor.examining import EXAMINATIONS, look_at

assert examinations  # they register themselves


@pytest.fixture
def finds():
    """A function from the key of an examination to what it finds now."""
    return lambda key: look_at(EXAMINATIONS[key])
