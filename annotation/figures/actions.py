"""Request a round's figures, compute them in the background, and store them as a snapshot."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils.translation import gettext_lazy as lazy

from annotation.figures.models import Snapshot
from annotation.figures.reports.snapshots import (
    RECIPE_VERSION,
    build_votes_csv,
    marker,
    read_votes,
    recipe_of,
)
from annotation.labelling.models import Assignment, LabelRound
from cqa_site.people.models import Study, User
from cqa_site.results.models import pack
from cqa_site.results.snapshots import MOST_UNMADE, ResultKind, SnapshotContent, make
from cqa_site.runs.jobs import JobContext, enqueue
from cqa_site.runs.models import Job
from cqa_site.stats.estimate import to_json

JOB = "snapshot"


class LabelRoundResults(ResultKind):
    """Figures of a round's votes."""

    name = "snapshot"
    Model = Snapshot
    subject = ("label_round",)
    owner = "label_round"
    in_study = "label_round__study"
    version = RECIPE_VERSION
    what = lazy("Labels")
    needed = ("label_round__study",)

    def place(self, subject: LabelRound) -> dict[str, Any]:
        return {"label_round": subject}

    def marker(self, subject: LabelRound) -> str:
        return marker(subject)

    def compute(self, subject: LabelRound) -> SnapshotContent:
        # Read before the votes, so that a vote in between makes the snapshot stale, never wrong.
        seen = marker(subject)
        recipe = recipe_of(subject)
        votes, sha256 = pack(build_votes_csv(subject))
        return SnapshotContent(votes, sha256, seen, recipe, _figures(votes, recipe))

    def figures_of(self, rows: bytes, recipe: dict[str, Any]) -> dict[str, Any]:
        return _figures(pack([rows])[0], recipe)

    def comparable(self, figures: dict[str, Any]) -> dict[str, Any]:
        agreement = {
            scope: [estimate for estimate in estimates if not _is_later(estimate)]
            for scope, estimates in figures["agreement"].items()
        }
        return figures | {"agreement": agreement}

    def about(self, snapshot: Snapshot) -> str:
        return snapshot.label_round.name

    def study_of(self, snapshot: Snapshot) -> Study:
        return snapshot.label_round.study

    def url(self, snapshot: Snapshot) -> str:
        label_round = snapshot.label_round
        ids = [label_round.study.public_id, label_round.public_id]
        if snapshot.is_frozen:
            return reverse("snapshot", args=[*ids, snapshot.number])
        return reverse("figures", args=ids)

    def unmade(self, study: Study) -> Iterable[tuple[str, str]]:
        votes = Assignment.objects.filter(round=OuterRef("pk"), state=Assignment.State.ANSWERED)
        computed = Snapshot.objects.filter(label_round=OuterRef("pk"), computed_at__isnull=False)
        rows = LabelRound.objects.filter(Exists(votes), ~Exists(computed), study=study)
        for label_round in rows.order_by("-pk")[:MOST_UNMADE]:
            yield (
                label_round.name,
                reverse("figures", args=[study.public_id, label_round.public_id]),
            )


LABEL_ROUNDS = LabelRoundResults()


def _is_later(estimate: dict[str, Any]) -> bool:
    """Return whether the statistic was added in version 3."""
    return str(estimate["statistic"]).startswith("Gwet")


def _figures(votes: bytes, recipe: dict[str, Any]) -> dict[str, Any]:
    from annotation.figures.reports.figures import compute_figures

    figures: dict[str, Any] = to_json(compute_figures(read_votes(votes), recipe["scale"], recipe))
    return figures


def request_snapshot(*, label_round: LabelRound, actor: User | None = None) -> Job:
    """Request new figures in the background; one job per round is active at a time."""
    return enqueue(
        study=label_round.study,
        kind=JOB,
        key=str(label_round.public_id),
        actor=actor,
        label_round=str(label_round.public_id),
    )


def latest_job(label_round: LabelRound) -> Job | None:
    """Return the newest job for this round's figures, active or finished."""
    jobs = Job.objects.filter(study_id=label_round.study_id, key=f"{JOB}:{label_round.public_id}")
    return jobs.order_by("-created_at", "-pk").first()


def make_snapshot(work: JobContext) -> None:
    """Handle a job: compute the round's figures and store them as its live snapshot."""
    label_rounds = LabelRound.objects.filter(study=work.study).select_related("guideline")
    label_round = label_rounds.get(public_id=work.payload["label_round"])
    make(work, LABEL_ROUNDS, label_round)
