"""`manage.py reproduce compqa`: every judge and person in the files, their statuses, the tables.

Values stand here as they were read off the files with CSV and JSON decoders alone; the code under
test has none of them.
"""

import csv
import json
import re
import shutil
import statistics
from collections import Counter, defaultdict
from functools import cache

import pytest
from django.core.management import CommandError, call_command

from benchmark.papers.reports.layouts import NAMES
from benchmark.papers.reports.paper import compqa_reproduction
from tests.golden.places import COMPQA as FOLDER, DATA, reads

HUMAN = FOLDER / "human" / "human_evaluation_367.tsv"
JUDGED = {judge: FOLDER / f"judged_{judge}" for judge in ("gpt4", "gpt3-5")}
NUMBERS = [str(number) for number in range(1, 16)]
# Criteria 1 to 7, 8 to 10 and 11 to 15.
GROUPS = {"structure": slice(0, 7), "relevance": slice(7, 10), "quality": slice(10, 15)}
GROUPS["total"] = slice(0, 15)
PEOPLE = "people"


on_release = reads(HUMAN, *JUDGED.values())


reproduced = cache(compqa_reproduction)


def run(*args) -> str:
    """No test here is given a database, so the command cannot use one."""
    call_command("reproduce", "compqa", "--data", *map(str, args))


