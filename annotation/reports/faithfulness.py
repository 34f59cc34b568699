"""Faithfulness of a study's answers by system and scenario, with intervals over questions."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, QuerySet

from annotation.methods.faithfulness import Figures, pool
from annotation.models import FaithfulnessFigures, System
from cqa_site.people.models import Study
from cqa_site.runs.models import Run
from cqa_site.stats.clustered import clustered_mean
from cqa_site.stats.estimate import Estimate

from .edited_texts import newest_revisions

Part = tuple[float, int]
COHERENCE = "coherence"


@dataclass(frozen=True, slots=True, order=True)
class Group:
    """Texts that are pooled: of one system and scenario, as written or as experts edited them."""

    system: int
    scenario: int
    is_edited: bool


@dataclass(slots=True)
class Members:
    """The texts of a group, each with the question it answers."""

    questions: list[int] = field(default_factory=list)
    figures: list[Figures] = field(default_factory=list)


def _one(value: float | None) -> Part:
    return (0.0, 0) if value is None else (value, 1)


def _many(values: tuple[float, ...]) -> Part:
    return sum(values), len(values)


# What each measure takes from one text: a sum of values and their number.
PARTS: dict[str, Callable[[Figures], Part]] = {
    "jaccard_text": lambda figures: _one(figures.jaccard_text),
    "jaccard_segment": lambda figures: _many(figures.jaccard_segments),
    "levenshtein": lambda figures: _many(figures.levenshtein),
    "similarity": lambda figures: _many(figures.similarity),
    "precision": lambda figures: _one(figures.precision),
    "recall": lambda figures: _one(figures.recall),
    "f1": lambda figures: _one(figures.f1),
}


def compute_groups(study: Study, mode: str, run: Run | None) -> list[dict[str, Any]]:
    """One entry a group in the order of systems and scenarios, ready for JSON."""
    members = members_of(study, mode)
    verdicts = _verdicts(run)
    systems = {system.pk: system for system in System.objects.filter(study=study)}
    groups = sorted(
        {*members, *verdicts},
        key=lambda group: (systems[group.system].name, group.scenario, group.is_edited),
    )
    return [
        _entry(group, systems[group.system], members[group], verdicts.get(group, []))
        for group in groups
    ]


def members_of(study: Study, mode: str) -> dict[Group, Members]:
    """Stored figures of all answers and of the newest revision of each task, by group."""
    rows = FaithfulnessFigures.objects.filter(mode=mode)
    revisions = newest_revisions(study).values("pk")
    kinds = [
        (False, rows.filter(answer__study=study), "answer"),
        (True, rows.filter(revision__in=revisions), "revision__task__answer"),
    ]
    found: dict[Group, Members] = defaultdict(Members)
    for is_edited, chosen, path in kinds:
        columns = (f"{path}__system", f"{path}__scenario", f"{path}__question", "values")
        for system, scenario, question, values in chosen.values_list(*columns).iterator():
            group = found[Group(system, scenario, is_edited)]
            group.questions.append(question)
            group.figures.append(Figures.from_json(values))
    return found


def _entry(
    group: Group, system: System, members: Members, verdicts: list[tuple[Any, ...]]
) -> dict[str, Any]:
    pooled = pool(members.figures)
    estimates = {
        name: _estimate(members.questions, [part(each) for each in members.figures])
        for name, part in PARTS.items()
    }
    estimates[COHERENCE] = _share_coherent(verdicts)
    return {
        "system": str(system.public_id),
        "name": system.name,
        "kind": system.kind,
        "scenario": group.scenario,
        "is_edited": group.is_edited,
        "n_answers": pooled.n_answers,
        "n_questions": len(set(members.questions)),
        "n_segments": pooled.n_segments,
        "n_scored": pooled.n_scored,
        "skipped": dict(pooled.skipped),
        "out_of_range": sum(len(each.out_of_range) for each in members.figures),
        "malformed": sum(len(each.malformed) for each in members.figures),
        "measures": {name: found.as_dict() for name, found in estimates.items()},
        "verdicts": _counts(verdicts),
    }


def _estimate(questions: Iterable[int], parts: Iterable[Part]) -> Estimate:
    rows = list(parts)
    return clustered_mean(list(questions), [row[0] for row in rows], [row[1] for row in rows])


def _verdicts(run: Run | None) -> dict[Group, list[tuple[Any, ...]]]:
    """Group → (question, coherent or not or None, reason for None, how many)."""
    found: dict[Group, list[tuple[Any, ...]]] = defaultdict(list)
    if run is None:
        return found
    for system, scenario, question, revision, is_coherent, reason, count in _verdict_rows(run):
        group = Group(system, scenario, revision is not None)
        found[group].append((question, is_coherent, reason, count))
    return found


def _verdict_rows(run: Run) -> QuerySet:
    about = ("answer__system", "answer__scenario", "answer__question", "revision")
    rows = run.coherence_verdicts.order_by().values_list(*about, "is_coherent", "reason")
    return rows.annotate(Count("pk"))


def _share_coherent(verdicts: list[tuple[Any, ...]]) -> Estimate:
    """Share of coherent ones among the verdicts there are; an unscored one is none."""
    scored = [row for row in verdicts if row[1] is not None]
    return clustered_mean(
        [row[0] for row in scored],
        [row[3] if row[1] else 0 for row in scored],
        [row[3] for row in scored],
    )


def _counts(verdicts: list[tuple[Any, ...]]) -> dict[str, Any]:
    """How many citations were judged, and why others were not."""
    unscored: Counter[str] = Counter()
    for _question, is_coherent, reason, count in verdicts:
        if is_coherent is None:
            unscored[reason] += count
    asked = sum(row[3] for row in verdicts)
    return {"scored": asked - unscored.total(), "unscored": dict(unscored)}
