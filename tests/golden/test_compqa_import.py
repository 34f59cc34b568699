"""The release in a study: counts, a second import, figures equal to those of the files.

`make test` takes three systems of it, one of which has a judgement that cannot be used.
"""

import csv
import io
import re
from collections import Counter

import pytest
from django.core.management import call_command

from annotation.management.environment import throwaway_database
from benchmark.leaderboard.methods import paper
from benchmark.papers.reports.paper import agreement_values, score_values
from benchmark.papers.reports.release import PEOPLE, our_sheets, paper_sheets, read_release
from benchmark.papers.reports.study import study_reproduction
from benchmark.rubrics.methods.rubric import COMPQA
from benchmark.scoring.reports.sheets import counted_sheets, sheet_table
from cqa_site.files.actions.imports import import_path
from cqa_site.people.models import Rater, Study
from tests.golden.places import COMPQA as FOLDER, needs

HUMAN = FOLDER / "human" / "human_evaluation_367.tsv"
pytestmark = needs(HUMAN)
JUDGE = "gpt4"
PARTS = ("raw_summaries", f"judged_{JUDGE}", f"human/{HUMAN.name}")


FILES_OF_PART = ("perplexity_scenario_2", "human", "cam")


@pytest.fixture(scope="module", params=["part", pytest.param("whole", marks=pytest.mark.long)])
def folder(request, tmp_path_factory):
    """The release, or a part of it, as far as it has one judge and one table of people."""
    made, release = tmp_path_factory.mktemp("release") / "compqa", FOLDER.resolve()
    (made / "human").mkdir(parents=True)
    if request.param == "whole":
        for part in PARTS:
            (made / part).symlink_to(release / part)
        return made
    for part in PARTS[:2]:
        (made / part).mkdir()
        for name in FILES_OF_PART:
            (made / part / f"{name}.json").symlink_to(release / part / f"{name}.json")
    with HUMAN.open(newline="", encoding="utf-8") as source:
        heading, *rows = csv.reader(source, delimiter="\t")
    names = [row[heading.index("filename")].split("_", 1)[1].rpartition("_")[0] for row in rows]
    own = [row for row, name in zip(rows, names, strict=True) if name in FILES_OF_PART]
    with (made / "human" / HUMAN.name).open("w", newline="", encoding="utf-8") as target:
        csv.writer(target, delimiter="\t").writerows([heading, *own])
    return made


@pytest.fixture(scope="module")
def database(django_db_setup, django_db_blocker, tmp_path_factory):
    from django.conf import settings

    media, settings.MEDIA_ROOT = settings.MEDIA_ROOT, tmp_path_factory.mktemp("media")
    with django_db_blocker.unblock(), throwaway_database():
        yield
    settings.MEDIA_ROOT = media


def run(folder, *options, study) -> str:
    out = io.StringIO()
    call_command("import_compqa", str(folder), "--study", study, *options, stdout=out)
    return out.getvalue()


@pytest.fixture(scope="module")
def imported(database, folder):
    """The study after one import, and what the command said."""
    name = folder.parent.name
    said = run(folder, "--create-study", study=name)
    return Study.objects.get(name=name), said


UNSCORED = "unscored sheets, stored but left out of all figures"


def count_of(said: str, kind: str, name: str) -> list[str]:
    found = re.search(rf"^ *{name} +((?:[\d,]+ +){{3}}[\d,]+)$", said[said.index(kind) :], re.M)
    return found[1].split()


def test_the_counts_are_those_of_the_release(imported, folder):
    (study, said), release = imported, read_release(folder)
    answers, people = sum(len(file.answers) for file in release.files), len(release.people)
    for kind, name, new, same in (
        ("Answers of one system", "answers", answers, 0),
        ("Judged answers", "answers", 0, answers),
        ("Judged answers", "score sheets", answers - 1, 0),
        ("Judged answers", UNSCORED, 1, 0),
        ("Consolidated scores", "score sheets", people, 0),
    ):
        assert count_of(said, kind, name) == [f"{new:,}", f"{same:,}", "0", "0"], (kind, name)
    assert "rejected:" not in said
    assert f"sheets of gpt4: submitted: {answers - 1:,}" in said
    assert "sheets of gpt4: unscored, out_of_range: 1" in said
    assert study.answers.count() == answers
    assert Counter(study.score_sheets.values_list("rater__kind", "state", "reason")) == {
        ("model", "submitted", ""): answers - 1,
        ("model", "unscored", "out_of_range"): 1,
        ("reference", "submitted", ""): people,
    }


@pytest.mark.long
@pytest.mark.parametrize("folder", ["whole"], indirect=True)
def test_second_rows_about_an_answer_are_sheets_of_another_rater(imported):
    study, said = imported
    people = study.score_sheets.filter(rater__kind=Rater.Kind.REFERENCE)
    by_rater = Counter(people.values_list("rater__external_id", flat=True))
    assert by_rater == {"consolidated": 361, "consolidated-2": 6}
    assert all(people.values_list("is_consolidated", flat=True))
    assert people.values("answer").distinct().count() == 361
    assert said.count("Another row is about the same answer") == 6
    assert said.count("Matches several answers") == 1


