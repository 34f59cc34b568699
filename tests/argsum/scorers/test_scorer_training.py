"""A match scorer and a quality scorer are trained on an invented dataset with a tiny model."""

import json
from dataclasses import replace

import pytest
from safetensors.numpy import load_file

from argsum.datasets.models import CellArgument
from argsum.scorers.actions import (
    torch_training,
    trainers,
    training as scorer_training,
    training_data,
)
from argsum.scorers.actions.models import ScorerRefused, trained_folder
from argsum.scorers.actions.scorers import match_scorer_of, quality_scorer_of
from argsum.scorers.actions.training_data import data_of
from argsum.scorers.methods.training import ScorerRecipe
from argsum.scorers.models import Scorer
from cqa_site.judging import training as torch_loop
from cqa_site.runs.jobs import StaleWorker
from cqa_site.runs.models import Job
from tests.argsum.made_cells import make_dataset
from tests.argsum.scorers.tiny_models import trained
from tests.cast import make_member, make_study

# Models that learn, however small, and torch.
pytestmark = [pytest.mark.django_db, pytest.mark.long, pytest.mark.usefixtures("one_thread")]
LOSSES = {"entropy": 1, "scale": 16, "contrast": 0.5, "temperature": 0.07}
SIZES = {"steps": 24, "batch": 6, "longest": 32, "frozen": 0, "members": 1}
CHECKS = {"checks": 3, "patience": 3, "averaging": 0.5}
RECIPE = ScorerRecipe(**LOSSES, **SIZES, **CHECKS, learning_rate=1e-2, uses_topic=False)

# Looks at dev after steps 2 and 4; enough where nothing has to be learned.
SHORT = replace(RECIPE, steps=4, checks=2)


def ask(study, dataset, **changed):
    usual = {"name": "Tuned", "task": "match", "base_model": "tiny", "recipe": RECIPE}
    plan = {"study": study, "dataset": dataset, "actor": None} | usual
    return scorer_training.request_training(**plan | changed)


def test_a_trained_scorer_separates_what_the_model_did_not(data, study, dataset):
    scorer = trained(ask(study, dataset))
    assert (scorer.state, scorer.job.state) == ("ready", "done")
    figures = scorer.figures
    # The test cells are those that were learned: what is learned is found again.
    assert (figures["test"]["arguments"], figures["test"]["accuracy"]) == (12, 1)
    whole = dict.fromkeys(("excluding", "excluding_with_zeros", "including"), 1)
    assert figures["test"]["oracle"] == whole | {"cells_clustered": 2, "cells_judged": 2}
    assert [each["step"] for each in figures["looks"]] == [8, 8, 16, 16, 24, 24]
    assert figures["losses"][-1]["loss"] < figures["losses"][0]["loss"]
    assert scorer.threshold == figures["chosen"]["threshold"]
    json.dumps(figures, allow_nan=False)
    folder = trained_folder(scorer)
    assert scorer.folder == folder.name
    assert (folder / "MODEL_CARD.md").read_text() == scorer.card
    assert "| test | 2 | 12 | 1.000 |" in scorer.card
    assert list(load_file(folder / "model.safetensors"))
    assert not list(folder.parent.glob("*checkpoint*"))
    points = ["Night buses disturb sleep", "Night buses cost too much"]
    said = ["An engine under the window wakes whole families."]
    same, other = match_scorer_of(scorer).matrix(said, points)[0]
    assert same > scorer.threshold > other


def test_a_training_ends_early_where_dev_gets_no_better(data, study, dataset, monkeypatch):
    monkeypatch.setattr(training_data, "pair_precision", lambda cells: 0.5)
    made = trained(ask(study, dataset, recipe=replace(SHORT, checks=4, patience=2)))
    # The first look is the best; the two after it are not better.
    assert made.figures["steps"] == 3


def test_the_topic_stands_before_all_that_is_learned_and_judged(data, study, dataset, monkeypatch):
    read = []
    usual = torch_training.MatchTraining._vectors

    def noted(self, texts):
        read.extend(texts)
        return usual(self, texts)

    monkeypatch.setattr(torch_training.MatchTraining, "_vectors", noted)
    made = trained(ask(study, dataset, recipe=replace(RECIPE, steps=2, uses_topic=True)))
    assert made.uses_topic
    assert "`topic: text`" in made.card
    assert read
    topics = tuple(f"{each}: " for each in dataset.cells.values_list("topic", flat=True))
    assert all(text.startswith(topics) for text in read)


def test_a_second_training_waits_and_can_be_cancelled(data, study, dataset, monkeypatch):
    monkeypatch.setattr(torch_loop, "WAITING", 0.01)
    said = []

    def cancelled(done, total, note=""):
        said.append(note)
        raise StaleWorker

    with torch_loop.ONE_AT_A_TIME, pytest.raises(StaleWorker):
        trainers.train(ask(study, dataset), data_of("match", dataset), cancelled)
    assert said == ["waiting for other training to finish"]
    assert not torch_loop.ONE_AT_A_TIME.locked()


