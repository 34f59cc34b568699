"""Preprocessing of ArgKP-2021: the counts, and the very arguments that the paper kept."""

from argsum.datasets.methods.argument_files import read_argkp
from argsum.datasets.methods.preprocessing import prepare, summed
from tests.golden.places import ARGSUM, needs

FOLDER = ARGSUM / "argkp2021"
pytestmark = needs(FOLDER)
# Read, unique, with exactly one key point, of one sentence.
COUNTS = {"train": [5583, 5583, 3778, 3287], "dev": [932, 932, 604, 537]}
COUNTS |= {"test": [723, 723, 454, 428]}
# Cells, key points and labelled pairs.
SIZES = {"train": (48, 207, 20635), "dev": (8, 36, 3458), "test": (6, 33, 3426)}


def test_the_splits_have_the_published_size_and_the_steps_leave_the_published_numbers():
    found = read_argkp(FOLDER, name="ArgKP-2021")
    assert found.problems == []
    for split, counts in COUNTS.items():
        cells = [cell for cell in found.cells if cell.split == split]
        points = sum(len(cell.key_points) for cell in cells)
        assert (len(cells), points, sum(len(cell.matches) for cell in cells)) == SIZES[split]
        texts = [[argument.text for argument in cell.arguments] for cell in cells]
        funnel = summed(
            prepare(own, cell.matched(), repeats=cell.repeats).counts
            for own, cell in zip(texts, cells, strict=True)
        )
        assert list(funnel.values()) == counts
    whole = [argument.text for cell in found.cells for argument in cell.arguments]
    assert sum("\n" in text for text in whole) == 1
