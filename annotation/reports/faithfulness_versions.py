"""Which state of figures and verdicts a dashboard shows; what was computed is kept by it."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Self

from django.core.cache import cache
from django.db.models import Count, Max, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import QueryDict

from annotation.models import CoherenceVerdict, EditedText, FaithfulnessFigures
from cqa_site.people.models import Study
from cqa_site.runs.models import Run

VERSION = 1
COHERENCE_KIND = "coherence"
KEPT_SECONDS = 24 * 3600
SOUND, PAPER = FaithfulnessFigures.Mode.SOUND, FaithfulnessFigures.Mode.PAPER


@dataclass(frozen=True, slots=True)
class Choice:
    """What somebody wants to look at: a mode, and whose verdicts on coherence."""

    mode: str = SOUND
    run: str = ""

    @classmethod
    def from_query(cls, query: QueryDict) -> Self:
        """Read the part of an address behind the question mark."""
        mode = PAPER if query.get("mode") == PAPER else SOUND
        return cls(mode=mode, run=query.get("run", "")[:36])

    @property
    def query(self) -> str:
        """The same choice as part of an address."""
        chosen = QueryDict(mutable=True)
        named = {"mode": "" if self.mode == SOUND else self.mode, "run": self.run}
        chosen.update({name: value for name, value in named.items() if value})
        return chosen.urlencode()


def state_of(study: Study) -> str:
    """A short name that changes when figures, comparisons or verdicts change."""
    figures = FaithfulnessFigures.objects.all()
    about = [
        figures.filter(answer__study=study),
        figures.filter(revision__task__answer__study=study),
        EditedText.objects.filter(before__study=study),
        CoherenceVerdict.objects.filter(run__study=study),
    ]
    # A system can be renamed.
    names = list(study.systems.values_list("pk", "name"))
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
    """The same, those still being prepared too, with ``scored`` and ``unscored`` verdicts."""
    verdicts = CoherenceVerdict.objects.filter(run=OuterRef("pk")).order_by().values("run")
    scored = verdicts.annotate(n=Count("is_coherent")).values("n")
    unscored = verdicts.filter(is_coherent__isnull=True).annotate(n=Count("pk")).values("n")
    return (
        study.runs.filter(kind=COHERENCE_KIND)
        .select_related("prompt")
        .annotate(scored=Coalesce(Subquery(scored), 0), unscored=Coalesce(Subquery(unscored), 0))
        .order_by("-number")
    )


def chosen_run(runs: list[Run], choice: Choice) -> Run | None:
    """The run that was asked for, else the newest one."""
    newest = runs[0] if runs else None
    return next((run for run in runs if str(run.public_id) == choice.run), newest)


def version_of(state: str, choice: Choice, run: Run | None) -> str:
    """A short name of exactly what a picture shows, for its address."""
    return f"{state}-{choice.mode}-{run.number if run else 0}"


def groups_of(study: Study, choice: Choice, run: Run | None, state: str) -> list[dict[str, Any]]:
    """The figures of a choice in this state, computed now or kept from an earlier time."""
    key = f"faithfulness:{study.pk}:{version_of(state, choice, run)}"
    groups = cache.get(key)
    if groups is None:
        from .faithfulness import compute_groups

        groups = compute_groups(study, choice.mode, run)
        cache.set(key, groups, KEPT_SECONDS)
    return groups
