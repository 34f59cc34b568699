"""The match scorer that comes with the site: what it learns from, and that a command makes it."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from safetensors.numpy import load_file

from argsum.scorers.actions import shipping, training_torch
from argsum.scorers.actions.models import SHIPPED, ScorerRefused
from argsum.scorers.actions.training_data import Statements, statement_cells, statements_in
from argsum.scorers.methods.training_cells import TrainingCell, both_stances, statement_cell
from argsum.scorers.models import SHIPPED_MATCH
from cqa_site.judging.embedding import DIFFERENCE, SentenceEmbedder, Side, side_in

SHIPPED_DIFFERENCE = SHIPPED[SHIPPED_MATCH] / DIFFERENCE


def cell(topic, stance, arguments, key_points, labels, judged=()):
    return TrainingCell(
        topic, stance, tuple(arguments), tuple(key_points), np.array(labels, np.int8), judged
    )


def test_stances_of_a_topic_become_one_cell_in_which_sides_do_not_match():
    pro = cell("trams", 1, ["quiet", "on time"], ["calm", "punctual"], [[1, 0], [-1, 1]], (1,))
    con = cell("trams", -1, ["dear"], ["cost"], [[1]], (0,))
    other = cell("pools", 1, ["warm"], ["heat"], [[1]], (0,))
    joined, alone = both_stances([pro, con, other])
    assert joined.arguments == ("quiet", "on time", "dear")
    assert joined.key_points == ("calm", "punctual", "cost")
    assert joined.labels.tolist() == [[1, 0, 0], [-1, 1, 0], [0, 0, 1]]
    assert (joined.judged, joined.stance) == ((1, 2), 0)
    assert alone.labels.tolist() == [[1]]


def test_the_first_wording_of_a_point_stands_for_it():
    made = statement_cell(
        "kettle", {"noise for": ["hush", "quiet"], "noise against": ["a", "b", "c"]}
    )
    assert made.key_points == ("hush", "a")
    assert made.arguments == ("quiet", "b", "c")
    assert made.labels.tolist() == [[1, 0], [0, 1], [0, 1]]
    assert made.judged == (0, 1, 2)


def line(topic, aspect, side, *texts):
    return json.dumps({"topic": topic, "aspect": aspect, "side": side, "texts": texts})


def test_statements_of_a_topic_may_lie_in_several_files(tmp_path):
    (tmp_path / "a.jsonl").write_text(line("kettle", "noise", "for", "quiet", "hush"))
    more = [line("kettle", "noise", "for", "silent"), line("door", "lock", "for", "safe", "shut")]
    (tmp_path / "b.jsonl").write_text("\n".join(more))
    door, kettle = statement_cells(statements_in(tmp_path))
    assert (door.topic, kettle.key_points, kettle.arguments) == (
        "door",
        ("quiet",),
        ("hush", "silent"),
    )


@pytest.mark.parametrize("text", ["{", "[]", '{"topic": "kettle"}', '"kettle"'])
def test_a_line_that_is_none_is_named(tmp_path, text):
    (tmp_path / "a.jsonl").write_text(
        line("kettle", "noise", "for", "quiet", "hush") + "\n" + text
    )
    with pytest.raises(ScorerRefused, match=r"a\.jsonl, line 2: "):
        statements_in(tmp_path)


def test_the_statements_that_come_with_the_site():
    points = statements_in(shipping.STATEMENTS)
    assert {each.side for each in points} <= {*shipping.SIDES, ""}
    texts = [text for each in points for text in each.texts]
    assert len(texts) > 30_000
    assert len(set(texts)) > 0.99 * len(texts)
    made = shipping.shipping_cells({"train": [], "dev": []}, points)
    learned, held = ({each.topic for each in made[split]} for split in ("train", "dev"))
    assert len(learned) > 100
    assert (len(held), len(learned & held)) == (shipping.HELD_BACK, 0)


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Few statements, few arguments, and places of their own."""
    monkeypatch.setattr(training_torch, "THREADS", 1)
    monkeypatch.setattr(shipping, "HELD_BACK", 1)
    statements, shipped = tmp_path / "statements", tmp_path / "match"
    statements.mkdir()
    shipped.mkdir()
    for topic in ("kettle", "door", "lamp"):
        points = [
            line(topic, "sound", "for", f"the {topic} is quiet", f"no noise from the {topic}"),
            line(topic, "sound", "against", f"the {topic} is loud", f"the {topic} is never quiet"),
        ]
        (statements / f"{topic}.jsonl").write_text("\n".join(points))
    monkeypatch.setattr(shipping, "STATEMENTS", statements)
    monkeypatch.setitem(SHIPPED, SHIPPED_MATCH, shipped)
    return shipped


def test_the_command_trains_and_writes_a_small_difference(small, tmp_path, settings, monkeypatch):
    settings.DATA_DIR = tmp_path
    cells = [cell("trams", 1, ["quiet", "calm"], ["no noise"], [[1], [1]], (0, 1))]
    monkeypatch.setattr(
        "argsum.management.commands.make_shipped_scorers.cells_in",
        lambda folder: {"train": cells, "dev": cells},
    )
    monkeypatch.setattr(
        "argsum.management.commands.make_shipped_scorers.RECIPE",
        replace(shipping.RECIPE, checks=1, learning_rate=1e-3),
    )
    call_command("make_shipped_scorers", "--match", str(tmp_path), "--steps", "2", verbosity=0)
    held = load_file(small / DIFFERENCE)
    assert {name.split(".")[2] for name in held if name.startswith("encoder.layer.")} == {
        "3",
        "4",
        "5",
    }
    assert all(part.shape[1] == 64 for name, part in held.items() if name.endswith(".a"))
    assert (small / DIFFERENCE).stat().st_size < 3_000_000
    assert held["side.share"].tolist() == pytest.approx([shipping.SIDE_SHARE])
    vectors = SentenceEmbedder(str(small)).encode(["the lamp is quiet", "the lamp is loud"])
    vectors = side_in(small).added(vectors)
    assert vectors.shape == (2, 386)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)


def test_sides_are_learned_from_statements_that_take_one(small):
    shutil.copy(SHIPPED_DIFFERENCE, small / DIFFERENCE)
    quiet = ["never heard it", "quiet as a mouse", "no noise at all", "wonderfully silent"]
    loud = ["it howls all day", "loud as a jet", "a terrible racket", "painfully noisy"]
    points = [
        Statements("fan", "sound", "for", tuple(quiet)),
        Statements("fan", "sound", "against", tuple(loud)),
        Statements("pump", "sound", "for", ("so quiet",)),
        Statements("pump", "sound", "", ("it is a pump",)),
    ]
    side, right = shipping.side_of(small, points)
    assert right == 1
    assert side.weight.shape == (384,)


def test_opposite_sides_are_apart_and_no_side_is_between():
    side = Side(np.array([1.0, 0.0], np.float32), 0.0, 0.25)
    same = np.array([[20, 0], [20, 0], [-20, 0], [0, 1]], np.float32)
    found = side.added(same)[:, 2:]
    cosines = found @ found.T
    assert cosines[0] == pytest.approx([0.25, 0.25, -0.25, 0], abs=1e-4)


def test_neither_or_no_folder_is_said(tmp_path):
    with pytest.raises(CommandError, match="--quality, --match, or both"):
        call_command("make_shipped_scorers")
    with pytest.raises(CommandError):
        call_command("make_shipped_scorers", "--match", str(tmp_path))
