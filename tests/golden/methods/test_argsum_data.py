"""Preprocessing of ArgKP-2021: the counts, and the very arguments that the paper kept."""

import pytest

from argsum.datasets.methods.argument_files import read_argkp, read_argument_pairs
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


def test_the_kept_arguments_are_those_of_the_processed_file(cells):
    processed = read_argument_pairs(FOLDER / "processed_with_quality.csv", name="processed.csv")
    assert processed.problems == []
    theirs = {
        (cell.split, cell.topic, cell.stance, cell.arguments[one].text, cell.key_points[two].text)
        for cell in processed.cells
        for one, two in cell.matches
    }
    ours = set()
    for cell in cells:
        kept = set(prepared(cell).kept)
        place = (cell.split, cell.topic, cell.stance)
        ours |= {
            (*place, cell.arguments[one].text, cell.key_points[two].text)
            for (one, two), is_match in cell.matches.items()
            if is_match and one in kept
        }
    assert len(ours) == 4252
    assert ours == theirs


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


DEBATE = FOLDER.parent / "debate"


@pytest.mark.parametrize(
    ("name", "rows", "arguments", "key_points"),
    [
        ("dataset_scores", 3228, 3180, 48),
        ("dataset_scores_processed", 2321, 2321, 48),
        ("dataset_scores_processed_test", 1165, 1165, 48),
    ],
)
def test_debate_has_pairs_without_labels(name, rows, arguments, key_points):
    found = read_argument_pairs(DEBATE / f"{name}.csv", name=name)
    assert (found.problems, found.has_label) == ([], False)
    texts = sum(len(cell.arguments) for cell in found.cells)
    assert (texts, texts + sum(cell.repeats for cell in found.cells)) == (arguments, rows)
    assert (len(found.cells), sum(len(cell.key_points) for cell in found.cells)) == (8, key_points)
    assert all(is_match for cell in found.cells for is_match in cell.matches.values())
