"""Any table by a mapping, and the way back: what was exported can be imported elsewhere."""

import io

import pytest

from annotation.consensus.actions.consensus import recompute_final_labels
from annotation.consensus.models import FinalLabel
from annotation.corpus.methods.column_guess import EXPORT_COLUMNS, guess_mapping, is_own_export
from annotation.corpus.models.questions import Argument
from annotation.exports.reports import tables as export_tables
from annotation.figures.reports.figures import compute_figures
from annotation.figures.reports.snapshots import build_votes_csv, read_votes, recipe_of
from annotation.labelling.models.campaigns import Item, campaigns_of
from annotation.labelling.models.votes import Assignment
from cqa_site.files.actions.reading import import_path
from cqa_site.people.models import Rater
from cqa_site.results.rows import pack
from cqa_site.rounds.models import Place
from cqa_site.stats.as_json import to_json
from cqa_site.tabular import open_table, write_csv, write_jsonl, write_xlsx
from tests import cast
from tests.annotation.imports.import_files import (
    crowd_file,
    crowd_row,
    json_file,
    numbers,
    table_file,
    take,
)

pytestmark = pytest.mark.django_db
MAPPING = {"object1": "a", "object2": "b", "text": "text"}


@pytest.fixture
def study():
    return cast.make_study()


def test_arguments_alone_need_no_campaign(study, tmp_path):
    rows = [{"a": "tea", "b": "coffee", "text": f"S {n}.", "no": n} for n in range(3)]
    mapping = MAPPING | {"external_id": "no"}
    outcome = take(study, "table", table_file(tmp_path, *rows), mapping=mapping)
    assert (numbers(outcome, "arguments"), numbers(outcome, "votes")) == ((3, 0, 0, 0), (0,) * 4)
    assert campaigns_of(study).count() == 0
    assert sorted(Argument.objects.values_list("external_id", flat=True)) == ["0", "1", "2"]


def test_rows_that_repeat_an_argument_are_counted_and_named(study, tmp_path):
    texts = ["One.", "Two.", "One.", "Three.", "One."]
    rows = [{"a": "tea", "b": "coffee", "text": text} for text in texts]
    outcome = take(study, "table", table_file(tmp_path, *rows), mapping=MAPPING)
    assert numbers(outcome, "arguments") == (3, 0, 0, 0)
    said = "2 rows repeat arguments of the file, which are taken once: rows 4, 6."
    assert outcome.notes == [said]


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_json_and_json_lines(study, tmp_path, suffix):
    records = [{"a": "tea", "b": "coffee", "text": f"S {n}.", "l": n, "w": "x"} for n in (0, 3)]
    path = json_file(tmp_path, records, name=f"votes.{suffix}")
    if suffix == "jsonl":
        path.write_bytes(b"")
        with path.open("wb") as file:
            write_jsonl(file, list(records[0]), [tuple(each.values()) for each in records])
    mapping = MAPPING | {"label": "l", "rater": "w"}
    assert numbers(take(study, "table", path, mapping=mapping), "votes") == (2, 0, 0, 0)
    assert sorted(Assignment.objects.values_list("label", flat=True)) == [0, 3]


def test_a_control_column_makes_control_items(study, tmp_path):
    row = {"a": "tea", "b": "coffee", "text": "S.", "label": 1, "who": "w", "known": 0}
    mapping = MAPPING | {"label": "label", "rater": "who", "control_label": "known"}
    take(study, "table", table_file(tmp_path, row), mapping=mapping, label_round="Mine")
    assert Item.objects.get(campaign__name="Mine").control_label == 0


def test_the_kind_of_rater_is_chosen_for_all(study, tmp_path):
    row = {"a": "tea", "b": "coffee", "text": "S.", "label": 1, "who": "judge-1"}
    options = {"mapping": MAPPING | {"label": "label", "rater": "who"}, "rater_kind": "model"}
    path = table_file(tmp_path, row)
    import_path(study=study, kind="table", path=path, name=path.name, options=options, write=True)
    assert Rater.objects.get().kind == "model"


@pytest.mark.parametrize(
    ("columns", "guess"),
    [
        (["Object 1", "Object 2", "Sentence"], {"text": "Sentence"}),
        (["obj1", "obj2", "argument", "URL"], {"source_url": "URL"}),
        (["a", "b", "text", "worker_id", "rating"], {"rater": "worker_id", "label": "rating"}),
        (["a", "b", "text", "rating"], {"text": "text"}),
    ],
)
def test_columns_are_guessed_from_their_headers(columns, guess):
    found = guess_mapping(columns)
    assert guess.items() <= found.items()
    assert ("label" in found) == ("rater" in found)


def test_our_own_export_needs_no_guessing():
    assert is_own_export(list(export_tables.VOTE_TYPES))
    assert EXPORT_COLUMNS.items() <= guess_mapping(list(export_tables.VOTE_TYPES)).items()


