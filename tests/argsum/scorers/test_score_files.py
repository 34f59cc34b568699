"""Scores on disk: computed once, whole or not there, thrown away when nobody reads them."""

import os

import numpy as np
import pytest

from argsum.datasets.models import CellArgument
from argsum.keypoints.actions import solver
from argsum.keypoints.models import SummarySet, SystemRun
from argsum.leaderboard.reports.scores import cluster_values
from argsum.scorers.actions import models as actions, models as scorer_models, scorers
from argsum.scorers.actions.models import (
    ScorerRefused,
    clear_scores,
    folder,
    kept,
    kept_rows,
    key_of,
    texts_key,
)
from cqa_site.runs.jobs import StaleWorker
from tests.argsum.made_cells import TOPIC, make_dataset, make_scorer, make_set
from tests.cast import make_study

ROWS, COLUMNS = ["It is safer.", "It costs."], ["Safe", "Dear", "Loud"]


class Counting:
    """In place of the embedder: the letters of a text as its vector, and who asked for what."""

    asked: list[list[str]] = []

    def __init__(self, source, batch_size=32, *, quick=False):
        self.name = source

    def encode(self, texts, progress=None):
        self.asked.append(list(texts))
        found = np.array([[text.count(letter) for letter in "aeiost:"] for text in texts], "f4")
        return found / np.linalg.norm(found, axis=1, keepdims=True)


@pytest.fixture(autouse=True)
def place(settings, tmp_path, monkeypatch):
    settings.DATA_DIR = tmp_path
    Counting.asked = []
    monkeypatch.setattr(scorer_models, "SentenceEmbedder", Counting)
    return tmp_path


@pytest.mark.django_db
def test_a_stored_matrix_needs_no_model():
    scorer = make_scorer(make_study(), sha256="a" * 64)

    def matrix(*texts, of=scorer, **topic):
        return scorers.match_scorer_of(of).matrix(*texts, **topic)

    first = matrix(ROWS, COLUMNS)
    assert first.shape == (2, 3)
    assert np.allclose(first, Counting("").encode(ROWS) @ Counting("").encode(COLUMNS).T)
    Counting.asked = []
    again = matrix(ROWS, COLUMNS)
    assert np.array_equal(first, again)
    assert not again.flags.writeable
    # Other columns with the same rows: only the columns are read.
    matrix(ROWS, ["Late"])
    assert Counting.asked == [["Late"]]
    # Another model, or the same texts in another order, is another file.
    scorer.sha256 = "b" * 64
    matrix(ROWS, COLUMNS)
    assert Counting.asked[1:] == [ROWS, COLUMNS]
    assert texts_key(["ab", "c"]) != texts_key(["a", "bc"])
    # The topic goes before each text where it was learned.
    Counting.asked = []
    matrix(ROWS, COLUMNS, topic=TOPIC)
    assert Counting.asked == []
    tuned = make_scorer(scorer.study, name="Tuned", sha256="c" * 64, uses_topic=True)
    matrix(ROWS, COLUMNS, of=tuned, topic=TOPIC)
    prefixed = [[f"{TOPIC}: {text}" for text in texts] for texts in (ROWS, COLUMNS)]
    assert Counting.asked == prefixed
    symmetric = matrix(ROWS, ROWS, of=tuned, topic=TOPIC)
    assert np.allclose(symmetric, symmetric.T)
    assert np.allclose(np.diag(symmetric), 1)
    # Nothing new was read.
    assert Counting.asked == prefixed


def test_a_writer_that_dies_leaves_nothing_and_a_file_cut_short_is_written_again():
    def dies(out):
        out[0] = 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kept("key", (2, 2), dies)
    assert list(folder().iterdir()) == []
    assert kept("key", (2, 2), lambda out: out.fill(3)).tolist() == [[3, 3], [3, 3]]
    path = folder() / "key.npy"
    path.write_bytes(path.read_bytes()[:-5])
    assert kept("key", (2, 2), lambda out: out.fill(4)).tolist() == [[4, 4], [4, 4]]
    path.write_bytes(b"no array")
    assert kept_rows("key", 1, lambda: np.ones((1, 3))).tolist() == [[1, 1, 1]]
    assert kept("nothing", (0, 5), lambda out: 1 / 0).shape == (0, 5)


def test_what_nobody_read_goes_first(monkeypatch):
    day = 86_400
    paths = [folder() / f"{key_of(str(number))}.npy" for number in range(3)]
    for number in range(3):
        kept(key_of(str(number)), (250,), lambda out: out.fill(1))
    left = folder() / "dead-worker.part"
    left.write_bytes(b"x")
    now = paths[0].stat().st_mtime
    for path, days in ((paths[0], 29), (paths[1], 31), (left, 2)):
        os.utime(path, (now - days * day,) * 2)
    assert clear_scores(now) == 2
    assert sorted(folder().iterdir()) == sorted([paths[0], paths[2]])
    # A read is what keeps a file: the oldest goes when there is too much.
    monkeypatch.setattr(actions, "MOST_BYTES", 2_000)
    kept(key_of("0"), (250,), lambda out: 1 / 0)
    os.utime(paths[2], (now - day,) * 2)
    assert clear_scores(now) == 1
    assert list(folder().iterdir()) == [paths[0]]


