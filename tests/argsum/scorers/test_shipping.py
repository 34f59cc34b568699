"""The match scorer that comes with the site: what it learns from, and that a command makes it."""

import json
import shutil
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from safetensors.numpy import load_file, save_file

from argsum.analysis.actions.analyses import ScorerTools, start_analysis
from argsum.scorers.actions import training
from argsum.scorers.actions.models import SHIPPED, SUMS, ScorerRefused
from argsum.scorers.actions.training_data import Statements, statement_cells, statements_in
from argsum.scorers.methods.encoders import filler_classifier_in
from argsum.scorers.methods.training import TrainingCell, both_stances, statement_cell
from argsum.scorers.models import SHIPPED_MATCH
from cqa_site.judging.embedding import DIFFERENCE_FILE, SentenceEmbedder, SideClassifier, side_in
from cqa_site.judging.training import Training
from tests.argsum.analysis.made_comments import make_cell, say
from tests.argsum.made_cells import make_scorer
from tests.cast import make_study

COMMAND = "argsum.management.commands.make_shipped_scorers"
SHIPPED_DIFFERENCE = SHIPPED[SHIPPED_MATCH] / DIFFERENCE_FILE


def cell(topic, stance, arguments, key_points, labels, judged=()):
    return TrainingCell(
        topic, stance, tuple(arguments), tuple(key_points), np.array(labels, np.int8), judged
    )


def test_stances_of_a_topic_become_one_cell_in_which_sides_do_not_match():
    pro = cell("trams", 1, ["quiet", "on time"], ["calm", "punctual"], [[1, 0], [-1, 1]], (1,))
    con = cell("trams", -1, ["dear"], ["cost"], [[1]], (0,))
    joined, alone = both_stances([pro, con, cell("pools", 1, ["warm"], ["heat"], [[1]], (0,))])
    assert joined.arguments == ("quiet", "on time", "dear")
    assert joined.key_points == ("calm", "punctual", "cost")
    assert joined.labels.tolist() == [[1, 0, 0], [-1, 1, 0], [0, 0, 1]]
    assert (joined.judged, joined.stance, alone.labels.tolist()) == ((1, 2), 0, [[1]])
    # The first wording of a point stands for it.
    texts = {"noise for": ["hush", "quiet"], "noise against": ["a", "b", "c"]}
    made = statement_cell("kettle", texts)
    assert (made.key_points, made.arguments) == (("hush", "a"), ("quiet", "b", "c"))
    assert (made.labels.tolist(), made.judged) == ([[1, 0], [0, 1], [0, 1]], (0, 1, 2))


def line(topic, aspect, side, *texts):
    return json.dumps({"topic": topic, "aspect": aspect, "side": side, "texts": texts})


