"""Counting rounds for researchers: what is drawn, what the pages and the file show."""

import csv
import io
import json

import pytest
from django.urls import reverse

from argsum.counting.actions import rounds as counting_rounds
from cqa_site.people.models import Rater
from tests.argsum.counting.made_counting import open_counting
from tests.argsum.made_cells import make_count, make_dataset, make_set

pytestmark = pytest.mark.django_db


def address(name, study, *ids):
    return reverse(name, args=[study.public_id, *ids])


def drawn(counting_round, field="pk"):
    return list(counting_round.items.values_list(f"summary_set__{field}", flat=True))


def draft(study, researcher, **fields):
    return open_counting(study, researcher, opens=False, **fields)


def test_one_set_of_every_system_and_cell(study, researcher):
    first, second = make_dataset(study).cells.all()
    for threshold in ("0.5", "0.6", "0.7"):
        make_set(first, system="Alpha", setting=f"threshold={threshold}", source=threshold)
    make_set(first, system="Beta")
    make_set(second, system="Beta")
    # Nobody judges sets without texts, results or references.
    make_set(first, system="Failed", state="no_result", source="f")
    make_set(first, system="Bare", source="b").summaries.all().delete()
    lonely = make_dataset(study, name="Lonely").cells.first()
    lonely.key_points.all().delete()
    make_set(lonely, system="Lonely")
    made = draft(study, researcher, per_cell="one")
    places = zip(drawn(made, "system"), drawn(made, "cell__position"), strict=True)
    assert sorted(places) == [("Alpha", 1), ("Beta", 1), ("Beta", 2)]
    assert made.recipe["found"] == 5
    assert len(drawn(draft(study, researcher, name="All", per_cell="all"))) == 5
    one = draft(study, researcher, name="0.6", setting="threshold=0.6")
    assert drawn(one, "setting") == ["threshold=0.6"]


def test_all_cells_of_a_system_are_judged_at_one_setting_drawn_by_the_seed(study, researcher):
    cells = list(make_dataset(study).cells.all())
    names = [f"threshold={n}" for n in range(8)]
    for name in names:
        for cell in cells[: 1 if name == names[0] else 2]:
            make_set(cell, system="Alpha", setting=name, source=name)
    seen = set()
    for seed in range(6):
        made = draft(study, researcher, name=f"R{seed}", seed=seed, per_cell="one")
        assert sorted(drawn(made, "cell__position")) == [1, 2]
        [setting] = set(drawn(made, "setting"))
        seen.add(setting)
    # Drawn by the seed, and never the one that a cell lacks.
    assert len(seen) > 1
    assert names[0] not in seen
    orders = [
        drawn(draft(study, researcher, name=name, size=4, seed=seed))
        for name, seed in (("a", 7), ("b", 7), ("c", 8))
    ]
    assert orders[0] == orders[1] != orders[2]
    assert len(set(orders[0])) == 4


@pytest.mark.long
def test_filters_and_used_sets(study, researcher):
    test, train = make_dataset(study), make_dataset(study, name="Train", split="train")
    for dataset in (test, train):
        for cell in dataset.cells.all():
            make_set(cell, system="Alpha", source=dataset.name)
            make_set(cell, system="Beta", source=f"{dataset.name} b")
    made = open_counting(study, researcher, split="train", systems=("Beta",))
    assert set(drawn(made, "cell__dataset")) == {train.pk}
    assert set(drawn(made, "system")) == {"Beta"}
    rest = open_counting(study, researcher, name="Rest", leave_out_used=True)
    assert len(drawn(rest)) == 6
    assert not set(drawn(rest)) & set(drawn(made))
    with pytest.raises(counting_rounds.RoundNotReady):
        open_counting(study, researcher, name="None", leave_out_used=True)


def test_the_list_of_sheets_takes_as_many_queries_for_many_as_for_few(
    study, client, django_assert_max_num_queries
):
    raters = [Rater.objects.create(study=study, name=name, external_id=name) for name in "AB"]
    for cell in make_dataset(study).cells.all():
        for number in range(6):
            made = make_set(cell, system=f"System {number}")
            for rater in raters:
                make_count(made, rater)
    with django_assert_max_num_queries(14):
        assert client.get(address("counting_sheets", study)).status_code == 200


def test_the_file_holds_every_sheet_with_its_counts(study, client):
    cell = make_dataset(study).cells.first()
    one, two = make_set(cell, system="=cmd()"), make_set(cell, system="Beta", source="b")
    rater = Rater.objects.create(study=study, name="A1", external_id="A1")
    make_count(one, rater, covered=1.5, unique=2)
    make_count(two, rater, covered_is_unsure=True, coverage=None)
    two.count_sheets.update(covered=None)
    reply = client.get(address("counting_sheets", study), {"format": "csv"})
    rows = list(csv.DictReader(io.StringIO(b"".join(reply).decode("utf-8-sig"))))
    figures = [(row["n_covered"], row["coverage"], row["redundancy"][:5]) for row in rows]
    assert figures == [("1.5", "0.75", "0.333"), ("", "", "0.333")]
    assert rows[0]["system"] == "'=cmd()"
    reply = client.get(address("counting_sheets", study), {"format": "jsonl", "rater": "x"})
    assert reply.status_code == 404
    asked = {"format": "jsonl", "set": str(two.public_id)}
    lines = b"".join(client.get(address("counting_sheets", study), asked)).decode().splitlines()
    assert [json.loads(line)["n_covered"] for line in lines] == [None]
