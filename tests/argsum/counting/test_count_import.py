"""Files of people's counts: sets, sheets and raters from them, once, and nothing half."""

import re

import pytest

from argsum.counting.models import CountSheet
from argsum.datasets.models import Cell, Dataset, ReferenceKeyPoint
from argsum.keypoints.models import SummarySet
from cqa_site.people.models import Rater
from tests.argsum.made_cells import SIDES, TOPIC, make_dataset, make_system_run

pytestmark = pytest.mark.django_db
HEAD = "topic,stance,reference,prediction,n_covered,n_unique,coverage,redundancy,file_name\n"
REFERENCES = [list(key_points) for _stance, key_points in SIDES]


def row(stance=1, system="alpha.csv", counts="1,2", shares="0.5,0.0", summaries=2, references=()):
    """One set on the invented topic."""
    texts = references or REFERENCES[0 if stance == 1 else 1]
    reference = "\n".join(f"{at}: {text}" for at, text in enumerate(texts, 1))
    prediction = "\n".join(f"{at}: Point {at} of {system}" for at in range(1, summaries + 1))
    return f'{TOPIC},{stance},"{reference}","{prediction}",{counts},{shares},{system}\n'


@pytest.fixture
def run(tmp_path, command):
    """Import rows as one person's file; returns what the command said."""

    def run(*rows, name="A1.csv", **options):
        path = tmp_path / name
        path.write_text(HEAD + "".join(rows), encoding="utf-8")
        return command("import_counts", path, dataset="Night buses", **options)

    return run


def test_a_file_makes_dataset_cells_sets_and_sheets(study, run):
    said = run(row(), row(system="beta.csv", summaries=3, counts="1.5,2", shares="0.75,0.5"))
    cell = Dataset.objects.get().cells.get()
    assert (cell.topic, cell.stance, cell.arguments.count()) == (TOPIC, 1, 0)
    assert list(cell.key_points.values_list("text", flat=True)) == REFERENCES[0]
    sets = set(SummarySet.objects.values_list("system", "source", "state"))
    assert sets == {("alpha", "human counts", "done"), ("beta", "human counts", "done")}
    texts = SummarySet.objects.get(system="beta").summaries.values_list("text", flat=True)
    assert list(texts) == [f"Point {number} of beta.csv" for number in (1, 2, 3)]
    sheet = CountSheet.objects.get(summary_set__system="beta")
    assert (sheet.covered, sheet.unique, sheet.coverage, sheet.redundancy) == (1.5, 1.5, 0.75, 0.5)
    assert (sheet.references, sheet.summaries, sheet.covered_is_typed) == (2, 3, True)
    rater = Rater.objects.get()
    assert (rater.kind, rater.external_id, str(rater), rater.user) == ("person", "A1", "A1", None)
    # The count column says 2, redundancy .5 of three summaries gives 1.5.
    assert "n_unique: The count is 2, but the share implies 1.5. The share is used." in said


def test_a_corrected_file_may_have_one_more_row_at_the_top(study, run):
    beta, gamma = row(system="beta.csv"), row(system="gamma.csv")
    run(row(), row(stance=-1))
    for counts in (("2", "2"), ("0", "4")):
        said = run(beta, row(), row(stance=-1), gamma)
        assert re.findall(r"count sheets +(\d) +(\d)", said) == [counts]
    assert CountSheet.objects.count() == 4
    # Lines 2 and 5 are taken, so the new row goes after them; line 11 is free.
    places = dict(CountSheet.objects.values_list("summary_set__system", "position"))
    assert (places["beta"], places["gamma"]) == (6, 11)


def test_a_second_person_judges_the_same_sets_in_another_order(study, run):
    run(row(), row(stance=-1))
    run(row(stance=-1, shares="1.0,0.5", counts="2,1"), row(), name="A2.csv")
    assert (SummarySet.objects.count(), CountSheet.objects.count()) == (2, 4)
    assert set(Rater.objects.values_list("name", flat=True)) == {"A1", "A2"}
    # Another set of the same system is none of theirs.
    assert "is rejected" in run(row(summaries=3, shares="0.5,0.5"), name="A2.csv")
    assert CountSheet.objects.count() == 4


def test_cells_of_a_dataset_are_found_by_topic_and_stance_but_with_their_references(study, run):
    dataset = make_dataset(study)
    others = row(references=["Night buses keep people safe", "Something else"])
    assert "1 row is rejected" in run(row(stance=-1), others)
    assert not SummarySet.objects.exists()
    assert not Rater.objects.exists()
    run(row(references=REFERENCES[0][::-1]))
    assert Dataset.objects.get() == dataset
    assert SummarySet.objects.get().cell == dataset.cells.get(stance=1)
    assert ReferenceKeyPoint.objects.count() == 4
    assert f"is matched with “{TOPIC}”." in run(row().replace(TOPIC, f"{TOPIC.upper()}."))
    assert dataset.cells.count() == 2


def test_references_worded_otherwise_are_taken_for_those_of_the_dataset(study, run):
    make_dataset(study)
    first, second = REFERENCES[0]
    worded = [f"{second.upper()}.", "Night buses keep all people safer"]
    said = run(row(references=worded), row(system="beta.csv", references=worded), dry_run=True)
    assert f"reference: “{worded[0]}” is matched with “{second}”." in said
    assert f"“{worded[1]}” is matched with “{first}” (shared words: 73%)" in said
    assert said.count("is matched with") == 2
    assert not SummarySet.objects.exists()
    run(row(references=worded))
    assert CountSheet.objects.get().references == 2
    assert ReferenceKeyPoint.objects.count() == 4
    assert "0           1" in run(row(references=worded))
    assert "is rejected" in run(row(references=worded), name="A2.csv", references="same")


def test_references_with_other_words_need_somebody_to_say_so(study, run):
    make_dataset(study)
    others = ["Nobody walks alone", "Nurses get home"]
    said = run(row(references=others), dry_run=True)
    assert "its references differ from the dataset's for this topic: no refer" in said
    said = run(row(references=others), references="order")
    assert f"“{others[0]}” is matched with “{REFERENCES[0][0]}” (shared words: 0%)" in said
    said = run(row(references=others), name="A2.csv", references="mine")
    assert "References must be “same” or “order”" in said


def test_a_summarized_dataset_gets_no_new_topics(study, run):
    dataset = make_dataset(study)
    dataset.cells.get(stance=-1).key_points.all().delete()
    Cell.objects.filter(dataset=dataset, stance=-1).delete()
    make_system_run(dataset)
    assert "is rejected" in run(row(stance=-1))
    run(row())
    assert dataset.cells.count() == 1


def test_not_done_is_left_out_and_unsure_is_kept_apart(study, run):
    said = run(
        row(counts="-2,-2", shares="-2.0,-2.0"),
        row(system="beta.csv", counts="-1,2", shares="-1.0,0.0"),
    )
    assert "1 set was not judged (-2) and is left out." in said
    sheet = CountSheet.objects.get()
    assert (sheet.covered, sheet.coverage, sheet.covered_is_unsure) == (None, None, True)
    assert (sheet.unique, sheet.redundancy, sheet.unique_is_unsure) == (2, 0, False)


def test_what_differs_stays_unless_replacing_was_asked_for(study, run):
    run(row())
    said = run(row(shares="1.0,0.0", counts="2,2"))
    assert "Differs; the stored value was kept: 0.5, 0" in said
    assert CountSheet.objects.get().coverage == 0.5
    run(row(shares="1.0,0.0", counts="2,2"), update_changed=True)
    assert (CountSheet.objects.get().coverage, CountSheet.objects.get().covered) == (1, 2)
