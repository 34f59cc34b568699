"""`manage.py reproduce compqa`: verdicts, what it prints, and what makes it exit with 1."""

import csv
import io
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from benchmark.reports.compqa_compare import Measured, compare
from benchmark.reports.compqa_paper import compqa_figures
from benchmark.reports.compqa_published import PUBLISHED, SYSTEM_NAMES, Published

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", ROOT.parent / "shared" / "data"))
FOLDER = DATA / "compqa"
HUMAN = FOLDER / "human" / "human_evaluation_367.tsv"
JUDGED = FOLDER / "judged_gpt4"
NUMBERS = [str(number) for number in range(1, 16)]
# Criteria 1 to 7, 8 to 10 and 11 to 15.
GROUPS = {"structure": slice(0, 7), "relevance": slice(7, 10), "quality": slice(10, 15)}
JUDGE, PEOPLE = "GPT-4o", "people"


def on_release(test):
    """Mark a test that reads the released files."""
    is_absent = not (HUMAN.exists() and JUDGED.exists())
    reason = "released data absent: compqa (set COUNTERPOINT_REFERENCE_DATA)"
    return pytest.mark.reference(pytest.mark.skipif(is_absent, reason=reason)(test))


def run(*args) -> str:
    """No test here is given a database, so the command cannot use one."""
    out = io.StringIO()
    call_command("reproduce", "compqa", *map(str, args), stdout=out)
    return out.getvalue()


@pytest.fixture(scope="module")
def figures():
    return compqa_figures(DATA)


@pytest.fixture(scope="module")
def by_key(figures):
    return {(each.table, each.cell): each for each in figures}


@pytest.fixture(scope="module")
def plain():
    """Points by rater, system and scenario, straight from the files: none of our code."""
    found = {}
    for path in JUDGED.glob("*.json"):
        for record in json.loads(path.read_text(encoding="utf-8")):
            points = [record["score_dict"][number] for number in NUMBERS]
            found.setdefault((JUDGE, *origin(path.stem)), []).append(points)
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


def in_text(text):
    return tuple(float(part.replace(",", "")) for part in re.split(r"[±/]", text))


# -- verdicts on the release ------------------------------------------------------------------


@on_release
def test_verdicts_in_all(figures):
    assert Counter(each.status for each in figures) == {
        "match": 127,
        "within 0.01": 2,
        "differs": 2,
        "not in the data": 30,
    }


@on_release
def test_what_is_near_and_what_differs(figures):
    named = {f"{each.table}: {each.cell}": each for each in figures}
    near = {name: each for name, each in named.items() if each.status == "within 0.01"}
    assert set(near) == {"table 3: Perplexity, by people", "table 3: Llama-3-8B, by people"}
    # Cut off after two digits: 15.0091 and 14.7798.
    assert [each.ours[0] for each in near.values()] == pytest.approx([15.0091, 14.7798], abs=5e-5)
    differing = {name: each for name, each in named.items() if each.status == "differs"}
    assert {name: (each.paper, each.released, each.ours) for name, each in differing.items()} == {
        "counts: … as section 2.2 has it": ("18", "20", (20,)),
        "counts: … by all letters / the first 300": ("", "365 / 2", (366, 1)),
    }
    assert all(each.why for each in (*near.values(), *differing.values()))


@on_release
def test_verdicts_by_table(figures):
    tables = Counter((each.table, each.status) for each in figures if each.released)
    assert tables == {
        ("counts", "match"): 15,
        ("counts", "differs"): 2,
        ("table 5", "match"): 54,
        ("table 3", "match"): 16,
        ("table 3", "within 0.01"): 2,
        ("table 4", "match"): 2,
        ("as table 4", "match"): 2,
        ("figure 6", "match"): 4,
        ("as figure 6", "match"): 4,
        ("figure 7", "match"): 12,
        ("as figure 7", "match"): 12,
        ("agreement", "match"): 6,
    }


@on_release
def test_what_the_release_cannot_support_is_never_asserted(figures):
    absent = [each for each in figures if each.status == "not in the data"]
    assert all(not each.released and each.why for each in absent)
    columns = Counter(each.table for each in absent)
    assert columns["table 2"] == sum(each.table == "table 2" for each in figures) == 9
    assert (columns["table 5"], columns["table 3"], columns["table 4"]) == (5, 5, 1)
    with_ours = [each.cell for each in absent if each.ours is not None]
    assert len(with_ours) == 4
    assert all(cell.startswith("GPT-4o, ") for cell in with_ours)


