"""`manage.py reproduce argsum`: every figure, the verdicts, and what makes it exit with 1."""

import io
import json
import re
from collections import Counter
from functools import partial

import pytest
from django.core.management import CommandError, call_command

from argsum.papers.reports.release import KeyPointRelease
from argsum.papers.reports.reproduction import clusters, minilm
from argsum.papers.reports.tables import printed as printed_figures
from cqa_site.reproduction.figures import compare
from tests.annotation.faithfulness.made_faithfulness import WordVectors
from tests.golden.places import ARGSUM as FOLDER, DATA, reads

on_release = reads(FOLDER)


def run(*args) -> str:
    """No test here is given a database, so the command cannot use one."""
    out = io.StringIO()
    call_command("reproduce", "argsum", *map(str, args), stdout=out, stderr=io.StringIO())
    return out.getvalue()


@pytest.fixture(scope="module")
def printed():
    """The command once, as JSON, with vectors made from words."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "argsum.papers.reports.reproduction.SentenceEmbedder", partial(WordVectors, "words")
        )
        return json.loads(run("--data", DATA, "--json"))


@pytest.fixture(scope="module")
def by_key(printed):
    return {(each["table"], each["cell"]): each for each in printed}


@on_release
def test_verdicts_in_all(printed):
    """Those of figures that the paper prints, and of those that only the authors' files state."""
    assert Counter((_source(each), each["status"]) for each in printed) == {
        ("paper", "match"): 93,
        ("paper", "differs"): 4,
        ("paper", "cannot be computed"): 80,
        ("authors", "match"): 6,
        ("authors", "differs"): 1,
        ("authors", "cannot be computed"): 29,
        ("nobody", "no published value"): 40,
    }
    # What differs is explained.
    found = {each["cell"]: each for each in printed if each["status"] == "differs"}
    assert {cell: each["printed"] for cell, each in found.items()} == {
        "test: unique arguments": "732",
        "MoverScore, seconds": "55.93",
        "BARTScore Parabank, seconds": "41.09",
        "Debate, MCArgSum: weighted score": "0.89",
        "Debate, MCArgSum: redundancy": "",
    }
    assert all(each["why"] for each in found.values() if each["printed"])
    # A second value is there only where it comes from other data or by another recipe.
    twice = [each for each in printed if each["released"] and each["ours"] and not each["recipe"]]
    assert {each["cell"] for each in twice} == {f"ROUGE 1, {part}" for part in ("sP", "sR", "sF1")}
    unpublished = [each for each in printed if _source(each) == "nobody"]
    assert all(each["released"] or each["ours"] for each in unpublished)
    absent = [each for each in printed if each["status"] == "cannot be computed"]
    assert all(each["why"] and not each["released"] and not each["ours"] for each in absent)
    assert Counter((each["table"], bool(each["stated"])) for each in absent) == {
        ("coverage score", False): 33,
        ("language-model counts", False): 18,
        ("language-model counts", True): 14,
        (DEBATE, False): 6,
        ("weighted, GPT-4o, oracle", False): 2,
        ("weighted, GPT-4o, oracle", True): 36,
    }


def _source(row):
    return "paper" if row["printed"] else "authors" if row["stated"] else "nobody"


@pytest.mark.long
@on_release
def test_clusterings_are_read_when_their_files_are_there(copied):
    """The released files have other scorers' clusterings under these names, for example."""
    folder = copied / "argsum" / "clusterings"
    for data, scorer in (("ArgKP21", ""), ("Debate_test", ""), ("Debate_test", "SBERT_")):
        there = f"{data}_MCArgSum_{scorer}{'RoBERTa' if scorer else 'DeBERTa'}.json"
        (folder / there).symlink_to(folder / f"{data}_MCArgSum_RoBERTa.json")
    rows = dict(clusters(KeyPointRelease(copied)))
    figures = {each.key: each for each in compare(rows, printed_figures())}
    for table in (ARGKP, DEBATE):
        further = figures[table, "MCArgSum (DeBERTa), Excl. noise: ARI"]
        assert (further.status, further.published) == ("no published value", "")
        assert further.found == figures[table, "MCArgSum (BarH), Excl. noise: ARI"].found
    # Compared with what the paper prints for its scorer, as soon as it is there.
    assert figures[DEBATE, "MCArgSum (SMatchToPr), Excl. noise: ARI"].status == "differs"