def test_members_are_averaged_and_a_kill_changes_nothing(data, study, dataset):
    cells = data_of("match", dataset)
    recipe = replace(SHORT, members=2, seed=5)
    steps = []

    def train(name, recipe, dies_at=None):
        def say(done, total, note=""):
            steps.append(done)
            if done == dies_at:
                raise StaleWorker

        steps.clear()
        scorer = study.scorers.filter(name=name).first()
        scorer = scorer or ask(study, dataset, name=name, recipe=recipe)
        return scorer, trainers.train(scorer, cells, say)

    # It goes on after the look at step 2; then one member is whole, the other goes on likewise.
    for begins, dies in ((1, 3), (3, 7)):
        with pytest.raises(StaleWorker):
            train("Broken off", recipe, dies)
        assert steps[0] == begins
        assert not trained_folder(study.scorers.get()).exists()
    _broken, again = train("Broken off", recipe)
    assert steps[0] == 7
    whole, made = train("Whole", recipe)
    assert steps[-1] == 8
    assert again["sha256"] == made["sha256"]
    figures = made["figures"]
    assert (figures["looks"][-1]["step"], figures["steps"]) == (8, 8)
    assert [each["member"] for each in figures["looks"]] == [0] * 4 + [1] * 4
    assert len(figures["chosen_looks"]) == 2
    singles = [train(f"Single {n}", replace(recipe, members=1, seed=5 + n))[0] for n in range(2)]
    weights, *others = (
        load_file(trained_folder(each) / "model.safetensors") for each in (whole, *singles)
    )
    for name, values in weights.items():
        mean = sum(each[name].astype("float64") for each in others) / 2
        assert values == pytest.approx(mean, abs=1e-5)


def test_a_training_is_cancelled_and_goes_on_and_a_scorer_in_use_stays(data, study, dataset):
    boss = make_member(study, "researcher")
    scorer = ask(study, dataset, recipe=SHORT)
    assert scorer_training.cancel_training(scorer=scorer, actor=boss)
    assert not scorer_training.cancel_training(scorer=scorer, actor=boss)
    scorer.refresh_from_db()
    assert (scorer.state, scorer.job.state) == ("cancelled", "failed")
    assert trained(scorer_training.resume_training(scorer=scorer, actor=boss)).state == "ready"
    with pytest.raises(ScorerRefused, match="failed or cancelled training"):
        scorer_training.resume_training(scorer=scorer, actor=boss)
    folder = trained_folder(scorer)
    run = study.system_runs.create(
        dataset=dataset, number=1, label="Run", system="mcargsum", match_scorer=scorer
    )
    with pytest.raises(ScorerRefused, match="This scorer is used by a run"):
        scorer_training.delete_scorer(scorer=scorer, actor=boss)
    run.delete()
    scorer_training.delete_scorer(scorer=scorer, actor=boss)
    assert not Scorer.objects.filter(pk=scorer.pk).exists()
    assert folder.exists()  # gone with the commit, which a test never makes


def test_what_cannot_be_learned_is_refused(data, study, dataset):
    for change, said in (
        ({"base_model": "/etc"}, "neither a model name"),
        ({"base_model": "../models/tiny"}, "neither a model name"),
        ({"base_model": "argsum/systems"}, "folder on the server"),
        ({"dataset": make_dataset(make_study("Other"))}, "another study"),
        ({"dataset": make_dataset(study, name="Test only")}, "train split"),
    ):
        with pytest.raises(ScorerRefused, match=said):
            ask(study, **{"dataset": dataset} | change)
    (data / "models/empty").mkdir()
    scorer = trained(ask(study, dataset, base_model="empty"))
    assert (scorer.state, Job.objects.get(pk=scorer.job_id).state) == ("failed", "failed")
    assert "could not be loaded" in scorer.error
    with pytest.raises(ScorerRefused, match="with this name"):
        ask(study, dataset)
    assert study.scorers.count() == 1


def test_a_quality_scorer_is_a_line_through_vectors(data, study, dataset):
    scorer = trained(ask(study, dataset, task="quality", name="Quality"))
    assert (scorer.state, scorer.kind) == ("ready", "regressor")
    assert scorer.figures["train"]["n"] == 12
    # As many weights as texts: what was learned is found again, in dev and test too.
    assert scorer.figures["test"]["pearson"] > 0.9
    texts = list(CellArgument.objects.filter(cell__split="test").values_list("text", flat=True))
    said = quality_scorer_of(scorer).scores(texts)
    assert said.shape == (12,)
    known = CellArgument.objects.get(cell__split="test", text=texts[0]).quality
    assert abs(said[0] - known) < 0.03
    CellArgument.objects.filter(cell__split="dev").update(quality=None)
    with pytest.raises(ScorerRefused, match="dev split"):
        ask(study, dataset, task="quality", name="Again")


def test_a_torn_checkpoint_is_none_and_one_model_read_in_two_ways_keeps_two_matrices(
    tmp_path, study
):
    """Cosines must never stand for the scores of a model that reads both texts."""
    for content in (b"", b"\x80\x02torn"):
        (tmp_path / "x.checkpoint").write_bytes(content)
        assert torch_loop.read(tmp_path / "x.checkpoint") is None
    about = {"task": "match", "sha256": "a", "state": "ready", "base_model": "all-MiniLM-L6-v2"}
    kinds = ("bi_encoder", "cross_encoder")
    one, other = (Scorer(study=study, name=kind, kind=kind, **about) for kind in kinds)
    assert match_scorer_of(one).key != match_scorer_of(other).key
