"""Which state of figures and verdicts a dashboard shows; what was computed is kept by it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from django.core.cache import cache
from django.db.models import Count, Max, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import QueryDict
from django.utils.translation import get_language

from annotation.faithfulness.models import CoherenceVerdict, EditedText, FaithfulnessFigures
from cqa_site.people.models import Study
from cqa_site.runs.models import Run

from .labels import known_labels, mark_of_labels

if TYPE_CHECKING:
    from .faithfulness import GroupFigures

VERSION = 4
COHERENCE_KIND = "coherence"
KEPT_SECONDS = 24 * 3600
SOUND, PAPER = FaithfulnessFigures.Mode.SOUND, FaithfulnessFigures.Mode.PAPER


@dataclass(frozen=True, slots=True)
class Choice:
    """What somebody wants to look at: a mode, and whose verdicts on coherence."""

    mode: str = SOUND
    run: str = ""
    # Which groups are shown: "plain", the id of a condition, or all.
    condition: str = ""
    # Whose labels precision, recall and F1 are by: a campaign's, "newest", or the study's choice.
    labels: str = ""

    @classmethod
    def from_query(cls, query: QueryDict, study: Study | None = None) -> Self:
        """Read the part of an address behind the question mark; labels only with a study."""
        mode = PAPER if query.get("mode") == PAPER else SOUND
        labels = known_labels(study, query.get("labels", "")) if study else ""
        return cls(mode, query.get("run", "")[:36], _condition(query), labels)

    @property
    def query(self) -> str:
        """The same choice as part of an address."""
        chosen = QueryDict(mutable=True)
        named = {"mode": "" if self.mode == SOUND else self.mode, "run": self.run}
        named |= {"condition": self.condition, "labels": self.labels}
        chosen.update({name: value for name, value in named.items() if value})
        return chosen.urlencode()


PLAIN = "plain"


def _condition(query: QueryDict) -> str:
    return query.get("condition", "")[:36]


def shown_groups(groups: list[GroupFigures], choice: Choice) -> list[GroupFigures]:
    """The groups of the chosen condition; none is ever mixed of several."""
    if not choice.condition:
        return groups
    if choice.condition == PLAIN:
        return [group for group in groups if group.is_plain]
    return [group for group in groups if group.condition == choice.condition]


def state_of(study: Study, whose: str = "") -> str:
    """A short name that changes when figures, comparisons, verdicts or chosen labels change."""
    figures = FaithfulnessFigures.objects.all()
    about = [
        figures.filter(answer__study=study),
        figures.filter(revision__sheet__answer__study=study),
        EditedText.objects.filter(before__study=study),
        CoherenceVerdict.objects.filter(run__study=study),
    ]
    # A system can be renamed.
    names: list[Any] = list(study.systems.values_list("pk", "name"))
    # Names of conditions are said in a language.
    names.append(get_language())
    if whose:
        names.append(mark_of_labels(study, whose))
    seen = [VERSION, names, *(_mark(rows) for rows in about)]
    return hashlib.sha256(json.dumps(seen, default=str).encode()).hexdigest()[:16]


def _mark(rows: QuerySet) -> tuple[Any, ...]:
    found = rows.aggregate(n=Count("pk"), last=Max("at"), newest=Max("pk"))
    return tuple(found.values())


def judge_runs(study: Study) -> QuerySet[Run]:
    """Runs that judged the coherence of citations, newest first."""
    runs = study.runs.filter(kind=COHERENCE_KIND).exclude(state=Run.State.DRAFT)
    return runs.select_related("prompt", "endpoint").order_by("-number")


def counted_runs(study: Study) -> QuerySet[Run]:
    """The same, those still being prepared too, with ``scored`` verdicts and those ``left``."""
    verdicts = CoherenceVerdict.objects.filter(run=OuterRef("pk")).order_by().values("run")
    scored = verdicts.annotate(n=Count("is_coherent")).values("n")
    unscored = verdicts.filter(is_coherent__isnull=True).annotate(n=Count("pk")).values("n")
    return (
        study.runs.filter(kind=COHERENCE_KIND)
        .select_related("prompt")
        .annotate(scored=Coalesce(Subquery(scored), 0), left=Coalesce(Subquery(unscored), 0))
        .order_by("-number")
    )


def chosen_run(runs: list[Run], choice: Choice) -> Run | None:
    """The run that was asked for, else the newest one."""
    newest = runs[0] if runs else None
    return next((run for run in runs if str(run.public_id) == choice.run), newest)


def version_of(state: str, choice: Choice, run: Run | None) -> str:
    """A short name of exactly what a picture shows, for its address."""
    chosen = f"-{choice.condition[:8]}" if choice.condition else ""
    labels = f"-by-{choice.labels[:8]}" if choice.labels else ""
    return f"{state}-{choice.mode}-{run.number if run else 0}{chosen}{labels}"


def groups_of(study: Study, choice: Choice, run: Run | None, state: str) -> list[GroupFigures]:
    """The figures of a choice in this state, computed now or kept from an earlier time."""
    everything = replace(choice, condition="")
    key = f"faithfulness-groups:{study.pk}:{version_of(state, everything, run)}"
    groups: list[GroupFigures] | None = cache.get(key)
    if groups is None:
        from .faithfulness import compute_groups

        groups = compute_groups(study, choice.mode, run, choice.labels)
        cache.set(key, groups, KEPT_SECONDS)
    return shown_groups(groups, choice)
