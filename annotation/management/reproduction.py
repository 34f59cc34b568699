"""The relevance paper from its released files: import twice, settle labels, compute, compare."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.actions.adjudication import adopt_labels
from annotation.actions.consensus import recompute_final_labels
from annotation.actions.importing import Outcome, import_path
from annotation.methods.silver import SilverComparison, read_silver
from annotation.models import ImportFile, Rater
from annotation.reports.faithfulness_published import Key, faithfulness_values
from annotation.reports.relevance_paper import (
    Sources,
    consensus_values,
    crowd_values,
    expert_values,
    model_values,
    relabel_controls,
)
from annotation.reports.relevance_published import CONTROLS, KEPT, Figure, compare
from cqa_site.people.models import Study, User

Kind = ImportFile.Kind
FILES = (
    (Kind.TOLOKA, "assignments_from_pool_*.tsv"),
    (Kind.EXPERT_WORKBOOK, "expert_annotation.xlsx"),
    (Kind.FINAL_LABELS, "dataset_cqa_all_gpt.json"),
    (Kind.SILVER, "silver_112x3.json"),
    (Kind.SILVER, "silver_50x3.json"),
)
CAMPAIGNS = {Kind.TOLOKA: "Crowd", Kind.EXPERT_WORKBOOK: "Experts", Kind.FINAL_LABELS: "Released"}
OVERRIDING = 3


class DataMissing(Exception):
    """A released file is not where it was looked for."""


class NoSuchControl(Exception):
    """A relabelled item is no control item of the crowd."""


@dataclass(frozen=True)
class Choices:
    """What the person wants done differently from the paper."""

    min_accuracy: float = 0.5
    control_labels: dict[str, int] = field(default_factory=dict)


def reproduce_relevance(data: Path, choices: Choices) -> list[Figure]:
    """Compute every figure in the current database, which should be a throw-away one."""
    study = Study.objects.create(name="relevance")
    files = find_files(data)
    import_all(study, files)
    again = import_all(study, files)
    values: dict[str, Any] = {"added_twice": sum(outcome.added for outcome in again)}
    values |= study_values(study, choices)
    # The newest campaign with final labels is the one whose labels figures use.
    recompute_final_labels(study.campaigns.get(name=CAMPAIGNS[Kind.FINAL_LABELS]))
    values |= faithfulness_values(study, _subset(files))
    return compare(values, asked=_asked(choices))


def find_files(data: Path) -> list[tuple[str, Path]]:
    """The released files below a folder, or in its subfolder ``relevance``."""
    folder = data / "relevance" if (data / "relevance").is_dir() else data
    found = [(kind, next(iter(sorted(folder.glob(name))), folder / name)) for kind, name in FILES]
    for _kind, path in found:
        if not path.is_file():
            raise DataMissing(f"{path} is missing.")
    return found


def import_all(study: Study, files: list[tuple[str, Path]]) -> list[Outcome]:
    """Import every file as its page or command would."""
    return [
        import_path(
            study=study,
            kind=kind,
            path=path,
            name=path.name,
            options={"campaign": CAMPAIGNS.get(Kind(kind), "")},
            write=True,
        )
        for kind, path in files
    ]


def _subset(files: list[tuple[str, Path]]) -> set[Key]:
    """Pair and text of the answers in the smaller of the two files, which the larger has too."""
    *_others, (_kind, path) = files
    return {
        (each.object1, each.object2, text)
        for each in read_silver(path)
        if isinstance(each, SilverComparison)
        for text in each.answers
    }


def study_values(study: Study, choices: Choices) -> dict[str, Any]:
    """Every figure of the imported campaigns; settles the crowd's final labels on the way."""
    sources = _sources(study)
    missing = relabel_controls(sources.crowd, choices.control_labels)
    if missing:
        raise NoSuchControl(f"No control item of the crowd: {', '.join(missing)}.")
    return {
        **crowd_values(sources.crowd, choices.min_accuracy),
        **_settled_values(sources),
        **expert_values(sources),
        **model_values(sources.released),
    }


def _sources(study: Study) -> Sources:
    named = {campaign.name: campaign for campaign in study.campaigns.all()}
    batches = sorted(name for name in named if name.startswith("Experts: Batch"))
    return Sources(
        crowd=named["Crowd"],
        batches=tuple(named[name] for name in batches),
        controls=named["Experts: Control 1"],
        released=named["Released"],
    )


def _settled_values(sources: Sources) -> dict[str, Any]:
    """Final labels with the experts over the majority, then with ties as released."""
    crowd = sources.crowd
    crowd.overridden_by.set(sources.batches[:OVERRIDING])
    recompute_final_labels(crowd)
    before = consensus_values(sources)
    adopt_labels(
        campaign=crowd,
        source_campaign=sources.released,
        source_rater=Rater.objects.get(study=crowd.study, kind=Rater.Kind.REFERENCE),
        actor=_nobody(),
    )
    return {
        "equal_majority": before["equal_majority"],
        "equal_experts": before["equal_final"],
        "equal_adjudicated": consensus_values(sources)["equal_final"],
    }


def _nobody() -> User:
    return User.objects.create_user(None, name="reproduce")


def _asked(choices: Choices) -> dict[str, str]:
    reasons = {}
    if choices.min_accuracy != Choices.min_accuracy:
        reasons |= {each.key: f"workers kept from {choices.min_accuracy:g}" for each in KEPT}
    if choices.control_labels:
        why = f"{len(choices.control_labels)} control labels changed"
        reasons |= {each.key: why for each in (*CONTROLS, *KEPT)}
    return reasons
