"""What an import does to the database: new, same, changed, rejected; all or nothing; twice."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.corpus.models import Argument, Comparison
from annotation.imports.books.votes import VoteBook
from annotation.labelling.models import (
    Assignment,
    Item,
    LabelRound,
    VoteEvent,
    label_rounds_of,
)
from cqa_site.files.actions.imports import ImportRefused
from cqa_site.people.models import Rater
from cqa_site.rounds.models import Place
from tests import cast
from .import_files import crowd_file, crowd_row, numbers, reasons, table_file, take

pytestmark = pytest.mark.django_db
TABLES = (Comparison, Argument, LabelRound, Item, Rater, Place, Assignment, VoteEvent)
MAPPING = {"object1": "a", "object2": "b", "text": "text"}
VOTES = MAPPING | {"label": "label", "rater": "who", "external_id": "item"}


def sizes() -> list[int]:
    return [table.objects.count() for table in TABLES]


def line(text="Tea is better.", **more) -> dict[str, object]:
    return {"a": "tea", "b": "coffee", "text": text} | more


def test_first_import_makes_everything_once_and_unsubmitted_work_never_counts(study, tmp_path):
    expired = crowd_row("t1", "w1", "", suite="s0", status="EXPIRED")
    path = crowd_file(tmp_path, crowd_row("t1", "w1", 2), crowd_row("t1", "w2", 3), expired)
    outcome = take(study, "toloka", path, label_round="Crowd")
    names = ("comparisons", "arguments", "label_rounds", "items", "raters", "votes")
    assert [numbers(outcome, name)[0] for name in names] == [1, 1, 1, 1, 2, 3]
    label_round = label_rounds_of(study).get()
    made = (label_round.name, label_round.origin, label_round.state)
    assert made == ("Crowd", "imported", "closed")
    votes = Assignment.objects.order_by("pk").values_list("label", "state")
    assert list(votes) == [(2, "answered"), (3, "answered"), (None, "void")]
    assert Place.objects.filter(round=label_round).count() == 2
    # Votes never go into a round that is run here.
    cast.make_label_round(study, name="Round 1")
    for write in (True, False):
        with pytest.raises(ImportRefused, match="run on this site"):
            take(study, "toloka", path, label_round="Round 1", write=write)
    # Labels follow the scale of the guideline.
    guideline = cast.make_guideline(study)
    guideline.levels = guideline.levels[:2]
    guideline.save()
    outcome = take(study, "toloka", crowd_file(tmp_path, crowd_row(label=2)), write=False)
    assert "is not a label of the scale 0, 1" in reasons(outcome)[0]


def test_queries_do_not_grow_with_the_rows(study, tmp_path):
    def queries(count: int) -> int:
        rows = [crowd_row(f"t{n}", f"w{n}", text=f"S {n}.") for n in range(count)]
        path = crowd_file(tmp_path, *rows, name=f"{count}.tsv")
        take(study, "toloka", path, label_round=f"of {count}")
        with CaptureQueriesContext(connection) as found:
            take(study, "toloka", path, label_round=f"of {count}", write=False)
        return len(found)

    assert queries(3) == queries(300) <= 15


def test_blank_sentences_and_pairs_that_differ_by_case_or_order_are_kept_and_flagged(
    study, tmp_path
):
    pairs = [("tea", "coffee"), ("Coffee", "tea"), ("tea", "milk")]
    rows = [crowd_row(f"t{n}", pair=pair) for n, pair in enumerate(pairs)]
    path = crowd_file(tmp_path, *rows, crowd_row("t3", text=" "))
    flagged = " ".join(reasons(take(study, "toloka", path), rejected=False))
    assert Comparison.objects.count() == 3
    assert "Coffee vs tea" in flagged
    assert "nothing was merged" in flagged
    assert Argument.objects.get(text=" ").is_blank
    assert "The sentence is blank. The row was kept and flagged." in flagged


def test_a_changed_vote_is_listed_and_kept_or_replaced_on_wish_with_its_history(study, tmp_path):
    first = crowd_file(tmp_path, crowd_row("t1", "w1", 2, golden=1), name="pool-7.tsv")
    take(study, "toloka", first)
    # The file names the round; a control label corrected here is no change.
    assert label_rounds_of(study).get().name == "pool-7"
    Item.objects.update(control_label=3)
    assert take(study, "toloka", first).changed == 0
    Item.objects.update(control_label=1)
    later = crowd_file(tmp_path, crowd_row("t1", "w1", 3, golden=0), name="later.tsv")
    outcome = take(study, "toloka", later, label_round="pool-7")
    assert numbers(outcome, "votes") == numbers(outcome, "items") == (0, 0, 1, 0)
    assert "Differs; the stored value was kept: 2" in reasons(outcome, rejected=False)
    assert (Assignment.objects.get().label, Item.objects.get().control_label) == (2, 1)
    take(study, "toloka", later, label_round="pool-7", update_changed=True)
    assert Assignment.objects.get().label == 3
    item = Item.objects.get()
    assert (item.control_label, item.imported_control_label) == (0, 0)
    event = VoteEvent.objects.get()
    assert (event.kind, event.label) == ("change", 3)
    assert "from 2" in event.comment


def test_a_source_address_that_comes_later_is_a_change_and_an_empty_cell_is_none(study, tmp_path):
    take(study, "table", table_file(tmp_path, line()), mapping=MAPPING)
    later = table_file(tmp_path, line(url="https://a.example/1"), name="later.csv")
    with_url = MAPPING | {"source_url": "url"}
    assert numbers(take(study, "table", later, mapping=with_url), "arguments") == (0, 0, 1, 0)
    assert Argument.objects.get().source_url == ""
    take(study, "table", later, mapping=with_url, update_changed=True)
    assert Argument.objects.get().source_url == "https://a.example/1"
    again = table_file(tmp_path, line(url=""), name="again.csv")
    assert take(study, "table", again, mapping=with_url, update_changed=True).changed == 0
    assert Argument.objects.get().source_url == "https://a.example/1"


MOVED = "the vote s:t1 is already stored with another item or rater"
SENTENCE = "item t1 is already used for another sentence"


TWICE = "already has this rater's vote"


@pytest.mark.parametrize(
    ("before", "rows", "reason"),
    [
        ([], [{"label": 1, "suite": "s1"}, {"label": 2, "suite": "s2"}], TWICE),
        ([], [{"text": "One."}, {"worker": "w2", "text": "Two."}], SENTENCE),
        ([{"text": "One."}], [{"worker": "w3", "text": "Three."}], SENTENCE),
        (
            [],
            [{"golden": 1}, {"worker": "w2", "golden": 2}],
            "item t1 has a different control label",
        ),
        ([{"suite": "s"}], [{"worker": "w2", "suite": "s"}], MOVED),
    ],
)
def test_rows_that_contradict_others_are_rejected(study, tmp_path, before, rows, reason):
    for number, made in enumerate(filter(None, (before, rows))):
        path = crowd_file(tmp_path, *(crowd_row(**each) for each in made), name=f"{number}.tsv")
        outcome = take(study, "toloka", path, label_round="C", write=made is before)
    (found,) = reasons(outcome)
    assert reason in found


def test_a_crash_in_the_middle_leaves_nothing_behind(study, tmp_path, monkeypatch):
    monkeypatch.setattr("cqa_site.files.actions.imports.CHUNK", 2)
    path = crowd_file(tmp_path, *[crowd_row(f"t{n}", text=f"S {n}.") for n in range(6)])
    calls = []
    original = VoteBook.take

    def crash(book, entries):
        calls.append(1)
        if len(calls) == 3:
            raise RuntimeError("the power went")
        original(book, entries)

    before = sizes()
    with monkeypatch.context() as broken:
        broken.setattr(VoteBook, "take", crash)
        with pytest.raises(RuntimeError):
            take(study, "toloka", path)
    assert sizes() == before
    assert numbers(take(study, "toloka", path), "votes") == (6, 0, 0, 0)
    # An import crosses pieces.
    rows = [crowd_row(f"n{n % 5}", f"w{n}", n % 4, text=f"N {n % 5}.") for n in range(12)]
    path = crowd_file(tmp_path, *rows, name="more.tsv")
    outcome = take(study, "toloka", path)
    assert [numbers(outcome, name)[0] for name in ("arguments", "items", "votes")] == [5, 5, 12]
    assert take(study, "toloka", path).added == 0


def test_cells_the_database_would_refuse_and_a_second_vote_of_a_rater(study, tmp_path):
    vote = line(item="i", who="w", label=1)
    for changes, part in (
        ({"a": "x" * 301}, "longer than 300"),
        ({"item": "i" * 201}, "longer than 200"),
        ({"who": "w" * 129}, "too long"),
    ):
        path = table_file(tmp_path, vote | changes)
        (reason,) = reasons(take(study, "table", path, mapping=VOTES, write=False))
        assert part in reason
    path = table_file(tmp_path, vote, vote, vote | {"label": 2})
    outcome = take(study, "table", path, mapping=VOTES, leave_out_rejected=True)
    assert numbers(outcome, "votes") == (1, 1, 0, 1)
    assert "row 2 already has this rater's vote on this item: 1" in reasons(outcome)
