"""Faithfulness by system and condition, with intervals, cached for each state of the data."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

from django.core.cache import cache
from django.db.models import Count, Max, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import QueryDict
from django.utils.translation import get_language

from annotation.answers.models import Condition, System
from annotation.editing.reports import newest_revisions
from annotation.faithfulness.methods.faithfulness import AnswerFigures, pool
from annotation.faithfulness.models import CoherenceVerdict, EditedText, FaithfulnessFigures
from cqa_site.people.models import Study
from cqa_site.runs.models import Run
from cqa_site.stats.estimate import Estimate
from cqa_site.stats.means import clustered_mean
from .texts import Relabel, known_labels, mark_of_labels

Part = tuple[float, int]
COHERENCE = "coherence"
# Groups are compared by the first of these measures that has values.
HEADLINES = ("f1", "similarity", "jaccard_segment")
# Minimum and maximum of measures that are not shares.
LIMITS = {"levenshtein": (0.0, math.inf), "similarity": (-1.0, 1.0)}


@dataclass(frozen=True, slots=True, order=True)
class TextGroup:
    """Texts of one system and condition, either as written or as edited by experts."""

    system: int
    condition: int
    is_edited: bool


@dataclass(slots=True)
class Members:
    """The texts of a group, each with its question."""

    questions: list[int] = field(default_factory=list)
    figures: list[AnswerFigures] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class CitationVerdictCounts:
    """Number of judged citations, and of unjudged citations by reason."""

    scored: int
    unscored: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class GroupFigures:
    """Source and number of a group's texts, texts left out, and measures by name.

    ``by_question`` contains the means of the `HEADLINES` by question, where they exist.
    """

    system: str
    name: str
    kind: str
    scenario: int
    condition: str
    condition_name: str
    is_plain: bool
    is_edited: bool
    n_answers: int
    n_questions: int
    n_segments: int
    n_scored: int
    skipped: dict[str, int]
    out_of_range: int
    malformed: int
    measures: dict[str, Estimate]
    by_question: dict[str, dict[int, float]]
    verdicts: CitationVerdictCounts


class VerdictTally(NamedTuple):
    """Number of a text's citations with one verdict; ``text`` is (answer, revision or None)."""

    question: int
    text: tuple[int, int | None]
    is_coherent: bool | None
    reason: str
    number: int


def _one(value: float | None) -> Part:
    return (0.0, 0) if value is None else (value, 1)


def _many(values: tuple[float, ...]) -> Part:
    return sum(values), len(values)


# For each measure, the total of a text's values and their number
PARTS: dict[str, Callable[[AnswerFigures], Part]] = {
    "jaccard_text": lambda figures: _one(figures.jaccard_text),
    "jaccard_segment": lambda figures: _many(figures.jaccard_segments),
    "levenshtein": lambda figures: _many(figures.levenshtein),
    "similarity": lambda figures: _many(figures.similarity),
    "precision": lambda figures: _one(figures.precision),
    "recall": lambda figures: _one(figures.recall),
    "f1": lambda figures: _one(figures.f1),
}


def compute_groups(
    study: Study, mode: str, run: Run | None, whose: str = ""
) -> list[GroupFigures]:
    """Return one entry per group in the order of systems and conditions.

    ``whose`` names the labels for precision, recall and F1; if empty, the stored values are used.
    """
    members = members_of(study, mode, whose)
    verdicts = _verdicts(run)
    systems = {system.pk: system for system in System.objects.filter(study=study)}
    conditions = {condition.pk: condition for condition in study.conditions.all()}
    order = {pk: place for place, pk in enumerate(conditions)}
    groups = sorted(
        {*members, *verdicts},
        key=lambda cohort: (
            systems[cohort.system].name,
            order[cohort.condition],
            cohort.is_edited,
        ),
    )
    return [
        _figures(
            systems[group.system],
            conditions[group.condition],
            members[group],
            SHARES[mode],
            verdicts.get(group, []),
            is_edited=group.is_edited,
        )
        for group in groups
    ]


def members_of(study: Study, mode: str, whose: str = "") -> dict[TextGroup, Members]:
    """Return stored figures of all answers and of each sheet's newest revision, by group."""
    rows = FaithfulnessFigures.objects.filter(mode=mode)
    revisions = newest_revisions(study).values("pk")
    kinds = [
        (False, rows.filter(answer__study=study), "answer"),
        (True, rows.filter(revision__in=revisions), "revision__sheet__answer"),
    ]
    relabel = Relabel(study, mode, whose) if whose else None
    members: dict[TextGroup, Members] = defaultdict(Members)
    for is_edited, chosen, path in kinds:
        names = ("system", "condition", "question", "argument_list")
        columns = (*(f"{path}__{name}" for name in names), "values")
        for system, condition, question, listed, values in chosen.values_list(*columns).iterator():
            group = members[TextGroup(system, condition, is_edited)]
            figures = AnswerFigures.from_json(values)
            group.questions.append(question)
            group.figures.append(relabel(figures, listed) if relabel else figures)
    return members


