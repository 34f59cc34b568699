"""A writer is trained on an invented dataset with a tiny model, and writes for a run."""

from dataclasses import asdict, replace
from types import SimpleNamespace

import pytest
from django.test import override_settings
from django.urls import reverse
from safetensors.numpy import load_file

from argsum.datasets.models import CellArgument
from argsum.keypoints.actions import solver
from argsum.keypoints.actions.system_runs import SystemPlan, SystemRunRefused, start_system
from argsum.scorers.actions import trainers, training as scorer_training
from argsum.scorers.actions.models import ScorerRefused, checkpoint_of, trained_folder
from argsum.scorers.actions.scorers import request_try
from argsum.scorers.actions.training_data import data_of
from argsum.scorers.methods.training import WritingRecipe, writer_input
from cqa_site.judging import training as torch_training
from cqa_site.runs.jobs import StaleWorker, drain
from tests.argsum.made_cells import SIDES, TOPIC, make_dataset, make_learning_dataset, make_scorer
from tests.argsum.scorers.tiny_models import trained
from tests.cast import make_study

# Models that learn, however small, and torch.
pytestmark = [pytest.mark.django_db, pytest.mark.long, pytest.mark.usefixtures("one_thread")]
RECIPE = WritingRecipe(epochs=40, batch=4, learning_rate=1e-2, longest_in=64, longest_out=16)
POINTS = {point for _stance, points in SIDES for point in points}


def taught_study(folder):
    """A study with a writer that learned its four key points, in a data folder of its own."""
    with override_settings(DATA_DIR=folder):
        study = make_study("Taught")
        dataset = make_learning_dataset(study)
        writer = trained(ask(study, dataset))
        return SimpleNamespace(study=study, dataset=dataset, writer=writer, folder=folder)


@pytest.fixture(scope="module")
def built(models, one_thread, build_once, tmp_path_factory):
    folder = tmp_path_factory.mktemp("taught")
    (folder / "models").symlink_to(models, target_is_directory=True)
    return build_once(taught_study, folder)


@pytest.fixture
def taught(built, settings, db):
    world = built.copy()
    settings.DATA_DIR = world.folder
    return world


def ask(study, dataset, **changed):
    usual = {"name": "Scribe", "task": "write", "base_model": "tiny-t5", "recipe": RECIPE}
    plan = {"study": study, "dataset": dataset, "actor": None} | usual
    return scorer_training.request_training(**plan | changed)


def plan_with(study, dataset, **chosen):
    """A run for which the writer is to write."""
    scorer = make_scorer(study, name="tiny", base_model="tiny")
    usual = {"dataset": dataset, "match_scorer": scorer, "variant": "seq2seq"}
    return SystemPlan(**usual | {"writer_model": "Scribe"} | chosen)


def weights_of(scorer):
    return load_file(trained_folder(scorer) / "model.safetensors")


def test_what_a_writer_reads_and_how_it_is_told_to_learn(tmp_path):
    said = writer_input(TOPIC, 1, ["It is safe.", "It is cheap."])
    assert said == f"summarize: supporting {TOPIC} It is safe. It is cheap."
    assert writer_input(TOPIC, 0, ["Yes."]) == f"summarize: {TOPIC} Yes."
    assert WritingRecipe.stored(asdict(RECIPE) | {"unknown": 1}) == RECIPE
    usual = WritingRecipe()
    assert (usual.learning_rate, usual.epochs, usual.batch) == (4e-4, 15, 16)
    with pytest.raises(torch_training.RecipeError, match="epochs"):
        WritingRecipe(epochs=0)
    with pytest.raises(ScorerRefused):
        data_of("write", tmp_path)


def test_examples_hold_the_best_arguments_first(study, dataset):
    found = data_of("write", dataset)
    assert {split: len(each) for split, each in found.items()} == {"train": 4, "dev": 4, "test": 4}
    first = found["train"][0]
    assert first.key_point == "Night buses keep people safe"
    assert first.arguments[0] == "Nobody should have to walk home alone after midnight."
    CellArgument.objects.filter(text=first.arguments[2]).update(quality=1.0)
    CellArgument.objects.filter(text=first.arguments[1]).update(quality=None)
    again = data_of("write", dataset)["train"][0].arguments
    assert again == (first.arguments[2], first.arguments[0], first.arguments[1])


