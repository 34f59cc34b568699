"""What each kind of file becomes, any table by a mapping too: rounds, items, raters, votes."""

import pytest

from annotation.consensus.reports import vote_table
from annotation.corpus.methods.column_guess import EXPORT_COLUMNS, guess_mapping, is_own_export
from annotation.corpus.models import Argument
from annotation.exports.reports import tables as export_tables
from annotation.labelling.models import (
    Assignment,
    Item,
    LabelRound,
    VoteEvent,
    label_rounds_of,
)
from cqa_site.people.models import Rater
from tests.annotation.imports.import_files import (
    BATCH,
    CONTROL,
    crowd_file,
    crowd_row,
    expert_file,
    json_file,
    numbers,
    table_file,
    take,
)

pytestmark = pytest.mark.django_db


def test_control_items_places_in_the_suite_and_workers_without_a_name(study, tmp_path):
    rows = [
        crowd_row("t1", "w1", suite="s1", text="One."),
        crowd_row("t2", "w1", suite="s1", text="Two.", golden=3),
        crowd_row("t1", "w2", suite="s2", text="One."),
        crowd_row("t3", "w1", suite="s3", text="Two."),
        crowd_row("t4", "w4", 1, suite="s4", text="Refused.", status="REJECTED"),
    ]
    take(study, "toloka", crowd_file(tmp_path, *rows))
    item = Item.objects.get(external_id="t2")
    assert (item.control_label, item.imported_control_label, item.is_control) == (3, 3, True)
    votes = Assignment.objects.order_by("pk").values_list("external_id", "block", "position")
    places = [("s1:t1", 0, 0), ("s1:t2", 0, 1), ("s2:t1", 0, 0), ("s3:t3", 1, 0)]
    assert list(votes)[:4] == places
    # One sentence under two tasks is one argument.
    assert (Argument.objects.count(), Item.objects.count()) == (3, 4)
    rater = Rater.objects.get(external_id="w1")
    assert (rater.kind, rater.name, rater.user) == ("person", "", None)
    assert str(rater).startswith("R-")
    # The label of refused work stays as a comment only.
    vote = Assignment.objects.get(state="void")
    assert (vote.label, vote.comment) == (None, "Status REJECTED in the source, label 1.")


PAIR = "tea vs coffee"


@pytest.fixture
def workbook(tmp_path):
    return expert_file(
        tmp_path,
        {
            "Somebody": [BATCH, [PAIR, "1. Tea wins.", 3], [PAIR, "2. Who knows.", None, "hm"]],
            "Somebody else": [BATCH, [PAIR, "1. Tea wins.", None]],
            "A third": [BATCH, [PAIR, "4. Tea wins.", 2]],
            "Checks": [
                CONTROL,
                [PAIR, "Tea is warmer.", 3, 2, 0.5, 2.5, 3],
                [PAIR, "Coffee is.", 1, 1, None, None, 0],
                [PAIR, "Tea is.", 0, 0, 0, 0, 0],
            ],
        },
    )


def test_each_rated_sheet_becomes_a_label_round_without_its_title_and_retires_what_was_left_out(
    study, workbook
):
    outcome = take(study, "expert_workbook", workbook, label_round="Experts")
    names = ["Experts: Batch 1", "Experts: Batch 3", "Experts: Control 1"]
    assert sorted(label_rounds_of(study).values_list("name", flat=True)) == names
    assert outcome.notes == ["Batch 2 has no labels in its 1 row; no round was created for it."]
    first = LabelRound.objects.get(name=names[0])
    assert (first.items.count(), first.assignments.count()) == (2, 1)
    # Titles are names of people.
    shown = [*Rater.objects.values_list("name", "external_id")]
    assert sorted(shown)[0] == ("Batch 1", "Experts: Batch 1")
    assert not any("Somebody" in part or "Checks" in part for pair in shown for part in pair)
    assert set(Rater.objects.values_list("kind", flat=True)) == {"expert"}
    controls = LabelRound.objects.get(name="Experts: Control 1")
    rows = controls.items.order_by("rank").values_list("control_label", "is_retired")
    assert list(rows) == [(3, False), (0, True), (0, False)]
    assert any("leaves this item out" in flag.reason for flag in outcome.flags)
    assert vote_table(controls)["item"].nunique() == 2


def test_a_sheet_meets_the_crowds_copy_of_a_damaged_sentence(study, tmp_path):
    texts = ("Café au lait\u00a0!", "Tea  wins.", "Tea\u00a0wins.")
    rows = [crowd_row(f"t{at}", text=text) for at, text in enumerate(texts)]
    take(study, "toloka", crowd_file(tmp_path, *rows))
    sheet = [BATCH, [PAIR, "1. CafÃ© au laitÂ\u00a0!", 2], [PAIR, "2. Tea wins.", 2]]
    outcome = take(study, "expert_workbook", expert_file(tmp_path, {"Sheet": sheet}))
    # Two spellings of one sentence are no match.
    assert numbers(outcome, "arguments") == (1, 1, 0, 0)
    assert "damaged characters" in outcome.flags[0].reason
    assert set(Argument.objects.values_list("text", flat=True)) == {*texts, "Tea wins."}