ARGKP, DEBATE = "clusters of ArgKP, oracle", "clusters of Debate, oracle"
GPT35, GPT4O = "weighted, GPT-3.5, oracle", "weighted, GPT-4o, oracle"
THREE = "weighted score / coverage / redundancy"
FIGURES = {
    ("data", "test: unique arguments"): (723,),
    ("data", "test: … with exactly one key point"): (454,),
    ("data", "test: … of one sentence"): (428,),
    ("data", "train: kept arguments"): (3287,),
    ("data", "dev: kept arguments"): (537,),
    ("Debate data", "arguments"): (3228,),
    ("Debate data", "unique arguments"): (3180,),
    ("Debate data", "… with exactly one reason"): (3139,),
    ("Debate data", "… of one sentence"): (2321,),
    ("Debate data", "… that are those of the released file"): (2321,),
    ("Debate data", "… in the released half"): (1165,),
    ("people", "coverage, mean Pearson of two annotators"): (0.697,),
    ("people", "redundancy, mean Pearson of two annotators"): (0.722,),
    ("soft score", "ROUGE 1, sP"): (-0.118, -0.072, 0.194),
    ("soft score", "ROUGE 1, sR"): (0.164, 0.315, 0.170),
    ("soft score", "ROUGE 1, sF1"): (0.027, 0.127, 0.184),
    ("soft score", "BERTScore F1, sR"): (0.254, 0.402, 0.175),
    ("soft score", "MENLI, sR"): (0.265, 0.372, 0.260),
    (ARGKP, "MCArgSum, Excl. noise: ARI"): (0.594, 0.299),
    (ARGKP, "MCArgSum, Incl. noise: ARI"): (0.547, 0.255),
    (ARGKP, "MCArgSum (BarH), Excl. noise: ARI"): (0.725, 0.182),
    (ARGKP, "MCArgSum (BarH), Incl. noise: ARI"): (0.640, 0.158),
    (ARGKP, "MCArgSum (SMatchToPr), Excl. noise: ARI"): (0.682, 0.109),
    (ARGKP, "MCArgSum (SMatchToPr), Incl. noise: ARI"): (0.639, 0.113),
    (ARGKP, "USKPM, Excl. noise: ARI"): (0.273, 0.045),
    (ARGKP, "USKPM, Incl. noise: ARI"): (0.253, 0.057),
    (ARGKP, "USKPM, IC: ARI"): (0.268, 0.052),
    (DEBATE, "MCArgSum, Excl. noise: ARI"): (0.369, 0.135),
    (DEBATE, "MCArgSum, Incl. noise: ARI"): (0.315, 0.123),
    (DEBATE, "MCArgSum (BarH), Excl. noise: ARI"): (0.411, 0.085),
    (DEBATE, "MCArgSum (BarH), Incl. noise: ARI"): (0.311, 0.099),
    (DEBATE, "USKPM, Excl. noise: ARI"): (0.298, 0.054),
    (DEBATE, "USKPM, Incl. noise: ARI"): (0.232, 0.049),
    (DEBATE, "USKPM, IC: ARI"): (0.262, 0.054),
    ("language-model counts", "coverage, temperature 1.0"): (0.767, 0.803, 0.115),
    ("language-model counts", "redundancy, temperature 1.0"): (0.852, 0.824, 0.055),
    (GPT35, f"BarH: {THREE}"): (0.780,),
    (GPT35, f"BarH, written candidates: {THREE}"): (0.790,),
    (GPT35, f"SMatchToPr: {THREE}"): (0.806,),
    (GPT35, f"SMatchToPr, written candidates: {THREE}"): (0.824,),
    (GPT35, f"USKPM: {THREE}"): (0.757,),
    (GPT35, f"MCArgSum, global: {THREE}"): (0.811,),
    (GPT35, f"MCArgSum, local: {THREE}"): (0.791,),
    (GPT4O, "ArgKP21, MCArgSum: weighted score"): (0.844,),
    (GPT4O, "ArgKP21, MCArgSum, all thresholds: weighted score"): (0.874,),
}
OURS = {
    ("soft score", "ROUGE 1, sR"): (0.164, 0.315, 0.170),
    ("candidates", "vaccination, supporting: before / after fill-up"): (31, 31),
    ("candidates", "vaccination, opposing: before / after fill-up"): (24, 24),
    ("candidates", "media, supporting: before / after fill-up"): (28, 28),
    ("candidates", "media, opposing: before / after fill-up"): (24, 24),
    ("candidates", "USA, supporting: before / after fill-up"): (7, 9),
    ("candidates", "USA, opposing: before / after fill-up"): (2, 4),
    ("Debate data", "… with exactly one reason"): (3168,),
}


