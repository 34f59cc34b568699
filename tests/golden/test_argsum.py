"""`manage.py reproduce argsum`: every figure, the verdicts, and what makes it exit with 1."""

import io
import json
import os
import re
from collections import Counter
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from argsum.methods.cluster_figures import best_per_cell, cluster_figure
from argsum.methods.released_scores import iter_cells, read_clusterings
from argsum.reports.paper_published import PUBLISHED
from argsum.reports.paper_release import Release

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", ROOT.parent / "shared" / "data"))
FOLDER = DATA / "argsum"


def on_release(test):
    """Mark a test that reads the released files."""
    reason = "released data absent: argsum (set COUNTERPOINT_REFERENCE_DATA)"
    return pytest.mark.reference(pytest.mark.skipif(not FOLDER.exists(), reason=reason)(test))


def run(*args) -> str:
    """No test here is given a database, so the command cannot use one."""
    out = io.StringIO()
    call_command("reproduce", "argsum", *map(str, args), stdout=out, stderr=io.StringIO())
    return out.getvalue()


@pytest.fixture(scope="module")
def printed():
    """The command once, as JSON; embedding the six cells takes some seconds."""
    return json.loads(run("--data", DATA, "--json"))


@pytest.fixture(scope="module")
def by_key(printed):
    return {(each["table"], each["cell"]): each for each in printed}


# -- verdicts ---------------------------------------------------------------------------------


@on_release
def test_verdicts_in_all(printed):
    assert Counter(each["status"] for each in printed) == {
        "match": 76,
        "within 0.01": 1,
        "differs": 1,
        "not in the data": 26,
    }


@on_release
def test_what_differs_is_explained(printed):
    found = {
        each["cell"]: (each["paper"], each["released"], each["ours"], bool(each["why"]))
        for each in printed
        if each["status"] in ("differs", "within 0.01")
    }
    assert found == {
        "test: unique arguments": ("732", "723", [723], True),
        "Debate, MCArgSum": ("0.89", "0.8849", [pytest.approx(0.88486, abs=1e-5)], True),
    }


@on_release
def test_what_the_release_cannot_support_is_never_asserted(printed):
    absent = [each for each in printed if each["status"] == "not in the data"]
    assert all(each["why"] and each["ours"] is None and not each["released"] for each in absent)
    assert Counter(each["table"] for each in absent) == {
        "language-model counts": 14,
        "coverage score": 3,
        "clusters, oracle": 4,
        "weighted, GPT-4o, oracle": 5,
    }


# -- the figures, as the data README gives them --------------------------------------------------

FIGURES = {
    ("data", "test: unique arguments"): (723,),
    ("data", "test: … with exactly one key point"): (454,),
    ("data", "test: … of one sentence"): (428,),
    ("data", "train: kept arguments"): (3287,),
    ("data", "dev: kept arguments"): (537,),
    ("people", "coverage, mean Pearson of two annotators"): (0.697,),
    ("people", "redundancy, mean Pearson of two annotators"): (0.722,),
    ("soft score again", "ROUGE 1, sP"): (-0.118, -0.072, 0.194),
    ("soft score again", "ROUGE 1, sR"): (0.164, 0.315, 0.170),
    ("soft score again", "ROUGE 1, sF1"): (0.027, 0.127, 0.184),
    ("soft score", "BERTScore F1, sR"): (0.254, 0.402, 0.175),
    ("soft score", "MENLI, sR"): (0.265, 0.372, 0.260),
    ("clusters, oracle", "MCArgSum, excluding noise: ARI"): (0.594, 0.299),
    ("clusters, oracle", "MCArgSum, including noise: ARI"): (0.547, 0.255),
    ("clusters, oracle", "USKPM, excluding noise: ARI"): (0.273, 0.045),
    ("clusters, oracle", "USKPM, including noise: ARI"): (0.253, 0.057),
    ("clusters, oracle", "USKPM, iterative: ARI"): (0.268, 0.052),
    ("language-model counts", "coverage, temperature 1.0"): (0.767, 0.803, 0.115),
    ("language-model counts", "redundancy, temperature 1.0"): (0.852, 0.824, 0.055),
    ("weighted, GPT-3.5, oracle", "BarH"): (0.780,),
    ("weighted, GPT-3.5, oracle", "BarH, written candidates"): (0.790,),
    ("weighted, GPT-3.5, oracle", "SMatchToPr"): (0.806,),
    ("weighted, GPT-3.5, oracle", "SMatchToPr, written candidates"): (0.824,),
    ("weighted, GPT-3.5, oracle", "USKPM"): (0.757,),
    ("weighted, GPT-3.5, oracle", "MCArgSum, global"): (0.811,),
    ("weighted, GPT-3.5, oracle", "MCArgSum, local"): (0.791,),
    ("weighted, GPT-4o, oracle", "MCArgSum, thresholds of the first cell"): (0.844,),
    ("weighted, GPT-4o, oracle", "MCArgSum, all thresholds"): (0.874,),
    ("candidates", "vaccination, supporting"): (31, 31),
    ("candidates", "vaccination, opposing"): (24, 24),
    ("candidates", "media, supporting"): (28, 28),
    ("candidates", "media, opposing"): (24, 24),
    ("candidates", "USA, supporting"): (7, 9),
    ("candidates", "USA, opposing"): (2, 4),
}