@pytest.fixture(scope="module", autouse=True)
def _read_once():
    """A folder is read and computed once, however often the command is asked about it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchmark.papers.reports.paper.compqa_reproduction", reproduced)
        yield


@pytest.fixture(scope="module")
def figures():
    return reproduced(DATA).figures


@pytest.fixture(scope="module")
def by_key(figures):
    return {each.key: each for each in figures}


@pytest.fixture(scope="module")
def plain():
    """Points by rater, system and scenario, straight from the files: none of our code.

    A sheet counts if it has all of 1 … 15, whatever else it has.
    """
    found = {}
    for judge, folder in JUDGED.items():
        for path in folder.glob("*.json"):
            for record in json.loads(path.read_text(encoding="utf-8")):
                given = record["score_dict"]
                if set(NUMBERS) <= set(given):
                    points = [given[number] for number in NUMBERS]
                    found.setdefault((judge, *origin(path.stem)), []).append(points)
    with HUMAN.open(newline="", encoding="utf-8") as handle:
        for row in csv.DictReader(handle, delimiter="\t"):
            name = re.fullmatch(r"scored_(.+)_(?:comparison|summaries)", row["filename"])[1]
            points = [float(row[f"C{number}"] or 0) for number in NUMBERS]
            found.setdefault((PEOPLE, *origin(name)), []).append(points)
    return found


def origin(stem):
    system, _, scenario = stem.partition("_scenario_")
    return system, int(scenario or 0)


def mean_and_sd(rows):
    totals = [sum(row) for row in rows]
    return statistics.mean(totals), statistics.stdev(totals)


@on_release
def test_statuses_of_what_is_printed(figures):
    printed = Counter((each.table, each.status) for each in figures if each.published)
    # Match, differs, cannot be computed.
    expected = {"counts": (4, 1), "table 1": (5, 1), "section 3": (2, 1), "table 2": (0, 8, 16)}
    expected |= {"table 3": (22, 5, 36), "table 4": (2, 0, 2), "table 5": (78, 3, 108)}
    expected |= {"section 4": (0, 0, 2)}
    statuses = ("match", "differs", "cannot be computed")
    assert printed == {
        (table, status): number
        for table, numbers in expected.items()
        for status, number in zip(statuses, numbers, strict=False)
        if number
    }
    assert {each.status for each in figures if not each.published} == {"no published value"}
    # Whatever differs or is absent has a reason.
    off = [each for each in figures if each.status in ("differs", "cannot be computed")]
    near = [each for each in off if not each.why]
    assert all(each.status == "differs" and max(map(abs, each.off)) <= 0.01 for each in near)
    assert not any(each.found.released or each.found.ours for each in off if each.status[0] == "c")


@on_release
def test_two_people_agree_over_103_answers_or_over_95(by_key):
    overlap = by_key["section 3", "answers scored by both"]
    assert (overlap.printed, overlap.status) == ("123", "differs")
    assert (overlap.found.released.numbers, overlap.found.ours.numbers) == ((103,), (95,))
    for cell, both in {"total": (0.7550, 0.7549), "all scores": (0.7137, 0.7168)}.items():
        each = by_key["section 3", f"two annotators, {cell}: alpha"]
        found = (each.found.released, each.found.ours)
        assert [value for side in found for value in side.numbers] == pytest.approx(both, abs=5e-5)
        assert (each.status, [side.n for side in found]) == ("match", [103, 95])
        assert each.found.recipe
    # “All scores on average” is not the average of the criteria.
    mean = by_key["section 3", "two annotators, mean of the alphas of the criteria"]
    assert mean.found.released.numbers == pytest.approx((0.4432,), abs=5e-5)


@on_release
def test_table_2_over_all_answers_that_people_scored(by_key):
    three = ("alpha", "Spearman", "Pearson")
    names = [f"separately: {each}" for each in (*three, "alpha with the answers shuffled")]
    names += [f"final score: {each}" for each in (*three, "mean of judge − people, points")]
    for judge, n, expected in (
        ("GPT-4o", 367, (0.645, 0.666, 0.664, 0.54, 0.394, 0.432, 0.549, 1.93)),
        ("GPT-3.5", 359, (0.581, 0.588, 0.587, 0.49, 0.472, 0.390, 0.529, 1.12)),
    ):
        rows = [by_key["table 2", f"{judge}, {name}"] for name in names]
        found = [row.found.released for row in rows]
        assert [each.numbers[0] for each in found] == pytest.approx(list(expected), abs=6e-3)
        assert {each.n for each in found} == {n}
        assert {rows[at].status for at in (0, 1, 4)} == {"differs"}


@on_release
def test_cells_scenarios_and_groups_have_the_means_of_the_files(by_key, plain):
    assert len(plain) == 3 * 27
    by_scenario = defaultdict(list)
    for (rater, system, scenario), rows in plain.items():
        by_scenario[rater, scenario] += rows
        under = f", scenario {scenario}" if scenario else ""
        cell = f"{NAMES[system]}{under}, by {NAMES.get(rater, rater)}"
        each = by_key["table 5", cell].found.released
        assert each.n == len(rows)
        assert each.numbers == pytest.approx(mean_and_sd(rows), abs=1e-9)
    for (rater, scenario), rows in by_scenario.items():
        for name, part in GROUPS.items() if scenario else ():
            table, by = f"figure {6 if name == 'total' else 7}", NAMES.get(rater, rater)
            value = by_key[table, f"scenario {scenario}, {name}, by {by}"].found.released
            expected = statistics.mean(sum(row[part]) for row in rows)
            assert (value.numbers[0], value.n) == (pytest.approx(expected, abs=1e-9), len(rows))


@on_release
def test_the_folder_itself_finds_the_argument_lists_beside_it(release_copy):
    (release_copy / "compqa").mkdir()
    (release_copy / "judged_gpt4").rename(release_copy / "compqa" / "judged_gpt4")
    (release_copy / "relevance").symlink_to(DATA.resolve() / "relevance")
    for folder in (release_copy, release_copy / "compqa"):
        found = {each.cell: each.found.released for each in compqa_reproduction(folder).figures}
        assert found["arguments: most"].numbers == (22,)


@pytest.fixture
def release_copy(tmp_path):
    """Of the release only what one judge gave one system."""
    (tmp_path / "judged_gpt4").mkdir()
    shutil.copyfile(JUDGED["gpt4"] / "cam.json", tmp_path / "judged_gpt4" / "cam.json")
    return tmp_path


@on_release
def test_one_changed_score_is_found_and_exits_with_1(release_copy):
    path = release_copy / "judged_gpt4" / "cam.json"
    records = json.loads(path.read_text(encoding="utf-8"))
    records[0]["score_dict"]["9"] += 1
    path.write_text(json.dumps(records), encoding="utf-8")
    with pytest.raises(CommandError, match="figures differ") as refusal:
        run(release_copy)
    assert refusal.value.returncode == 1
    # One point more in one of 50 answers is 0.02 more on average.
    for table in (3, 5):
        assert f"table {table}: CAM, by GPT-4o" in str(refusal.value)


@on_release
def test_another_judges_folder_is_read_and_missing_files_are_named(release_copy, capsys):
    shutil.copytree(release_copy / "judged_gpt4", release_copy / "judged_newcomer")
    (release_copy / "judged_gpt4").rename(release_copy / "judged_mixtral")
    # Whatever differs, the figures are printed before the command exits with 1.
    with pytest.raises(CommandError):
        run(release_copy, "--json")
    rows = {(each["table"], each["cell"]): each for each in json.loads(capsys.readouterr().out)}
    assert rows["table 5", "CAM, by newcomer"]["released"]["n"] == 50
    # Known by its folder, and held against what the paper prints for it.
    assert rows["table 5", "CAM, by Mixtral"]["status"] == "differs"
    for cell, why in {
        ("table 5", "CAM, by people"): "no table of people's scores",
        ("table 5", "CAM, by GPT-4o"): "no judgements by this judge",
        ("section 3", "answers scored by both"): "no files of single people's sheets",
        ("table 1", "arguments: most"): "no lists of arguments",
    }.items():
        assert rows[cell]["status"] == "cannot be computed"
        assert why in rows[cell]["why"]


def test_it_says_where_the_judgements_are_missing_or_damaged(tmp_path):
    with pytest.raises(CommandError, match=r"judged_\* is missing, or has no JSON files"):
        run(tmp_path)
    (tmp_path / "compqa" / "judged_gpt4").mkdir(parents=True)
    (tmp_path / "compqa" / "judged_gpt4" / "cam.json").write_text("[{")
    with pytest.raises(CommandError, match=r"cam\.json"):
        run(tmp_path)