@on_release
def test_every_figure_to_its_printed_digits(by_key):
    for side, figures in (("released", FIGURES), ("ours", OURS)):
        for key, expected in figures.items():
            # A printed digit may have been rounded up from just below a half, such as .8105.
            found = by_key[key][side]["numbers"][: len(expected)]
            assert found == pytest.approx(expected, abs=5.1e-4), key


@pytest.mark.long
@on_release
def test_the_model_without_training_is_within_a_hundredth():
    rows = minilm(KeyPointRelease(DATA), lambda *told: None)
    assert {cell: figure.ours.numbers[0] for (_table, cell), figure in rows} == {
        "ArgKP21: ARI excluding noise, oracle": pytest.approx(0.144, abs=0.01),
        "ArgKP21: ARI including noise, oracle": pytest.approx(0.154, abs=0.01),
        "ArgKP21: argument → key point accuracy, mean over cells": pytest.approx(0.591, abs=0.01),
        "Debate: ARI excluding noise, oracle": pytest.approx(0.247, abs=0.01),
        "Debate: ARI including noise, oracle": pytest.approx(0.191, abs=0.01),
        "Debate: argument → key point accuracy, mean over cells": pytest.approx(0.538, abs=0.01),
    }


@pytest.fixture
def light(monkeypatch):
    """Only people and the stored soft scores; all figures together are computed above."""
    parts = "counts debate_counts llm_counts clusters weighted figure_2 candidates minilm"
    for name in parts.split():
        monkeypatch.setattr(f"argsum.papers.reports.reproduction.{name}", lambda *args: iter(()))
    kept = tuple(each for each in printed_figures() if each.table in ("people", "soft score"))
    monkeypatch.setattr("argsum.papers.reports.reproduction.printed", lambda: kept)
    return kept


@on_release
def test_a_figure_that_was_not_computed_is_never_a_match(light, monkeypatch):
    monkeypatch.setattr("argsum.papers.reports.reproduction.people", lambda *args: iter(()))
    people = [line for line in run("--data", DATA).splitlines() if line.startswith("people")]
    assert len(people) == 3
    assert all("cannot be computed: its file is not in this folder" in line for line in people)


@pytest.mark.long
@on_release
def test_tables_have_the_rows_and_columns_of_the_paper(light):
    for form in ("text", "markdown", "latex"):
        found = run("--data", DATA, "--tables", form, "--table", "argsum-soft")
        [row] = [line for line in found.splitlines() if "MENLI" in line]
        assert all(printed in row for printed in ("0.265", "0.372", "0.260", "254.6")), form
    assert r"\toprule" in found
    assert r"\multicolumn{3}{c}{Soft-Precision}" in found


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


@pytest.mark.long
@on_release
def test_it_says_which_file_is_damaged(copied, light):
    stored = copied / "argsum" / "evaluation" / "soft_score.json"
    part = '{"sP": [1], "sR": [1], "sF1": [1]}'
    for text, said in (
        (f'{{"rouge_1": {part}}}', "1 scores for 126 sets"),
        (f'{{"rouge_2": {part}}}', "has no rouge_1"),
        ("{}}", "text follows the end of the JSON value"),
    ):
        replace(stored, text)
        with pytest.raises(CommandError, match=rf"soft_score\.json: {said}"):
            run("--data", copied)