@on_release
@pytest.mark.parametrize(("key", "expected"), FIGURES.items(), ids=lambda each: str(each)[:60])
def test_a_figure_to_its_printed_digits(by_key, key, expected):
    # A printed digit may have been rounded up from just below a half, such as .8105.
    found = by_key[key]["ours"][: len(expected)]
    assert found == pytest.approx(expected, abs=5.1e-4)


@on_release
def test_the_model_without_training_is_within_a_hundredth(by_key):
    found = {cell: each["ours"][0] for (table, cell), each in by_key.items() if "MiniLM" in table}
    assert found == {
        "ARI excluding noise, oracle": pytest.approx(0.144, abs=0.01),
        "ARI including noise, oracle": pytest.approx(0.154, abs=0.01),
        "argument → key point accuracy, mean over cells": pytest.approx(0.591, abs=0.01),
    }


@on_release
def test_the_printed_share_of_70_percent_gives_another_figure():
    """Why the share threshold on this data is 75 %."""
    release = Release(DATA)
    reference = {cell.name: cell.reference for cell in release.test_cells}
    path = FOLDER / "clusterings" / "ArgKP21_MCArgSum_SBERT_all_mpnet_base.json"
    cells = {
        name: [cluster_figure(run.setting, reference[name], run.cluster_ids) for run in runs]
        for name, runs in iter_cells(read_clusterings(path))
    }
    assert best_per_cell(cells, noise="exclude", least_share=0.7).mean == pytest.approx(
        0.618, abs=5e-4
    )
    assert best_per_cell(cells, noise="exclude").mean == pytest.approx(0.594, abs=5e-4)


# -- the command ------------------------------------------------------------------------------


def test_the_same_cell_is_not_published_twice():
    keys = Counter((each.table, each.cell) for each in PUBLISHED)
    assert [key for key, count in keys.items() if count > 1] == []
    assert all(each.paper or each.released for each in PUBLISHED)
    assert all(each.why for each in PUBLISHED if not each.released)


@pytest.fixture
def light(monkeypatch):
    """Only people and the stored soft scores; all figures together are computed above."""
    parts = "counts rouge_again llm_counts clusters weighted weighted_gpt4o candidates examples"
    for name in [*parts.split(), "minilm"]:
        monkeypatch.setattr(f"argsum.reports.paper_figures.{name}", lambda *args: iter(()))
    kept = tuple(each for each in PUBLISHED if each.table in ("people", "soft score"))
    monkeypatch.setattr("argsum.reports.paper_published.PUBLISHED", kept)
    return kept


@on_release
def test_it_prints_one_line_for_each_figure(light):
    heading, *lines = run("--data", FOLDER).splitlines()
    assert re.split(r"  +", heading) == [
        "table", "cell", "paper", "released data", "ours", "n", "verdict",
    ]  # fmt: skip
    assert len(lines) == len(light) == 24
    assert all(len(re.split(r"  +", each)) == 7 for each in lines)
    assert run("--data", DATA).splitlines() == [heading, *lines]


@on_release
def test_a_figure_that_was_not_computed_differs(light, monkeypatch):
    monkeypatch.setattr("argsum.reports.paper_figures.people", lambda *args: iter(()))
    with pytest.raises(CommandError, match="3 figures differ: people: sets, people: coverage"):
        run("--data", DATA)


@pytest.fixture
def copied(tmp_path):
    """The release by links, so that single files can be replaced."""
    folder = tmp_path / "argsum"
    for path in FOLDER.rglob("*.*"):
        target = folder / path.relative_to(FOLDER)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(path)
    return tmp_path


def replace(path, text):
    path.unlink()
    path.write_text(text, encoding="utf-8")


@on_release
def test_one_changed_count_is_found_and_exits_with_1(copied, light):
    path = copied / "argsum" / "human" / "A2.csv"
    text = path.read_text(encoding="utf-8")
    changed = re.sub(r",0\.75,0\.25,(?!\w*summetix)", ",0.05,0.25,", text, count=1)
    assert changed != text
    replace(path, changed)
    with pytest.raises(CommandError, match="figures differ") as refusal:
        run("--data", copied)
    assert refusal.value.returncode == 1
    assert "people: coverage, mean Pearson of two annotators" in str(refusal.value)
    assert "redundancy" not in str(refusal.value)


def test_it_says_what_is_missing(tmp_path):
    with pytest.raises(CommandError, match=r"argkp2021 is missing\."):
        run("--data", tmp_path)
    with pytest.raises(CommandError, match=r"nowhere.argkp2021 is missing"):
        run("--data", tmp_path / "nowhere")


@on_release
def test_it_says_which_file_is_damaged(copied, light):
    stored = copied / "argsum" / "evaluation" / "soft_score.json"
    part = '{"sP": [1], "sR": [1], "sF1": [1]}'
    replace(stored, f'{{"rouge_1": {part}}}')
    with pytest.raises(CommandError, match=r"soft_score\.json: 1 scores for 126 sets"):
        run("--data", copied)
    replace(stored, f'{{"rouge_2": {part}}}')
    with pytest.raises(CommandError, match=r"soft_score\.json: has no rouge_1"):
        run("--data", copied)
    replace(stored, "{}}")
    with pytest.raises(CommandError, match=r"soft_score\.json: something follows"):
        run("--data", copied)