def _figures(
    system: System,
    condition: Condition,
    members: Members,
    share: Callable[[Iterable[VerdictTally]], Estimate],
    verdicts: list[VerdictTally],
    *,
    is_edited: bool,
) -> GroupFigures:
    pooled = pool(members.figures)
    parts = {name: [part(figure) for figure in members.figures] for name, part in PARTS.items()}
    measures = {
        name: _estimate(members.questions, rows, LIMITS.get(name, (0.0, 1.0)))
        for name, rows in parts.items()
    }
    return GroupFigures(
        system=str(system.public_id),
        name=system.name,
        kind=system.kind,
        scenario=condition.scenario,
        condition=str(condition.public_id),
        condition_name=condition.name,
        is_plain=condition.is_plain,
        is_edited=is_edited,
        n_answers=pooled.n_answers,
        n_questions=len(set(members.questions)),
        n_segments=pooled.n_segments,
        n_scored=pooled.n_scored,
        skipped=dict(pooled.skipped),
        out_of_range=sum(len(figure.out_of_range) for figure in members.figures),
        malformed=sum(len(figure.malformed) for figure in members.figures),
        measures=measures | {COHERENCE: share(verdicts)},
        by_question={name: _by_question(members.questions, parts[name]) for name in HEADLINES},
        verdicts=_counts(verdicts),
    )


def _estimate(
    questions: Sequence[int], parts: Sequence[Part], limits: tuple[float, float] = (0.0, 1.0)
) -> Estimate:
    sums, counts = [row[0] for row in parts], [row[1] for row in parts]
    return clustered_mean(questions, sums, counts, limits=limits)


def _by_question(questions: Sequence[int], parts: Sequence[Part]) -> dict[int, float]:
    """Map each question with values to the mean of those values."""
    sums: dict[int, float] = defaultdict(float)
    counts: Counter[int] = Counter()
    for question, (total, n) in zip(questions, parts, strict=True):
        sums[question] += total
        counts[question] += n
    return {question: sums[question] / n for question, n in counts.items() if n}


def _verdicts(run: Run | None) -> dict[TextGroup, list[VerdictTally]]:
    tallies: dict[TextGroup, list[VerdictTally]] = defaultdict(list)
    if run is None:
        return tallies
    about = ("answer__system", "answer__condition", "answer__question", "answer", "revision")
    rows = run.coherence_verdicts.order_by().values_list(*about, "is_coherent", "reason")
    for system, condition, question, answer, revision, *tally in rows.annotate(Count("pk")):
        group = TextGroup(system, condition, revision is not None)
        tallies[group].append(VerdictTally(question, (answer, revision), *tally))
    return tallies


def _share_of_citations(verdicts: Iterable[VerdictTally]) -> Estimate:
    """Return the share of a group's scored verdicts that are coherent."""
    scored = [verdict for verdict in verdicts if verdict.is_coherent is not None]
    return _estimate(
        [tally.question for tally in scored],
        [(tally.number if tally.is_coherent else 0, tally.number) for tally in scored],
    )