@on_release
def test_the_shuffled_baseline_stands_beside_the_concatenated_alpha(figures):
    cells = [each.cell for each in figures]
    at = cells.index("all scores concatenated: alpha, interval")
    assert cells[at + 1] == "… with the answers shuffled"
    alpha, shuffled = figures[at : at + 2]
    assert alpha.ours[0] - shuffled.ours[0] == pytest.approx(0.105, abs=0.006)
    assert alpha.n == shuffled.n == 367


# -- the released values, and ours, against the files ------------------------------------------


@on_release
def test_the_cells_are_those_of_the_files(by_key, plain):
    assert len(plain) == 54
    for (rater, system, scenario), rows in plain.items():
        under = f", scenario {scenario}" if scenario else ""
        each = by_key["table 5", f"{SYSTEM_NAMES[system]}{under}, by {rater}"]
        assert each.n == len(rows)
        assert each.ours == pytest.approx(mean_and_sd(rows), abs=1e-9)
        assert in_text(each.released) == pytest.approx(mean_and_sd(rows), abs=5.1e-5)


@on_release
def test_the_rows_are_means_of_the_files_cells(by_key, plain):
    for rater in (JUDGE, PEOPLE):
        for system, name in SYSTEM_NAMES.items():
            cells = [
                mean_and_sd(rows)
                for (who, of, _), rows in plain.items()
                if (who, of) == (rater, system)
            ]
            expected = tuple(statistics.mean(each) for each in zip(*cells, strict=True))
            each = by_key["table 3", f"{name}, by {rater}"]
            assert each.ours == pytest.approx(expected, abs=1e-9)
            assert in_text(each.released) == pytest.approx(expected, abs=5.1e-5)


@on_release
@pytest.mark.parametrize(("rater", "among"), [(JUDGE, "as "), (PEOPLE, "")])
def test_scenario_and_group_means_are_those_of_the_files(by_key, plain, rater, among):
    for scenario in range(1, 5):
        rows = [
            row
            for (who, _, of), found in plain.items()
            if (who, of) == (rater, scenario)
            for row in found
        ]
        parts = {"total": slice(0, 15), **GROUPS}
        for name, part in parts.items():
            figure = f"{among}figure {6 if name == 'total' else 7}"
            each = by_key[figure, f"scenario {scenario}, {name}, by {rater}"]
            expected = statistics.mean(sum(row[part]) for row in rows)
            assert (each.ours[0], each.n) == (pytest.approx(expected, abs=1e-9), len(rows))
            assert in_text(each.released)[0] == pytest.approx(expected, abs=5.1e-5)


# -- the command ------------------------------------------------------------------------------


@on_release
def test_it_prints_one_line_for_each_figure(figures):
    heading, *lines = run("--data", DATA).splitlines()
    assert re.split(r"  +", heading) == [
        "table", "cell", "paper", "released data", "ours", "n", "verdict",
    ]  # fmt: skip
    assert len(lines) == len(figures) == len(PUBLISHED)
    (line,) = [each for each in lines if "GPT-4o, scenario 3, by people" in each]
    assert re.split(r"  +", line) == [
        "table 5",
        "GPT-4o, scenario 3, by people",
        "17.24 ± 1.33",
        "17.2407 ± 1.3328",
        "17.2407 ± 1.3328",
        "27",
        "match",
    ]
    # No column runs into the next one.
    assert all(len(re.split(r"  +", each)) == 7 for each in lines)


@on_release
def test_json_of_the_folder_itself(figures):
    rows = json.loads(run("--data", FOLDER, "--json"))
    assert [row["status"] for row in rows] == [each.status for each in figures]
    (row,) = [each for each in rows if each["cell"] == "GPT-4o, by GPT-4o"]
    assert row["ours"] == pytest.approx([17.7650, 1.0568], abs=5e-5)
    assert {key: row[key] for key in ("table", "paper", "n", "status", "why")} == {
        "table": "table 3",
        "paper": "17.77 ± 1.06",
        "n": 600,
        "status": "match",
        "why": "",
    }