def released(*arguments: tuple[str | None, int | None, str | None]) -> list[dict]:
    entries = [
        {"index": n, "argument": text, "relevance": label, "relevance_gpt": model}
        for n, (text, label, model) in enumerate(arguments)
    ]
    return [{"obj1": "tea", "obj2": "coffee", "arguments": entries}]


def test_released_and_model_labels_are_two_raters_and_null_sentences_are_left_out(study, tmp_path):
    rows = released(("Tea wins.", 3, "2"), ("Coffee wins.", 1, "1"), (None, 0, "0"))
    outcome = take(study, "final_labels", json_file(tmp_path, rows), label_round="Released")
    votes = Assignment.objects.order_by("pk").values_list("rater__kind", "rater__name", "label")
    raters = (("reference", "Released label"), ("model", "GPT-4"))
    labels = ((3, 2), (1, 1))
    made = [(*rater, label) for row in labels for rater, label in zip(raters, row, strict=True)]
    assert list(votes) == made
    assert outcome.flags[0].row == 3
    assert "null" in outcome.flags[0].reason


def test_the_first_copy_counts_and_the_others_are_kept_beside_it(study, tmp_path):
    copies = [("Tea wins.", 3, "2"), ("Tea wins.", 3, "2"), ("Tea wins.", 1, "2")]
    path = json_file(tmp_path, released(*copies))
    outcome = take(study, "final_labels", path)
    assert numbers(outcome, "votes") == (2, 4, 0, 0)
    vote = Assignment.objects.get(rater__kind="reference")
    assert (vote.label, vote.is_flagged) == (3, True)
    event = VoteEvent.objects.get()
    assert (event.assignment, event.kind, event.label) == (vote, "flag", 1)
    again = take(study, "final_labels", path)
    assert (again.added, again.changed, VoteEvent.objects.count()) == (0, 0, 1)


MAPPING = {"object1": "a", "object2": "b", "text": "text"}


def test_arguments_alone_need_no_label_round(study, tmp_path):
    def rows(*texts):
        pair = {"a": "tea", "b": "coffee"}
        return table_file(tmp_path, *(pair | {"text": text, "no": text[2:3]} for text in texts))

    mapping = MAPPING | {"external_id": "no"}
    outcome = take(study, "table", rows("S 0.", "S 1.", "S 2."), mapping=mapping)
    assert (numbers(outcome, "arguments"), numbers(outcome, "votes")) == ((3, 0, 0, 0), (0,) * 4)
    assert label_rounds_of(study).count() == 0
    assert sorted(Argument.objects.values_list("external_id", flat=True)) == ["0", "1", "2"]
    # Rows that repeat an argument are counted and named.
    outcome = take(study, "table", rows("One.", "Two.", "One.", "Three.", "One."), mapping=MAPPING)
    assert numbers(outcome, "arguments") == (3, 0, 0, 0)
    said = "2 rows repeat arguments in the file; each argument is imported once: rows 4, 6."
    assert outcome.notes[-1] == said
    # A control column makes control items, and the kind of rater is chosen for all.
    row = {"a": "tea", "b": "coffee", "text": "S.", "label": 1, "who": "judge-1", "known": 0}
    mapping = MAPPING | {"label": "label", "rater": "who", "control_label": "known"}
    options = {"mapping": mapping, "rater_kind": "model", "label_round": "Mine"}
    take(study, "table", table_file(tmp_path, row), **options)
    assert Item.objects.get(round__name="Mine").control_label == 0
    assert Rater.objects.get().kind == "model"


def test_columns_are_guessed_from_their_headers():
    for columns, guess in (
        (["Object 1", "Object 2", "Sentence"], {"text": "Sentence"}),
        (["obj1", "obj2", "argument", "URL"], {"source_url": "URL"}),
        (["a", "b", "text", "worker_id", "rating"], {"rater": "worker_id", "label": "rating"}),
        (["a", "b", "text", "rating"], {"text": "text"}),
    ):
        found = guess_mapping(columns)
        assert guess.items() <= found.items()
        assert ("label" in found) == ("rater" in found)
    # Those of our own export need no guessing.
    assert is_own_export(list(export_tables.VOTE_TYPES))
    assert EXPORT_COLUMNS.items() <= guess_mapping(list(export_tables.VOTE_TYPES)).items()