def _mean_of_texts(verdicts: Iterable[VerdictTally]) -> Estimate:
    """Return the mean of the texts' own shares, so that every text counts equally.

    This is the relevance paper's argument-answer coherence (section 5.1).
    """
    texts: dict[tuple[int, Any], list[VerdictTally]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.is_coherent is not None:
            texts[verdict.question, verdict.text].append(verdict)
    shares = [
        sum(tally.number for tally in text if tally.is_coherent)
        / sum(tally.number for tally in text)
        for text in texts.values()
    ]
    return _estimate([question for question, _text in texts], [_one(share) for share in shares])


# Coherence of a group by mode
SHARES: dict[str, Callable[[Iterable[VerdictTally]], Estimate]] = {
    FaithfulnessFigures.Mode.SOUND: _share_of_citations,
    FaithfulnessFigures.Mode.PAPER: _mean_of_texts,
}


def _counts(verdicts: Sequence[VerdictTally]) -> CitationVerdictCounts:
    unscored: Counter[str] = Counter()
    for verdict in verdicts:
        if verdict.is_coherent is None:
            unscored[verdict.reason] += verdict.number
    total = sum(tally.number for tally in verdicts)
    return CitationVerdictCounts(scored=total - unscored.total(), unscored=dict(unscored))


# State of figures and verdicts on a dashboard, used as cache key

VERSION = 4
COHERENCE_KIND = "coherence"
KEPT_SECONDS = 24 * 3600
SOUND, PAPER = FaithfulnessFigures.Mode.SOUND, FaithfulnessFigures.Mode.PAPER


@dataclass(frozen=True, slots=True)
class FaithfulnessSelection:
    """Selected mode, and the run whose coherence verdicts count."""

    mode: str = SOUND
    run: str = ""
    # Groups to show: "plain", the id of a condition, or empty for all.
    condition: str = ""
    # Labels for precision, recall and F1: a round's id, "newest", or empty for the study's choice.
    labels: str = ""

    @classmethod
    def from_query(cls, query: QueryDict, study: Study | None = None) -> Self:
        """Read a selection from a URL query; labels are read only if a study is given."""
        mode = PAPER if query.get("mode") == PAPER else SOUND
        labels = known_labels(study, query.get("labels", "")) if study else ""
        return cls(mode, query.get("run", "")[:36], query.get("condition", "")[:36], labels)

    @property
    def query(self) -> str:
        """Selection as a URL query."""
        chosen = QueryDict(mutable=True)
        named = {"mode": "" if self.mode == SOUND else self.mode, "run": self.run}
        named |= {"condition": self.condition, "labels": self.labels}
        chosen.update({name: value for name, value in named.items() if value})
        return chosen.urlencode()


PLAIN = "plain"


def shown_groups(groups: list[GroupFigures], choice: FaithfulnessSelection) -> list[GroupFigures]:
    """Return the groups of the chosen condition; no group mixes conditions."""
    if not choice.condition:
        return groups
    if choice.condition == PLAIN:
        return [group for group in groups if group.is_plain]
    return [group for group in groups if group.condition == choice.condition]


def state_of(study: Study, whose: str = "") -> str:
    """Return a short key that changes with the figures, comparisons, verdicts or chosen labels."""
    figures = FaithfulnessFigures.objects.all()
    about = [
        figures.filter(answer__study=study),
        figures.filter(revision__sheet__answer__study=study),
        EditedText.objects.filter(before__study=study),
        CoherenceVerdict.objects.filter(run__study=study),
    ]
    # Systems can be renamed.
    names: list[Any] = list(study.systems.values_list("pk", "name"))
    # Names of conditions depend on the language.
    names.append(get_language())
    if whose:
        names.append(mark_of_labels(study, whose))
    seen = [VERSION, names, *(_mark(rows) for rows in about)]
    return hashlib.sha256(json.dumps(seen, default=str).encode()).hexdigest()[:16]


def _mark(rows: QuerySet) -> tuple[Any, ...]:
    totals = rows.aggregate(n=Count("pk"), last=Max("at"), newest=Max("pk"))
    return tuple(totals.values())


def judge_runs(study: Study) -> QuerySet[Run]:
    """Return the runs that judge the coherence of citations, newest first."""
    runs = study.runs.filter(kind=COHERENCE_KIND).exclude(state=Run.State.DRAFT)
    return runs.select_related("prompt", "endpoint").order_by("-number")


def counted_runs(study: Study) -> QuerySet[Run]:
    """Return all coherence runs with the counts ``scored`` and ``left`` (unscored verdicts)."""
    verdicts = CoherenceVerdict.objects.filter(run=OuterRef("pk")).order_by().values("run")
    scored = verdicts.annotate(n=Count("is_coherent")).values("n")
    unscored = verdicts.filter(is_coherent__isnull=True).annotate(n=Count("pk")).values("n")
    return (
        study.runs.filter(kind=COHERENCE_KIND)
        .select_related("prompt")
        .annotate(scored=Coalesce(Subquery(scored), 0), left=Coalesce(Subquery(unscored), 0))
        .order_by("-number")
    )


def chosen_run(runs: list[Run], choice: FaithfulnessSelection) -> Run | None:
    """Return the requested run, or the newest run by default."""
    newest = runs[0] if runs else None
    return next((run for run in runs if str(run.public_id) == choice.run), newest)


def version_of(state: str, choice: FaithfulnessSelection, run: Run | None) -> str:
    """Return a short key that identifies a chart's content, for its URL."""
    chosen = f"-{choice.condition[:8]}" if choice.condition else ""
    labels = f"-by-{choice.labels[:8]}" if choice.labels else ""
    return f"{state}-{choice.mode}-{run.number if run else 0}{chosen}{labels}"


def groups_of(
    study: Study, choice: FaithfulnessSelection, run: Run | None, state: str
) -> list[GroupFigures]:
    """Return the figures for a selection in this state, from the cache if possible."""
    everything = replace(choice, condition="")
    key = f"faithfulness-groups:{study.pk}:{version_of(state, everything, run)}"
    groups: list[GroupFigures] | None = cache.get(key)
    if groups is None:
        groups = compute_groups(study, choice.mode, run, choice.labels)
        cache.set(key, groups, KEPT_SECONDS)
    return shown_groups(groups, choice)
