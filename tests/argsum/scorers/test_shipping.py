"""The match scorer that comes with the site: what it learns from, and that a command makes it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from safetensors.numpy import load_file

from argsum.scorers.actions import shipping, training_torch
from argsum.scorers.actions.models import SHIPPED, ScorerRefused
from argsum.scorers.actions.training_data import statements_in
from argsum.scorers.methods.training_cells import TrainingCell, both_stances, statement_cell
from argsum.scorers.models import SHIPPED_MATCH
from argsum.systems.methods.scoring import Scores
from cqa_site.judging.embedding import DIFFERENCE, SentenceEmbedder


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
    door, kettle = statements_in(tmp_path)
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
    cells = statements_in(shipping.STATEMENTS)
    assert len(cells) > 100
    texts = [text for each in cells for text in (*each.arguments, *each.key_points)]
    assert len(texts) > 30_000
    assert len(set(texts)) > 0.99 * len(texts)
    cells_made = shipping.shipping_cells({"train": [], "dev": []}, cells)
    learned, held = ({each.topic for each in cells_made[split]} for split in ("train", "dev"))
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
    texts = ["the kettle is quiet", "the kettle is loud"]
    before, after = (
        float(np.prod(vectors, axis=0).sum())
        for vectors in (encoded(texts), encoded(texts, str(small)))
    )
    assert after != pytest.approx(before, abs=1e-4)


def encoded(texts, *model) -> Scores:
    return SentenceEmbedder(*model).encode(texts)


def test_neither_or_no_folder_is_said(tmp_path):
    with pytest.raises(CommandError, match="--quality, --match, or both"):
        call_command("make_shipped_scorers")
    with pytest.raises(CommandError):
        call_command("make_shipped_scorers", "--match", str(tmp_path))
