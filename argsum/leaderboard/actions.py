"""Snapshots of the key point leaderboard: request, background computation and storage."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl

from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils.translation import gettext_lazy as lazy

from argsum.datasets.models import ReferenceKeyPoint
from argsum.keypoints.models import SummarySet
from argsum.leaderboard.models import KeyPointSnapshot
from argsum.leaderboard.reports.board import RECIPE_VERSION, BoardChoice, board_choice
from cqa_site.people.models import Study, User
from cqa_site.results.models import pack
from cqa_site.results.snapshots import MOST_UNMADE, ResultKind, SnapshotContent, make
from cqa_site.runs.jobs import JobContext, JobRefused, enqueue
from cqa_site.runs.models import Job

JOB = "key_point_board"


class KeyPointResults(ResultKind):
    """Systems on one split of a dataset, and the people who judged them."""

    name = "key_points"
    Model = KeyPointSnapshot
    subject = ("study", "dataset", "split")
    version = RECIPE_VERSION
    what = lazy("Key points")
    page = "key_point_board"
    unmade_says = lazy("not saved as a snapshot yet; the page shows current figures")
    needed = ("study", "dataset")

    def place(self, subject: BoardChoice) -> dict[str, Any]:
        return {"study": subject.study, "dataset": subject.dataset, "split": subject.split}

    def marker(self, subject: BoardChoice) -> str:
        from argsum.leaderboard.reports.snapshot import marker

        return marker(subject)

    def compute(self, subject: BoardChoice) -> SnapshotContent:
        from argsum.leaderboard.reports.snapshot import figures_of, kept_rows, recipe_of

        # Read the marker before the rows, so that a row added in between makes the board stale but
        # never wrong.
        seen = self.marker(subject)
        plain = kept_rows(subject)
        recipe = recipe_of(subject, plain)
        return SnapshotContent(*pack([plain]), seen, recipe, figures_of(plain, recipe))

    def figures_of(self, rows: bytes, recipe: dict[str, Any]) -> dict[str, Any]:
        from argsum.leaderboard.reports.snapshot import figures_of

        return figures_of(rows, recipe)

    def about(self, snapshot: KeyPointSnapshot) -> str:
        return f"{snapshot.dataset} {snapshot.split}".strip()

    def unmade(self, study: Study) -> Iterable[tuple[str, str]]:
        sets = SummarySet.objects.filter(cell__dataset=OuterRef("pk"), state=SummarySet.State.DONE)
        snapshots = KeyPointSnapshot.objects.filter(
            dataset=OuterRef("pk"), computed_at__isnull=False
        )
        references = ReferenceKeyPoint.objects.filter(cell__dataset=OuterRef("pk"))
        rows = study.argument_datasets.filter(Exists(sets), ~Exists(snapshots)).annotate(
            is_comparable=Exists(references), newest=sets.order_by("-pk").values("public_id")[:1]
        )
        page = reverse("key_points", args=[study.public_id])
        for dataset in rows.order_by("-pk")[:MOST_UNMADE]:
            attributes = vars(dataset)
            # A leaderboard compares sets with references. Without references, link to the newest
            # set.
            yield (
                str(dataset),
                f"{page}?dataset={dataset.public_id}"
                if attributes["is_comparable"]
                else reverse("summary_set", args=[study.public_id, attributes["newest"]]),
            )


KEY_POINTS = KeyPointResults()


def request_board(*, choice: BoardChoice, actor: User | None = None) -> Job:
    """Queue the computation of a choice's figures for its live snapshot.

    Each split of a dataset has at most one active job.
    """
    return enqueue(
        study=choice.study,
        kind=JOB,
        key=f"{choice.chosen.public_id}:{choice.split}",
        actor=actor,
        choice=choice.query,
    )


def make_board(work: JobContext) -> None:
    """Handle a job: compute the figures of a choice and store them as its live snapshot."""
    choice = board_choice(
        work.study, dict(parse_qsl(work.payload["choice"], keep_blank_values=True))
    )
    if choice.query != work.payload["choice"]:
        raise JobRefused("The dataset or a source of scores no longer exists.")
    make(work, KEY_POINTS, choice)