def test_statements_of_a_topic_may_lie_in_several_files_and_what_is_none_is_named(tmp_path):
    first = line("kettle", "noise", "for", "quiet", "hush")
    more = [line("kettle", "noise", "for", "silent"), line("door", "lock", "for", "safe", "shut")]
    (tmp_path / "a.jsonl").write_text(first)
    (tmp_path / "b.jsonl").write_text("\n".join(more))
    door, kettle = statement_cells(statements_in(tmp_path))
    assert (door.topic, kettle.key_points) == ("door", ("quiet",))
    assert kettle.arguments == ("hush", "silent")
    for text in ("{", "[]", '{"topic": "kettle"}', '"kettle"'):
        (tmp_path / "a.jsonl").write_text(f"{first}\n{text}")
        with pytest.raises(ScorerRefused, match=r"a\.jsonl, line 2: "):
            statements_in(tmp_path)
    # The statements that come with the site.
    points = statements_in(training.STATEMENTS)
    assert {each.side for each in points} <= {*training.SIDES, ""}
    texts = [text for each in points for text in each.texts]
    assert len(texts) > 30_000
    assert len(set(texts)) > 0.99 * len(texts)
    made = training.shipping_cells({"train": [], "dev": []}, points)
    learned, held = ({each.topic for each in made[split]} for split in ("train", "dev"))
    assert len(learned) > 100
    assert (len(held), len(learned & held)) == (training.HELD_OUT, 0)


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Few statements, few arguments, and places of their own."""
    monkeypatch.setattr(Training, "threads", 1)
    monkeypatch.setattr(training, "HELD_OUT", 1)
    statements, shipped = tmp_path / "statements", tmp_path / "match"
    statements.mkdir()
    shipped.mkdir()
    for topic in ("kettle", "door", "lamp"):
        points = [
            line(topic, "sound", "for", f"the {topic} is quiet", f"no noise from the {topic}"),
            line(topic, "sound", "against", f"the {topic} is loud", f"the {topic} is never quiet"),
        ]
        (statements / f"{topic}.jsonl").write_text("\n".join(points))
    (statements / "filler.txt").write_text("hello there\nno comment\n")
    monkeypatch.setattr(training, "STATEMENTS", statements)
    monkeypatch.setitem(SHIPPED, SHIPPED_MATCH, shipped)
    return shipped


@pytest.fixture
def trams(settings, tmp_path, monkeypatch):
    """Of ArgKP there is one cell; weights go to a folder of the test."""
    settings.DATA_DIR = tmp_path
    cells = [cell("trams", 1, ["quiet", "calm"], ["no noise"], [[1], [1]], (0, 1))]
    monkeypatch.setattr(f"{COMMAND}.cells_in", lambda folder: {"train": cells, "dev": cells})


class Learned:
    """A training that is over at once: it adds `CHANGE` to the packaged weights."""

    PACKAGED = {
        "same": np.ones((3, 3), np.float32),
        "matrix": np.zeros((90, 80), np.float32),
        "bias": np.zeros(80, np.float32),
    }
    CHANGE = {
        "matrix": np.outer(np.arange(90), np.arange(80)).astype(np.float32) / 7_000,
        "bias": np.ones(80, np.float32),
    }

    def save(self, folder):
        folder.mkdir(parents=True)
        learned = {name: part + self.CHANGE.get(name, 0) for name, part in self.PACKAGED.items()}
        save_file(learned, folder / "model.safetensors")


def learn(model, cells, recipe, folder, say):
    topics = {known.topic for known in cells["train"]}
    assert (len(cells["train"]), "trams" in topics, recipe.steps) == (3, True, 2)
    return Learned(), [SimpleNamespace(looks=[{"step": 2, "value": 0.5}])]


def test_what_was_learned_is_kept_as_a_difference_of_low_rank(
    small, trams, tmp_path, monkeypatch, capsys
):
    packaged = tmp_path / "packaged"
    packaged.mkdir()
    save_file(Learned.PACKAGED, packaged / "model.safetensors")
    side = SideClassifier(np.ones(384, np.float32), 0.5, training.SIDE_SHARE)
    monkeypatch.setattr(training, "packaged_weights", lambda: str(packaged))
    monkeypatch.setattr(training, "train_members", learn)
    monkeypatch.setattr(training, "side_of", lambda folder, points: (side, 0.75))
    monkeypatch.setattr(f"{COMMAND}.ship_filler_classifier", lambda: small / "filler.json")
    call_command("make_shipped_scorers", "--match", str(tmp_path), "--steps", "2")
    held = load_file(small / DIFFERENCE_FILE)
    lines = {f"side.{name}" for name in ("weight", "bias", "share")}
    assert set(held) == {"matrix.a", "matrix.b", "bias", *lines}
    assert (held["matrix.a"].shape, held["matrix.b"].shape) == ((90, 64), (64, 80))
    product = held["matrix.a"].astype(np.float32) @ held["matrix.b"].astype(np.float32)
    assert product == pytest.approx(0.7 * Learned.CHANGE["matrix"], abs=2e-3)
    assert held["bias"] == pytest.approx(0.7, abs=1e-3)
    assert held["side.share"].tolist() == pytest.approx([training.SIDE_SHARE])
    digest = sha256((small / DIFFERENCE_FILE).read_bytes()).hexdigest()
    assert f"{digest}  {DIFFERENCE_FILE}" in (small / SUMS).read_text()
    assert "{'sides': 0.75}" in capsys.readouterr().out


def test_weights_of_another_architecture_and_no_folder_are_refused(tmp_path, monkeypatch):
    with pytest.raises(CommandError, match="--quality, --match and --filler"):
        call_command("make_shipped_scorers")
    with pytest.raises(CommandError):
        call_command("make_shipped_scorers", "--match", str(tmp_path))
    for name, part in (("packaged", "a"), ("trained", "b")):
        (tmp_path / name).mkdir()
        save_file({part: np.ones(3, np.float32)}, tmp_path / name / "model.safetensors")
    monkeypatch.setattr(training, "packaged_weights", lambda: str(tmp_path / "packaged"))
    with pytest.raises(ValueError, match="trained was not trained from"):
        training.write_difference(tmp_path / "trained", tmp_path)
    assert filler_classifier_in(tmp_path) is None


@pytest.mark.long
def test_the_command_trains_and_writes_a_small_difference(small, trams, tmp_path, monkeypatch):
    monkeypatch.setattr(
        f"{COMMAND}.RECIPE", replace(training.RECIPE, checks=1, learning_rate=1e-3)
    )
    call_command("make_shipped_scorers", "--match", str(tmp_path), "--steps", "2", verbosity=0)
    classifier = filler_classifier_in(small)
    texts = ["hello there", "the lamp is loud"]
    assert classifier.is_filler(texts, SentenceEmbedder(str(small)).encode(texts))[0]
    held = load_file(small / DIFFERENCE_FILE)
    layers = {name.split(".")[2] for name in held if name.startswith("encoder.layer.")}
    assert layers == {"3", "4", "5"}
    assert all(part.shape[1] == 64 for name, part in held.items() if name.endswith(".a"))
    assert (small / DIFFERENCE_FILE).stat().st_size < 3_000_000
    assert held["side.share"].tolist() == pytest.approx([training.SIDE_SHARE])
    vectors = SentenceEmbedder(str(small)).encode(["the lamp is quiet", "the lamp is loud"])
    vectors = side_in(small).added(vectors)
    assert vectors.shape == (2, 386)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)


@pytest.mark.long
def test_sides_are_learned_from_statements_that_take_one(small):
    shutil.copy(SHIPPED_DIFFERENCE, small / DIFFERENCE_FILE)
    quiet = ["never heard it", "quiet as a mouse", "no noise at all", "wonderfully silent"]
    loud = ["it howls all day", "loud as a jet", "a terrible racket", "painfully noisy"]
    points = [
        Statements("fan", "sound", "for", tuple(quiet)),
        Statements("fan", "sound", "against", tuple(loud)),
        Statements("pump", "sound", "for", ("so quiet",)),
        Statements("pump", "sound", "", ("it is a pump",)),
    ]
    side, right = training.side_of(small, points)
    assert (right, side.weight.shape) == (1, (384,))
    # Opposite sides are apart, and no side is between.
    side = SideClassifier(np.array([1.0, 0.0], np.float32), 0.0, 0.25)
    found = side.added(np.array([[20, 0], [20, 0], [-20, 0], [0, 1]], np.float32))[:, 2:]
    assert (found @ found.T)[0] == pytest.approx([0.25, 0.25, -0.25, 0], abs=1e-4)


# None of them is in the list that the classifier learned.
FILLER = ["Hello from the allotments!", "nothing more to say", "Warm regards", "I am 44.", "Hm."]
SOMETHING = ["The queue is far too long.", "Rude staff.", "They repaired the lift.", "No parking!"]


# Of all of them by the shipped match scorer, times a factor and rounded; read without torch.
VECTORS = Path(__file__).parent / "filler_vectors.npy"


def stored_vectors(texts):
    """Vectors of length 1, shape (n, 384)."""
    vectors = np.load(VECTORS)[[[*FILLER, *SOMETHING].index(text) for text in texts]]
    return vectors / np.linalg.norm(vectors.astype(float), axis=1, keepdims=True)


@pytest.mark.long
def test_the_stored_vectors_are_those_of_the_model():
    learned = (training.STATEMENTS / "filler.txt").read_text().splitlines()
    texts = [*FILLER, *SOMETHING]
    assert not set(texts) & set(learned)
    vectors = SentenceEmbedder(str(SHIPPED[SHIPPED_MATCH]), quick=True).encode(texts)
    assert (vectors * stored_vectors(texts)).sum(axis=1) == pytest.approx(1, abs=1e-3)


@pytest.mark.django_db
def test_an_analysis_tells_filler_with_the_shipped_classifier(monkeypatch):
    monkeypatch.setattr(
        SentenceEmbedder, "encode", lambda _self, texts, _say: stored_vectors(texts)
    )
    study = make_study()
    cell, scorer = make_cell(study), make_scorer(study, base_model=SHIPPED_MATCH)
    say(cell, *SOMETHING)
    analysis = start_analysis(study=study, actor=None, cell=cell, match_scorer=scorer)
    work = SimpleNamespace(progress=lambda *_: None)
    told = ScorerTools(analysis, work).filler([*FILLER, *SOMETHING])
    assert told.tolist() == [True] * len(FILLER) + [False] * len(SOMETHING)
