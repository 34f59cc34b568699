"""Judges on the released final labels: GPT-4's labels as released, and a judge trained here."""

from pathlib import Path

from annotation.consensus.actions.consensus import recompute_final_labels
from annotation.judges.actions.judge_training import Say, train
from annotation.judges.reports.found import TrainedFigures
from annotation.labelling.models.campaigns import campaigns_of
from annotation.papers.methods.relevance_release import model_release_values
from annotation.papers.reports.relevance_paper import model_values
from annotation.papers.reports.relevance_published import MODEL, compare_values
from cqa_site.people.models import Study
from cqa_site.reproduction.figures import Figure, Found, Key, Measured, compare

from .reproduction import CAMPAIGNS, find_files, import_all

TRAINED = "judge trained here, out of fold"


def reproduce_judge(data: Path, say: Say) -> list[Figure]:
    """Compute every figure in the current database, which should be a throw-away one.

    Raises DataMissing, ImportRefused, and JobRefused where nothing can be trained.
    """
    study = Study.objects.create(name="relevance")
    kind = "final_labels"
    files = [each for each in find_files(data) if each[0] == kind]
    import_all(study, files)
    released = campaigns_of(study).select_related("guideline").get(name=CAMPAIGNS[kind])
    recompute_final_labels(released)
    stored = model_release_values(files[0][1])
    found = [
        each for each in compare_values(stored, model_values(released)) if each.table == MODEL
    ]
    trained = train(released, released, say)
    return found + compare(_trained(trained.figures, trained.recipe["embedding"] or "words only"))


def _trained(figures: TrainedFigures, recipe: str) -> dict[Key, Found]:
    values = {
        "arguments": figures.n,
        "pairs of objects": figures.pairs,
        "alpha, ordinal": figures.ordinal.value,
        "alpha, interval": figures.interval.value,
        "equal labels": figures.exact,
    }
    return {
        (TRAINED, cell): Found(ours=Measured((value,)), recipe=recipe)
        for cell, value in values.items()
        if value is not None
    }