@on_release
def test_one_changed_score_is_found_and_exits_with_1(tmp_path):
    (tmp_path / "human").mkdir()
    shutil.copy(HUMAN, tmp_path / "human")
    shutil.copytree(JUDGED, tmp_path / JUDGED.name)
    path = tmp_path / JUDGED.name / "cam.json"
    records = json.loads(path.read_text(encoding="utf-8"))
    records[0]["score_dict"]["9"] += 1
    path.write_text(json.dumps(records), encoding="utf-8")
    with pytest.raises(CommandError, match="figures differ") as refusal:
        run("--data", tmp_path)
    assert refusal.value.returncode == 1
    # One point more in one of 50 answers is 0.02 more on average.
    assert "table 5: CAM, by GPT-4o, table 3: CAM, by GPT-4o" in str(refusal.value)


def test_it_says_where_the_judgements_are_missing(tmp_path):
    with pytest.raises(CommandError, match=r"judged_gpt4 is missing, or has no JSON files"):
        run("--data", tmp_path)
    with pytest.raises(CommandError, match=r"nowhere.judged_gpt4 is missing"):
        run("--data", tmp_path / "nowhere")


def test_it_says_where_the_human_scores_are_missing_or_that_a_file_is_damaged(tmp_path):
    (tmp_path / "compqa" / "judged_gpt4").mkdir(parents=True)
    broken = tmp_path / "compqa" / "judged_gpt4" / "cam.json"
    broken.write_text("[{")
    with pytest.raises(CommandError, match=r"compqa.human.human_evaluation_367\.tsv is missing"):
        run("--data", tmp_path)
    (tmp_path / "compqa" / "human").mkdir()
    (tmp_path / "compqa" / "human" / "human_evaluation_367.tsv").write_text("object1\n")
    with pytest.raises(CommandError, match=r"cam\.json"):
        run("--data", tmp_path)


# -- verdicts ---------------------------------------------------------------------------------


def verdict(paper, released, *ours) -> str:
    (figure,) = compare(
        {("t", "c"): Measured(ours, 9)} if ours else {}, [Published("t", "c", paper, released)]
    )
    return figure.status


@pytest.mark.parametrize(
    ("paper", "data", "ours", "expected"),
    [
        ("17.77", "17.7650", (17.765,), "match"),  # half a unit of the last digit
        ("17.77", "17.7650", (17.7651,), "within 0.01"),  # as printed, but not as released
        ("", ".394", (0.3944,), "match"),
        ("", ".394", (0.3946,), "within 0.01"),
        ("", ".394", (0.41,), "differs"),
        ("15.00", "15.0091", (15.0091,), "within 0.01"),
        ("15.00", "15.0191", (15.0191,), "differs"),  # as released, but not as printed
        ("16.95 ± 1.44", "16.9467 ± 1.4367", (16.9467, 1.4367), "match"),
        ("16.95 ± 1.44", "16.9467 ± 1.4367", (16.9467, 1.48), "differs"),
        ("2,158", "2,158", (2158,), "match"),
        ("2,158", "2,158", (2157,), "differs"),
        ("", "+1.93", (1.93,), "match"),
        ("", "+1.93", (-1.93,), "differs"),
        ("", "365 / 2", (365,), "differs"),
        ("", "365 / 2", (), "differs"),
        ("0.71", "", (0.71,), "not in the data"),
        ("27 cells", "", (), "not in the data"),
    ],
)
def test_the_worse_of_two_comparisons_counts(paper, data, ours, expected):
    assert verdict(paper, data, *ours) == expected


def test_a_figure_that_nobody_published_is_not_dropped():
    with pytest.raises(KeyError, match="another"):
        compare({("t", "another"): Measured((1,))}, [Published("t", "c")])


def test_ours_is_shown_with_the_digits_of_the_release():
    rows = [Published("t", "a", "1.2 ± 3", "1.23 ± 3.4567"), Published("t", "b", "", "1,000 / 2")]
    values = {("t", "a"): Measured((1.0, 2.0)), ("t", "b"): Measured((1234, 5))}
    assert [each.shown for each in compare(values, rows)] == ["1.00 ± 2.0000", "1,234 / 5"]
    assert [each.shown for each in compare({}, rows)] == ["–", "–"]


def test_the_same_cell_is_not_published_twice():
    keys = Counter((each.table, each.cell) for each in PUBLISHED)
    assert [key for key, count in keys.items() if count > 1] == []
    assert all(each.paper or each.released for each in PUBLISHED)


def test_the_figures_need_no_django():
    code = "import sys, benchmark.reports.compqa_paper; print('django' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