def test_a_writer_learns_and_is_kept_with_its_card(taught):
    scorer = taught.writer
    assert (scorer.state, scorer.job.state, scorer.kind) == ("ready", "done", "seq2seq")
    figures = scorer.figures
    assert figures["losses"][-1]["loss"] < figures["losses"][0]["loss"] / 2
    assert figures["test"]["loss"] < figures["test"]["loss_before"]
    assert figures["dev"]["loss"] == min(figures["epochs"]) < figures["epochs"][0]
    assert len(figures["epochs"]) == RECIPE.epochs + 1
    folder = trained_folder(scorer)
    assert (folder / "MODEL_CARD.md").read_text() == scorer.card
    assert list(weights_of(scorer))
    assert not list(folder.glob("*.bin"))
    assert "| dev | 4 |" in scorer.card
    assert "| learning_rate | 0.01 |" in scorer.card
    assert not checkpoint_of(scorer).exists()


def test_an_interrupted_training_goes_on_to_the_same_weights(data, study, dataset, monkeypatch):
    recipe = replace(RECIPE, epochs=12)
    whole = trained(ask(study, dataset, name="Whole", recipe=recipe))
    monkeypatch.setattr(torch_training, "EVERY", 4)
    scorer = ask(study, dataset, recipe=recipe)
    seen = []

    def until(step):
        def say(done, total, note=""):
            seen.append(done)
            if done == step:
                raise StaleWorker

        return say

    with pytest.raises(StaleWorker):
        trainers.train(scorer, data_of("write", dataset), until(10))
    seen.clear()
    made = trainers.train(scorer, data_of("write", dataset), until(None))
    # The last checkpoint is of an epoch's end: nothing before it is done again.
    assert seen[0] == 10
    assert made["figures"]["losses"] == whole.figures["losses"]
    kept = weights_of(scorer)
    assert all((kept[name] == value).all() for name, value in weights_of(whole).items())


REDUCED = {"neighbours": [50], "components": [2], "min_distance": [0.0], "iterative": [True]}
GRIDS = {"mcargsum": {"threshold": [0.0], "min_size": [2]}, "uskpm": REDUCED | {"min_size": [2]}}


@pytest.mark.parametrize("system", GRIDS)
def test_a_trained_writer_writes_for_a_run(taught, system, monkeypatch):
    study, halves, solved = taught.study, [0, 0, 0, 1, 1, 1], solver._asked
    # What clusters a model of random weights makes is not the question.
    monkeypatch.setattr(solver, "_asked", lambda *given: type(solved(*given))(clusters=halves))
    plan = plan_with(study, taught.dataset, split="test", system=system, grid=GRIDS[system])
    run = start_system(study=study, actor=None, plan=plan)
    drain()
    run.refresh_from_db()
    assert (run.state, run.error) == ("done", "")
    assert "Scribe" in run.label
    texts = [row.text for made in run.sets.all() for row in made.summaries.all()]
    assert len(texts) == 4
    assert {text.lower() for text in texts} <= {point.lower() for point in POINTS}
    with pytest.raises(ScorerRefused, match="This writer is used by a run"):
        scorer_training.delete_scorer(scorer=taught.writer, actor=None)


def test_what_a_writer_cannot_do_is_refused(data, study, dataset):
    writer = ask(study, dataset)
    plan = plan_with(study, dataset, system="mcargsum", grid=GRIDS["mcargsum"])
    with pytest.raises(SystemRunRefused, match="not ready"):
        start_system(study=study, actor=None, plan=plan)
    writer.state = "ready"
    with pytest.raises(ScorerRefused, match="cannot score"):
        request_try(scorer=writer, first="a", second="b", topic="", actor=None)
    with pytest.raises(ScorerRefused, match="train split has no key point"):
        ask(study, make_dataset(study), name="Empty")
    (data / "models/broken").mkdir()
    scorer = trained(ask(study, dataset, name="Broken", base_model="broken"))
    assert scorer.state == "failed"
    assert "“models” in the data folder" in scorer.error


def test_the_page_trains_a_writer(data, study, dataset, client):
    address = reverse("writer_train", args=[study.public_id])
    assert "google/flan-t5-base" in client.get(address).text
    given = {"name": "Scribe", "dataset": str(dataset.public_id), "model": "tiny-t5"}
    given |= {"seed": 1, "epochs": 2, "batch": 4, "learning_rate": 0.01}
    assert client.post(address, given | {"epochs": 0}).status_code == 422
    made = client.post(address, given)
    assert made.status_code == 302
    writer = trained(study.scorers.get(name="Scribe"))
    page = client.get(made["Location"]).text
    assert "Loss before" in page
    assert "Try it" not in page
    assert "4 key points" in client.get(reverse("scorers", args=[study.public_id])).text
    new_run = client.get(reverse("system_run_new", args=[study.public_id])).text
    assert '<option value="Scribe">' in new_run
    assert writer.recipe["epochs"] == 2
