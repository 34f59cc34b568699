"""Preprocessing of ArgKP-2021: the counts, and the very arguments that the paper kept."""

import pytest

from argsum.datasets.methods.argument_files import read_argkp
from argsum.datasets.methods.preprocessing import prepare, summed
from tests.golden.places import ARGSUM, needs

FOLDER = ARGSUM / "argkp2021"
pytestmark = needs(FOLDER)
SPLITS = ("train", "dev", "test")
COUNTS = {
    "train": [5583, 5583, 3778, 3287],
    "dev": [932, 932, 604, 537],
    "test": [723, 723, 454, 428],
}


@pytest.fixture(scope="module")
def cells():
    found = read_argkp(FOLDER, name="ArgKP-2021")
    assert found.problems == []
    return found.cells


def prepared(cell):
    texts = [argument.text for argument in cell.arguments]
    return prepare(texts, cell.matched(), repeats=cell.repeats)


@pytest.mark.parametrize("split", SPLITS)
def test_the_steps_leave_the_published_numbers(cells, split):
    funnel = summed(prepared(cell).counts for cell in cells if cell.split == split)
    assert list(funnel.values()) == COUNTS[split]


def test_the_splits_have_the_published_size(cells):
    sizes = {
        split: (
            len([cell for cell in cells if cell.split == split]),
            sum(len(cell.key_points) for cell in cells if cell.split == split),
            sum(len(cell.matches) for cell in cells if cell.split == split),
        )
        for split in SPLITS
    }
    assert sizes == {"train": (48, 207, 20635), "dev": (8, 36, 3458), "test": (6, 33, 3426)}
    texts = [argument.text for cell in cells for argument in cell.arguments]
    assert sum("\n" in text for text in texts) == 1