def test_importing_it_again_changes_nothing(imported, folder):
    study = imported[0]
    stored = study.score_sheets.order_by("pk").values_list("pk", "points", "total")
    before, said = list(stored), run(folder, study=study.name)
    for kind, *names in (
        ("Answers of one system", "answers", "systems", "questions"),
        ("Judged answers", "answers", "raters", "score sheets"),
        ("Consolidated scores", "raters", "score sheets"),
    ):
        for name in names:
            new, _same, changed, rejected = count_of(said, kind, name)
            assert (new, changed, rejected) == ("0", "0", "0"), (kind, name)
    assert list(stored.all()) == before


@pytest.mark.long
@pytest.mark.skipif(
    not (FOLDER / "judged_gpt3-5").exists(), reason="released data absent: compqa/judged_gpt3-5"
)
def test_the_whole_folder_comes_in_with_both_judges_and_the_own_sheets_of_people(database):
    said = run(FOLDER, "--create-study", study="Whole")
    for kind, name, new, rejected in (
        ("Judged answers", "score sheets", "4,250", "0"),
        ("Judged answers", UNSCORED, "66", "0"),
        ("Score sheets in any table", "score sheets", "364", "13"),
        ("Consolidated scores", "score sheets", "367", "0"),
    ):
        assert count_of(said, kind, name) == [new, "0", "0", rejected]
    study = Study.objects.get(name="Whole")
    people = study.score_sheets.filter(rater__kind=Rater.Kind.PERSON)
    assert (study.answers.count(), people.values("rater").distinct().count()) == (2_158, 2)


def test_people_without_the_answers_find_nothing(database):
    study = Study.objects.create(name="Empty")
    file = {"kind": "human_scores", "path": HUMAN, "name": HUMAN.name}
    outcome = import_path(study=study, **file, write=False)
    assert outcome.counts["sheets"] == {"new": 0, "same": 0, "changed": 0, "rejected": 367}
    first = next(flag for flag in outcome.flags if flag.is_rejection)
    assert (first.row, first.column) == (2, "comparison")
    assert "Import the answers first, then this file again." in outcome.notes


def test_every_cell_of_the_leaderboards_equals_the_files(imported, folder):
    rubric = imported[0].rubric_versions.get()
    table = sheet_table(counted_sheets(rubric), rubric.rubric)
    # One row a sheet, with the names that the files have. The paper counts the two human rows
    # about one answer like rows about two.
    raters = table["rater_kind"].map({"model": JUDGE, "reference": PEOPLE})
    stored = table.assign(rater=raters, choice=table["sheet"], position=table["answer"])
    ours = paper.cell_scores(paper.with_totals(stored, COMPQA)).sort_index()
    # The same from the files, without the one judgement that is unscored here.
    release = read_release(folder)
    sheets = paper_sheets(release)
    unscored = {
        (file.system, file.scenario, each.answer.position)
        for file in release.files
        for each in file.answers
        if not each.judgement.is_scored
    }
    places = zip(sheets["system"], sheets["scenario"], sheets["choice"], strict=True)
    released = sheets[[place not in unscored for place in places]]
    theirs = paper.cell_scores(released).sort_index()
    assert len(theirs) == 2 * len(list((folder / f"judged_{JUDGE}").iterdir()))
    assert list(ours.index) == list(theirs.index)
    both = ours.join(theirs.add_suffix("_file"))
    for name in ("mean", "sd"):
        expected = pytest.approx(both[f"{name}_file"].to_numpy(), abs=1e-12)
        assert both[name].to_numpy() == expected
    # The unscored judgement is counted as dropped, not forgotten.
    at = (JUDGE, "perplexity", 2)
    assert (ours.loc[at, "n"], ours.loc[at, "dropped"]) == (49, 1)
    assert (both["n"] == both["n_file"]).all()


@pytest.mark.long
@pytest.mark.parametrize("folder", ["whole"], indirect=True)
def test_the_papers_tables_of_the_study_are_those_of_the_files(imported, folder):
    """Scores by the paper's recipe, every sheet by itself; agreement about answers, as ours."""
    release = read_release(folder)
    theirs = score_values(paper_sheets(release), COMPQA) | agreement_values(our_sheets(release))
    found = study_reproduction(imported[0])
    ours = {each.key: each.found.ours for each in found.figures}
    assert {"table 2", "table 3", "table 5", "figure 6"} <= {table for table, _cell in theirs}
    for at, each in theirs.items():
        if "shuffled" not in at[1]:
            assert ours[at].numbers == pytest.approx(each.numbers, abs=1e-9, nan_ok=True), at
            assert ours[at].n == each.n, at
    (cells,) = [each for each in found.layouts if each.name == "compqa-5"]
    assert cells.headings == ("System", "Scenario", "GPT-4o", "Human")
    assert len(cells.lines) == len(list((folder / f"judged_{JUDGE}").iterdir()))
