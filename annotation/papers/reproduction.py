"""Reproduction of the relevance paper and training of a judge from the released files."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from annotation.answers.models import System
from annotation.consensus.actions.consensus import recompute_final_labels
from annotation.consensus.actions.decisions import adopt_labels
from annotation.judges.actions.judge_training import train
from annotation.judges.reports.results import TrainedFigures
from annotation.labelling.models import label_rounds_of
from annotation.papers.methods.relevance_answers import (
    Embed,
    answer_values,
    read_answers,
    subset_of,
)
from annotation.papers.methods.relevance_paper import (
    OVERRIDING,
    model_release_values,
    release_values,
)
from annotation.papers.reports import (
    CONTROLS,
    FIGURES,
    KEPT,
    MODEL,
    Sources,
    cited_answers,
    compare_values,
    consensus_values,
    crowd_values,
    expert_values,
    model_values,
    relabel_controls,
)
from cqa_site.files.actions.imports import ImportOutcome, import_path
from cqa_site.judging.embedding import SentenceEmbedder, embeddings_available
from cqa_site.judging.training import Say
from cqa_site.people.models import Rater, Study, User
from cqa_site.reproduction.figures import (
    Key,
    MeasuredFigure,
    PaperFigure,
    ReproducedValue,
    compare,
)

Written = System.Kind
Files = list[tuple[str, Path]]
FILES = (
    ("toloka", "assignments_from_pool_*.tsv"),
    ("expert_workbook", "expert_annotation.xlsx"),
    ("final_labels", "dataset_cqa_all_gpt.json"),
    ("silver", "silver_112x3.json"),
    ("silver", "silver_50x3.json"),
    ("gold", "gold_40_plus_10x4.json"),
)
LABEL_ROUNDS = {"toloka": "Crowd", "expert_workbook": "Experts", "final_labels": "Released"}


class DataMissing(Exception):
    """A released file is missing from its expected place."""


class NoSuchControl(Exception):
    """An item to relabel is not a control item of the crowd."""


@dataclass(frozen=True)
class Choices:
    """A user's deviations from the paper's settings."""

    min_accuracy: float = 0.5
    control_labels: dict[str, int] = field(default_factory=dict)


def reproduce_relevance(data: Path, choices: Choices) -> list[PaperFigure]:
    """Compute every figure twice: directly from the files, and after importing them.

    This uses the current database, which should be temporary.
    """
    files = find_files(data)
    study = Study.objects.create(name="relevance")
    import_all(study, files)
    again = import_all(study, files)
    embed = _embedder()
    subset = subset_of([path for kind, path in files if kind == "silver"][-1])
    ours = study_values(study, choices)
    # Figures use the labels of the newest round with final labels.
    recompute_final_labels(label_rounds_of(study).get(name=LABEL_ROUNDS["final_labels"]))
    gold, silver = (cited_answers(study, kind) for kind in (Written.HUMAN, Written.MODEL))
    ours |= answer_values(gold, silver, subset, embed)
    # Importing the same files again must not add anything.
    ours["added_twice"] = sum(outcome.added for outcome in again)
    released = released_values(files, choices, embed) | {"added_twice": 0}
    return compare_values(released, ours, recipes=_recipes(choices))


def released_values(files: Files, choices: Choices, embed: Embed | None) -> dict[str, Any]:
    """Compute the figures without importers or a database, with control labels as released."""
    votes, experts, final, *silver, edited = (path for _kind, path in files)
    gold, machine = read_answers(edited, silver, final)
    return release_values(votes, experts, final, min_accuracy=choices.min_accuracy) | (
        answer_values(gold, machine, subset_of(silver[-1]), embed)
    )


def _embedder() -> Embed | None:
    """Return the bundled model's embedder with a cache, or None if its packages are missing."""
    if not embeddings_available():
        return None
    embedder = SentenceEmbedder()
    known: dict[str, Any] = {}

    def embed(texts: list[str]) -> Any:
        new = [text for text in texts if text not in known]
        known.update(zip(new, embedder.encode(new), strict=True))
        return np.stack([known[text] for text in texts])

    return embed


