"""A file with the header of ArgQ-30k: qualities for arguments, a dataset, or training data."""

import pytest

from argsum.datasets.imports.formats import COLUMNS
from argsum.datasets.methods.argument_files import read_argument_list
from argsum.datasets.models import CellArgument
from argsum.scorers.actions.models import ScorerRefused
from argsum.scorers.actions.training_data import rated_in
from cqa_site.tabular import UnreadableFile
from tests.argsum.argument_files import csv_of
from tests.argsum.made_cells import TOPIC, make_dataset, make_system_run

pytestmark = pytest.mark.django_db
BUS, NURSES = (
    "A bus at night is safer than a dark street.",
    "Bakers must reach their work before dawn.",
)


def rated(*rows, columns=COLUMNS):
    """Rows of argument, set, WA and MACE-P."""
    return csv_of(
        columns, [(text, TOPIC, split, wa, mace, 1, 0.9) for text, split, wa, mace in rows]
    )


@pytest.fixture
def bring(tmp_path, study, command):
    make_dataset(study)
    CellArgument.objects.update(quality=None)

    def bring(content, **options):
        path = tmp_path / "arg_quality.csv"
        path.write_bytes(content)
        return command("import_qualities", path, **{"dataset": "Night buses"} | options)

    return bring


def qualities():
    rows = CellArgument.objects.filter(quality__isnull=False)
    return dict(rows.values_list("text", "quality"))


def test_qualities_go_to_arguments_by_topic_and_text(bring):
    content = rated(
        (BUS, "train", 0.75, 0.5),
        (f"  {NURSES.upper()}", "train", 0.5, 0.25),
        ("Nobody said this.", "train", 0.5, 0.5),
    )
    said = bring(content, dry_run=True)
    assert "The quality is read from WA, not from MACE-P." in said
    assert "1 row has an argument that is not in the dataset" in said
    bring(content)
    assert qualities() == {BUS: 0.75, NURSES: 0.5}


def test_the_other_quality_is_read_if_it_is_named(bring):
    content = rated((BUS, "", 0.75, 0.5))
    assert "has no quality column 'MACE'" in bring(content, quality="MACE")
    bring(content, quality="MACE-P")
    assert qualities() == {BUS: 0.5}
    assert "Differs; the stored value was kept: 0.5" in bring(content)
    bring(content, update_changed=True)
    assert qualities() == {BUS: 0.75}


def test_rows_that_do_not_fit_are_named_and_nothing_comes_in(bring, study):
    good = (BUS, "", 0.5, 0.5)
    for rows, reason in (
        ([(BUS, "", 7, 0.5)], "row 2, quality: '7' is not a number from 0 to 1"),
        ([("", "", 0.5, 0.5)], "row 2, argument: is not a text"),
        ([(BUS, "other", 0.5, 0.5)], "row 2, set: 'other' is not one of"),
        ([good, (BUS, "", 0.6, 0.5)], "row 3, quality: An earlier row gives the same argument"),
    ):
        assert reason in bring(rated(*rows))
    assert "no dataset named “Trams”" in bring(rated(good), dataset="Trams")
    # A dataset that was summarized keeps its qualities.
    make_system_run(study.argument_datasets.get())
    assert "can no longer be changed" in bring(rated(good))
    assert qualities() == {}


def test_the_same_file_is_a_list_of_arguments_or_what_a_scorer_learns_from(tmp_path):
    path = tmp_path / "rated.csv"
    path.write_bytes(rated((BUS, "dev", 0.75, 0.5)))
    (cell,) = read_argument_list(path, name="rated.csv").cells
    assert (cell.split, cell.stance, cell.arguments[0].quality) == ("dev", 1, 0.75)
    path.write_bytes(csv_of(("topic", "argument", "quality", "WA"), [("T", "A", 0.5, 0.5)]))
    with pytest.raises(UnreadableFile, match="two columns have the same meaning"):
        read_argument_list(path, name="rated.csv")
    path = path.rename(tmp_path / "arg_quality_rank.csv")
    path.write_bytes(rated((BUS, "train", 0.75, 0.5), (NURSES, "dev", 0.25, 0.5)))
    for place in (path, tmp_path):
        assert rated_in(place) == {"train": [(BUS, 0.75)], "dev": [(NURSES, 0.25)]}
    assert rated_in(path, column="MACE-P")["dev"] == [(NURSES, 0.5)]
    path.write_bytes(rated((BUS, "train", "x", 0.5)))
    with pytest.raises(ScorerRefused, match="'x' is not a number"):
        rated_in(path)