@pytest.mark.django_db
def test_every_study_begins_with_scorers_that_come_with_the_site(django_assert_num_queries):
    study = make_study()
    match, quality = scorers.default_scorers(study)
    assert (match.name, quality.name) == ("Counterpoint match", "Counterpoint quality")
    assert study.scorers.count() == 4
    assert len(match.sha256) == len(quality.sha256) == 64
    with django_assert_num_queries(2):
        assert scorers.default_scorers(study) == (match, quality)
    dataset = make_dataset(study)
    make_dataset(make_study("Other"))
    known = CellArgument.objects.filter(cell__dataset=dataset).first()
    match, quality = scorers.default_scorers(study)
    assert quality.name == "Imported quality"
    said = scorers.quality_scorer_of(quality).scores([known.text, "Unheard of."])
    assert said[0] == pytest.approx(known.quality)
    assert np.isnan(said[1])
    with pytest.raises(ScorerRefused, match="not a match scorer"):
        scorers.match_scorer_of(quality)
    match.state = "training"
    with pytest.raises(ScorerRefused, match="not ready"):
        scorers.match_scorer_of(match)


def test_weights_are_read_once_until_a_file_of_them_changes(tmp_path):
    weights, hash_of = tmp_path / "model.safetensors", actions.weights_hash
    weights.write_bytes(b"first")
    first = hash_of(str(tmp_path))
    read = actions._hash_of_files.cache_info().misses
    assert hash_of(str(tmp_path)) == first
    assert actions._hash_of_files.cache_info().misses == read
    # As long, and put in place at once.
    (tmp_path / "new").write_bytes(b"other")
    (tmp_path / "new").rename(weights)
    other = hash_of(str(tmp_path))
    (tmp_path / "more.bin").write_bytes(b"more")
    assert len({first, other, hash_of(str(tmp_path))}) == 3


@pytest.mark.django_db
def test_a_new_scorer_names_a_model_and_no_folder_of_the_server(place):
    usual = {"study": make_study(), "actor": None, "task": "match", "kind": "bi_encoder"}
    for model in ("/etc", "../x", "a/../b", "", ".hidden", "argsum", "a\x00b", "a/b/c"):
        with pytest.raises(ScorerRefused):
            scorers.add_scorer(name=f"Bad {model!r}", base_model=model, **usual)
    made = scorers.add_scorer(name="Hub", base_model="org/model", threshold=0.5, **usual)
    assert (made.state, made.threshold) == ("ready", 0.5)
    with pytest.raises(ScorerRefused, match="with this name"):
        scorers.add_scorer(name="Hub", base_model="org/model", **usual)
    with pytest.raises(ScorerRefused, match="needs training"):
        scorers.add_scorer(name="R", **usual | {"task": "quality", "kind": "regressor"})
    (place / "models/own").mkdir(parents=True)
    (place / "models/own/model.safetensors").write_bytes(b"weights")
    mine = scorers.add_scorer(name="Own", base_model="own", **usual)
    (place / "models/own/model.safetensors").write_bytes(b"other weights")
    assert mine.sha256 != scorers.add_scorer(name="Newer", base_model="own", **usual).sha256


@pytest.mark.django_db
def test_a_model_that_reads_both_texts_says_how_far_it_is_and_can_be_stopped(monkeypatch):
    asked, heard = [], []

    def read(model, pairs):
        asked.extend(pairs)
        return np.array([len(first) / 100 for first, _second in pairs], dtype=np.float32)

    def stops(done, total):
        raise StaleWorker

    monkeypatch.setattr(actions.CrossEncoder, "_read", read)
    model = actions.CrossEncoder("any", uses_topic=True)
    model.say = lambda done, total: heard.append((done, total))
    found = model.fill(np.empty((2, 3), np.float32), ROWS, COLUMNS, topic=TOPIC)
    assert (found.shape, heard) == ((2, 3), [(1, 2), (2, 2)])
    # The topic is read once for each pair, before the first text.
    assert asked[0] == (f"{TOPIC}: {ROWS[0]}", COLUMNS[0])
    model.say = stops
    asked.clear()
    with pytest.raises(StaleWorker):
        model.fill(found, ROWS, COLUMNS, topic=TOPIC)
    assert len(asked) == len(COLUMNS)
    # A run hears how far such a model is.
    scorer = make_scorer(make_study(), kind="cross_encoder", base_model="some/model")
    run = SystemRun(match_scorer=scorer)
    solver.RunScorers(run, lambda done, total: heard.append(done)).match.inner.say(1, 2)
    assert heard[2:] == [1]


@pytest.mark.django_db
def test_figures_of_clusters_are_kept_together(django_assert_num_queries):
    first, second = make_dataset(make_study()).cells.all()
    kept = {make_set(first, clusters=[0, 0, 0, 1, 1, 1]).pk}
    everything = SummarySet.objects.all()
    assert set(cluster_values(everything, "here")) == kept
    with django_assert_num_queries(1):
        assert cluster_values(everything, "here")
    kept.add(make_set(second, clusters=[0, 0, 0, -1, -1, -1]).pk)
    assert set(cluster_values(everything, "here")) == kept
    everything.filter(cell=first).delete()
    assert set(cluster_values(everything, "here")) == {max(kept)}