def find_files(data: Path) -> Files:
    """Find the released files in a folder or in its subfolder ``relevance``."""
    folder = data / "relevance" if (data / "relevance").is_dir() else data
    files: Files = [
        (kind, next(iter(sorted(folder.glob(name))), folder / name)) for kind, name in FILES
    ]
    for _kind, path in files:
        if not path.is_file():
            raise DataMissing(f"{path} is missing.")
    return files


def import_all(study: Study, files: Files) -> list[ImportOutcome]:
    """Import every file in the same way as its page or command."""
    return [
        import_path(
            study=study,
            kind=kind,
            path=path,
            name=path.name,
            options={"label_round": LABEL_ROUNDS.get(kind, "")},
            write=True,
        )
        for kind, path in files
    ]


def study_values(study: Study, choices: Choices) -> dict[str, Any]:
    """Compute all figures of the imported rounds, and settle the crowd's final labels."""
    sources = _sources(study)
    missing = relabel_controls(sources.crowd, choices.control_labels)
    if missing:
        raise NoSuchControl(f"No control item of the crowd: {', '.join(missing)}.")
    return {
        **crowd_values(sources.crowd, choices.min_accuracy),
        **_settled_values(sources),
        **expert_values(sources.controls, sources.batches),
        **model_values(sources.released),
    }


def _sources(study: Study) -> Sources:
    named = {label_round.name: label_round for label_round in label_rounds_of(study)}
    batches = sorted(name for name in named if name.startswith("Experts: Batch"))
    return Sources(
        crowd=named["Crowd"],
        batches=tuple(named[name] for name in batches),
        controls=named["Experts: Control 1"],
        released=named["Released"],
    )


def _settled_values(sources: Sources) -> dict[str, Any]:
    """Compare majorities, expert overrides and ties (settled as released) with released labels."""
    crowd = sources.crowd
    crowd.overridden_by.set(sources.batches[:OVERRIDING])
    recompute_final_labels(crowd)
    before = consensus_values(sources)
    adopt_labels(
        label_round=crowd,
        source=sources.released,
        rater=Rater.objects.get(study=crowd.study, kind=Rater.Kind.REFERENCE),
        actor=User.objects.create_user(None, name="reproduce"),
    )
    recompute_final_labels(crowd)
    return {
        "equal_majority": before["equal_majority"],
        "equal_experts": before["equal_final"],
        "equal_adjudicated": consensus_values(sources)["equal_final"],
    }


def _recipes(choices: Choices) -> dict[str, str]:
    if not choices.control_labels:
        return {}
    recipe = f"{len(choices.control_labels)} control labels changed"
    return {figure.key: recipe for figure in FIGURES if figure.table in (CONTROLS, KEPT)}


TRAINED = "judge trained here, out of fold"


def reproduce_judge(data: Path, say: Say) -> list[PaperFigure]:
    """Compute all figures in the current database, which should be temporary.

    Raises DataMissing, ImportRefused, or JobRefused if no judge can be trained.
    """
    study = Study.objects.create(name="relevance")
    kind = "final_labels"
    files = [file for file in find_files(data) if file[0] == kind]
    import_all(study, files)
    released = label_rounds_of(study).select_related("guideline").get(name=LABEL_ROUNDS[kind])
    recompute_final_labels(released)
    stored = model_release_values(files[0][1])
    figures = [
        figure
        for figure in compare_values(stored, model_values(released))
        if figure.table == MODEL
    ]
    trained = train(released, released, say)
    return figures + compare(
        _trained(trained.figures, trained.recipe["embedding"] or "words only")
    )


def _trained(figures: TrainedFigures, recipe: str) -> dict[Key, ReproducedValue]:
    values = {
        "arguments": figures.n,
        "pairs of objects": figures.pairs,
        "alpha, ordinal": figures.ordinal.value,
        "alpha, interval": figures.interval.value,
        "equal labels": figures.exact,
    }
    return {
        (TRAINED, cell): ReproducedValue(ours=MeasuredFigure((value,)), recipe=recipe)
        for cell, value in values.items()
        if value is not None
    }
