"""Judges on the released final labels: GPT-4's labels as released, and a judge trained here."""

from pathlib import Path

from annotation.actions.consensus import recompute_final_labels
from annotation.actions.judge_training import Say, train
from annotation.models import ImportFile
from annotation.reports.relevance_paper import model_values
from annotation.reports.relevance_published import MODEL, Figure, compare
from cqa_site.people.models import Study

from .reproduction import CAMPAIGNS, find_files, import_all

MEASURED = "measured here"


def reproduce_judge(data: Path, say: Say) -> list[Figure]:
    """Compute every figure in the current database, which should be a throw-away one.

    Raises DataMissing, ImportRefused, and JobRefused where nothing can be trained.
    """
    study = Study.objects.create(name="relevance")
    kind = ImportFile.Kind.FINAL_LABELS
    import_all(study, [each for each in find_files(data) if each[0] == kind])
    released = study.campaigns.select_related("guideline", "study").get(name=CAMPAIGNS[kind])
    recompute_final_labels(released)
    keys = {each.key for each in MODEL if each.released is not None}
    found = [each for each in compare(model_values(released)) if each.key in keys]
    trained = train(released, released, say)
    figures = trained.figures
    how = trained.recipe["embedding"] or "words only"
    return [
        *found,
        _measured("trained_n", "trained judge: arguments", figures["n"], ""),
        _measured("trained_pairs", "… pairs of objects", figures["pairs"], ""),
        _measured(
            "trained_ordinal", "… out of fold: alpha, ordinal", _value(figures, "ordinal"), how
        ),
        _measured(
            "trained_interval", "… out of fold: alpha, interval", _value(figures, "interval"), how
        ),
        _measured("trained_exact", "… out of fold: equal labels", figures["exact"], how),
    ]


def _value(figures: dict, level: str) -> float | None:
    return figures[level]["value"]


def _measured(key: str, name: str, ours: float | int | None, why: str) -> Figure:
    return Figure(
        key=key, name=name, paper="", released=None, ours=ours, digits=4, status=MEASURED, why=why
    )
