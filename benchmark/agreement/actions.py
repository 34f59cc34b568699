"""Requested agreement figures, and the job that computes them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from benchmark.agreement.methods.figures import Agreement, without_untested
from benchmark.agreement.reports.snapshot import snapshot_of
from benchmark.leaderboard.models import BoardSnapshot
from benchmark.leaderboard.reports.snapshot import (
    AGREEMENT,
    Filters,
    conditions_of_rows,
    known_condition,
)
from cqa_site.people.models import Study, User
from cqa_site.runs.models import Job
from cqa_site.stats.estimate import from_json
from ..leaderboard.actions import find_slice


@dataclass(frozen=True)
class AgreementState:
    """Requested figures; None if they do not exist yet or ``job`` is computing them.

    ``condition`` is the id of the condition that they cover; empty for all conditions together.
    """

    snapshot: BoardSnapshot | None = None
    condition: str = ""
    stored: dict[str, Any] | None = None
    job: Job | None = None

    @cached_property
    def figures(self) -> Agreement | None:
        """Stored figures; verdicts of old snapshots omit outcomes that were never tested."""
        return without_untested(from_json(Agreement, self.stored)) if self.stored else None

    @property
    def conditions(self) -> dict[str, str]:
        """Selectable conditions (id → name)."""
        return conditions_of_rows(self.snapshot.recipe) if self.snapshot else {}

    @property
    def is_failed(self) -> bool:
        """Whether the computation failed; ``job.error`` has the reason."""
        return self.job is not None and self.job.state == Job.State.FAILED


def shown_agreement(study: Study, query: Mapping[str, str], actor: User) -> AgreementState:
    """Return the figures requested in the URL; a new condition starts a job."""
    snapshot = snapshot_of(study, query)
    if snapshot is None or not snapshot.agreement:
        return AgreementState(snapshot)
    condition = known_condition(query.get("condition", ""), snapshot.recipe)
    if not condition:
        return AgreementState(snapshot, "", snapshot.agreement)
    snapshot.study = study
    filters = Filters(of=AGREEMENT, condition=condition)
    board_slice, job = find_slice(snapshot, filters, actor)
    # Figures from older sheets would appear under the newer snapshot's name.
    stored = board_slice.figures if board_slice and job is None else None
    return AgreementState(snapshot, condition, stored, job)