# -- there and back ---------------------------------------------------------------------------


@pytest.fixture
def crowd(study, tmp_path):
    """Ordinary and control items, void and blank ones, formulas, line ends, an excluded rater."""
    texts = ["=1+1 is better.", "'tis tea.", "", 'Two\nlines, one "quote"', "Tea, surely."]
    rows = [
        crowd_row(
            f"t{n}", f"w{w}", (n * w) % 4, suite=f"s{w}", text=text, golden=2 if n == 4 else ""
        )
        for w in range(1, 6)
        for n, text in enumerate(texts)
    ]
    rows += [
        crowd_row("t0", "w1", "", suite=f"void{n}", text=texts[0], status="EXPIRED")
        for n in range(2)
    ]
    take(study, "toloka", crowd_file(tmp_path, *rows), label_round="Crowd")
    campaign = campaigns_of(study).get()
    place = Place.objects.filter(round=campaign).first()
    place.excluded_at = campaign.created_at
    place.save()
    return campaign


def figures(campaign) -> dict:
    packed, _digest = pack(build_votes_csv(campaign))
    found = to_json(
        compute_figures(read_votes(packed), campaign.guideline.values, recipe_of(campaign))
    )
    # Pseudonyms and rounded times differ by design.
    return {
        name: value
        for name, value in found.items()
        if name not in ("annotators", "votes_over_time", "pairs", "hardest")
    }


def exported(campaign, folder, suffix: str, *, raw: bool = False):
    """The votes export, written the way export jobs write it."""
    packed, _digest = pack(build_votes_csv(campaign))

    class Snapshot:
        rows = packed

    table = export_tables.votes(export_tables.Source(Snapshot(), b"salt", with_comments=True))
    path = folder / f"votes.{suffix}"
    content = io.BytesIO()
    columns = list(table.types)
    if suffix == "csv":
        write_csv(content, columns, table.rows, for_spreadsheets=not raw)
    else:
        {"jsonl": write_jsonl, "xlsx": write_xlsx}[suffix](content, columns, table.rows)
    path.write_bytes(content.getvalue())
    return path


def read_back(study, path, *, undo: bool = False):
    with open_table(path, name=path.name) as table:
        mapping = guess_mapping(table.columns)
    options = {"label_round": "Copy", "mapping": mapping, "undo_spreadsheet_marks": undo}
    return import_path(
        study=study, kind="table", path=path, name=path.name, options=options, write=True
    )


OTHER_FORMATS = (("csv", False), ("csv", True), ("xlsx", False))


@pytest.mark.parametrize(
    ("suffix", "raw"),
    [
        ("jsonl", False),
        # Exports of every format come back in tests/annotation/exports.
        *(pytest.param(*case, marks=pytest.mark.long) for case in OTHER_FORMATS),
    ],
)
def test_an_export_imported_elsewhere_gives_the_same_figures(crowd, tmp_path, suffix, raw):
    path = exported(crowd, tmp_path, suffix, raw=raw)
    elsewhere = cast.make_study("Elsewhere")
    outcome = read_back(elsewhere, path, undo=suffix == "csv" and not raw)
    assert outcome.rejected == 0
    copy = campaigns_of(elsewhere).get()
    assert figures(copy) == figures(crowd)
    assert texts_of(copy) == texts_of(crowd)
    assert labels_of(copy) == labels_of(crowd)
    assert read_back(elsewhere, path, undo=suffix == "csv" and not raw).added == 0


def texts_of(campaign) -> list[tuple]:
    rows = campaign.items.values_list("external_id", "argument__text", "control_label")
    return sorted(rows, key=str)


def labels_of(campaign) -> list[tuple]:
    recompute_final_labels(campaign)
    rows = FinalLabel.objects.filter(campaign=campaign)
    return sorted(rows.values_list("argument__text", "label", "provenance", "pattern", "is_tied"))


def test_void_votes_and_excluded_raters_survive_the_way_back(crowd, tmp_path):
    elsewhere = cast.make_study("Elsewhere")
    read_back(elsewhere, exported(crowd, tmp_path, "jsonl"))
    copy = campaigns_of(elsewhere).get()
    states = copy.assignments.order_by("state").values_list("state", flat=True)
    assert list(states) == ["answered"] * 25 + ["void"] * 2
    assert copy.places.filter(excluded_at__isnull=False).count() == 1
    assert set(Rater.objects.filter(study=elsewhere).values_list("kind", flat=True)) == {"person"}


def test_an_export_imported_over_its_own_campaign_is_another_set_of_raters(crowd, tmp_path):
    """Exports carry pseudonyms, so they never merge with the people they came from."""
    path = exported(crowd, tmp_path, "jsonl")
    outcome = read_back(crowd.study, path)
    assert numbers(outcome, "arguments")[0] == 0
    assert numbers(outcome, "raters") == (5, 0, 0, 0)
