"""Runs in which a language model writes key points, and their preview."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _, gettext_lazy as lazy

from argsum.datasets.models import Cell
from argsum.keypoints.actions.sets import cells_to_ask, parts_of_sets, reopen_better, written_cells
from argsum.keypoints.actions.system_runs import (
    WRITES_CELLS,
    WRITES_CLUSTERS,
    enqueue_run,
    name_writer,
)
from argsum.keypoints.models import SummarySet, SystemRun, WrittenPart
from argsum.systems.methods.clusters import members
from argsum.writing.methods import (
    MOST_CODES,
    READER_VERSION,
    ReplyContent,
    read_clusters,
    read_list,
    read_one,
)
from argsum.writing.reports import WritingCallKey
from cqa_site.judging.reply_parsing import ReplyNotUsable, UnscoredReason
from cqa_site.people.models import Study
from cqa_site.runs.actions.runs import RunRefused
from cqa_site.runs.integrity import check_rows
from cqa_site.runs.kinds import CallRequest, EndedCall, PreviewTargets, ReplyReading, Subject
from cqa_site.runs.models import Call, PromptVersion, Reply, Run
from .prompts import COUNTS, GLOBAL, LOCAL, OF_VARIANT, questions_of

# Key points written by a language model for a cell, for all clusters of a set, or for one cluster.
#
# Each writing run serves one run of a system. A request's row stores the clusters that the request
# is about, so reading a reply does not depend on anything that could have changed.

KIND = "writing"
ARGUMENTS, WORDS = 500, 15
STORED_FIELDS = ["texts", "dropped", "reason", "fence", "at"]
State = SystemRun.State


def target_of(
    system_run: SystemRun,
    *,
    settings: Sequence[str] = (),
    fewest: int | None = None,
    most: int | None = None,
    words: int = WORDS,
    most_arguments: int = ARGUMENTS,
) -> dict[str, Any]:
    """Return the target of a writing run, as stored in its spec.

    Parameters
    ----------
    system_run
        The system run that is waiting for key points.
    settings
        Settings whose clusters need key points; empty means all.
    fewest, most
        Minimum and maximum number of key points per cell; by default as published.
    words
        Maximum number of words of a key point.
    most_arguments
        Maximum number of arguments of a cell or cluster in a request, best first.
    """
    usual = COUNTS.get(OF_VARIANT.get(system_run.variant, ""), (1, 1))
    return {
        "system_run": str(system_run.public_id),
        "settings": sorted(settings),
        "fewest": usual[0] if fewest is None else fewest,
        "most": usual[1] if most is None else most,
        "words": words,
        "most_arguments": most_arguments,
    }


class WritingKind:
    """Run kind ``writing``: the hooks that the engine calls."""

    parser_version = READER_VERSION
    values_title = lazy("Key points in a reply:")
    dominance = None

    def begin(self, run: Run) -> None:
        """Link the run to the system run that is waiting for it."""
        system_run = SystemRun.objects.select_for_update().get(
            study=run.study, public_id=run.spec["target"]["system_run"]
        )
        refuse_unfit(system_run, run)
        SystemRun.objects.filter(pk=system_run.pk).update(writing=run)
        version = f" v{run.prompt.number}" if run.prompt.number > 1 else ""
        name_writer(system_run, f"{run.spec['model'][:60]}{version}")

    def subjects(self, run: Run) -> list[Subject]:
        """Return the cells, sets or clusters that have no usable text yet."""
        system_run = system_run_of(run)
        if system_run.variant in WRITES_CELLS:
            written = {pk for pk, (texts, _why) in written_cells(system_run).items() if texts}
            rows = cells_to_ask(system_run).exclude(pk__in=written)
            unfiltered = system_run.is_unfiltered
            return [
                WritingCallKey(system_run.pk, cell, is_unfiltered=unfiltered).subject
                for cell in rows.values_list("pk", flat=True)
            ]
        return [
            cluster.subject
            for cluster in _clusters_to_write(system_run, run.spec["target"])
            if cluster
        ]

    def questions(self, run: Run, subjects: Sequence[Subject]) -> list[CallRequest]:
        """Return the requests, using at most three queries."""
        return questions_of(run, [WritingCallKey.of(subject.ids) for subject in subjects])

    def read(self, run: Run, call: Call, reply: Reply) -> ReplyReading:
        """Read a reply into `ReplyContent`, matching clusters by name, never by order."""
        key = WritingCallKey.of(call.subject_ids)
        try:
            written = _read(run, key, reply)
        except ReplyNotUsable as problem:
            return ReplyReading.unscored(problem.reason)
        # The request is repeated; if that fails, clusters that have a key point keep it.
        reason = UnscoredReason.MISSING_ITEM.value if written.missing else ""
        return ReplyReading(value=written, reason=reason)

    def store(self, run: Run, ended: Sequence[EndedCall]) -> None:
        """Store one part per call; after the last one, a job completes the sets."""
        system_run = SystemRun.objects.select_for_update().get(
            study=run.study_id, public_id=run.spec["target"]["system_run"]
        )
        parts = [_part(run, outcome) for outcome in ended]
        WrittenPart.objects.bulk_create(
            parts, update_conflicts=True, unique_fields=["call"], update_fields=STORED_FIELDS
        )
        reopen_better(system_run, parts)
        if not run.calls.filter(state__in=Call.OPEN).exists():
            system_run.refresh_from_db(fields=["state"])
            if system_run.state == State.WRITING:
                enqueue_run(system_run)

    def values(self, run: Run) -> dict[str, int]:
        """Return how many replies have each number of key points."""
        counts: dict[int, int] = {}
        for texts in run.written_parts.values_list("texts", flat=True):
            counts[len(texts)] = counts.get(len(texts), 0) + 1
        return {str(size): counts[size] for size in sorted(counts)}

    def texts(self, run: Run) -> Sequence[str]:
        """Return the key points of each reply as one text."""
        rows = run.written_parts.order_by("pk").values_list("texts", flat=True)
        return ["\n".join(map(str, texts.values())) for texts in rows if texts]

    def check(self, run: Run) -> list[str]:
        """Check that every ended call has one part that has its fence and matches its reply."""

        def is_as_said(part: WrittenPart, call: Call) -> bool:
            reading = self.read(run, call, call.reply) if call.reply else None
            value = reading.value if reading else None
            return part.texts == (dict(value.texts) if isinstance(value, ReplyContent) else {})

        return check_rows(run, run.written_parts.all(), "written part", is_as_said)


def system_run_of(run: Run) -> SystemRun:
    rows = SystemRun.objects.filter(study=run.study).select_related("dataset")
    return rows.get(public_id=run.spec["target"]["system_run"])


def refuse_unfit(system_run: SystemRun, run: Run) -> None:
    """Raise `RunRefused` if nothing can currently be written for a system run."""
    if system_run.state != State.WRITING:
        raise RunRefused(_("This run is not waiting for a language model."))
    if run.prompt.kind != OF_VARIANT[system_run.variant]:
        raise RunRefused(_("This system run needs a different kind of prompt."))
    if run.spec["replicates"] != 1:
        raise RunRefused(
            _(
                "Only one reply per request is possible. To get another reply, run the system "
                "again."
            )
        )
    earlier = system_run.writing
    if earlier and (earlier.is_active or earlier.state == Run.State.DRAFT):
        raise RunRefused(
            _("Run #%d is still writing key points for this analysis.") % earlier.number
        )


def writable(study: Study) -> Any:
    """Return the system runs that are waiting for a language model."""
    return study.system_runs.filter(
        state=State.WRITING, variant__in=(*WRITES_CELLS, *WRITES_CLUSTERS)
    )


def _clusters_to_write(
    system_run: SystemRun, target: dict[str, Any]
) -> list[WritingCallKey | None]:
    """Return the requests for waiting sets, without clusters that already have a key point."""
    rows = system_run.sets.filter(state=SummarySet.State.WAITING).order_by("cell__position", "pk")
    if target["settings"]:
        rows = rows.filter(setting__in=target["settings"])
    records = list(rows.values_list("pk", "cell", "clusters"))
    parts = parts_of_sets(system_run, [pk for pk, _cell, _ids in records])
    keys: list[WritingCallKey | None] = []
    for pk, cell, ids in records:
        missing = [member for member in members(ids or []) if member not in parts[pk].texts]
        if system_run.variant == SystemRun.Variant.LOCAL:
            keys += [WritingCallKey(system_run.pk, cell, pk, (cluster,)) for cluster in missing]
        elif len(missing) > MOST_CODES:
            raise RunRefused(
                _("A set has too many clusters for one request. Use one request per cluster.")
            )
        else:
            keys.append(
                WritingCallKey(system_run.pk, cell, pk, tuple(missing)) if missing else None
            )
    return keys


def _read(run: Run, key: WritingCallKey, reply: Reply) -> ReplyContent:
    answer = (reply.text, reply.finish_reason)
    if run.prompt.kind == GLOBAL:
        return read_clusters(*answer, key.clusters, refusal=reply.refusal)
    if run.prompt.kind == LOCAL:
        return read_one(*answer, key.clusters[0], refusal=reply.refusal)
    return read_list(*answer, most=run.spec["target"]["most"], refusal=reply.refusal)


def _part(run: Run, outcome: EndedCall) -> WrittenPart:
    key = WritingCallKey.of(outcome.call.subject_ids)
    written = (
        outcome.reading.value
        if isinstance(outcome.reading.value, ReplyContent)
        else ReplyContent({})
    )
    return WrittenPart(
        run=run,
        call=outcome.call,
        system_run_id=key.system_run,
        cell_id=key.cell,
        summary_set_id=key.summary_set or None,
        cluster=key.clusters[0] if run.prompt.kind == LOCAL else None,
        texts=dict(written.texts),
        dropped=written.dropped,
        reason=outcome.reading.reason[:40],
        fence=outcome.fence,
    )


SHOWN_ARGUMENTS, SHOWN_WORDS = 30, 15
# Number of parts into which an unclustered cell is split.
HEAPS = (0, 1, 2)


def _cells(study: Study) -> QuerySet[Cell]:
    """Return the cells with arguments."""
    rows = Cell.objects.filter(dataset__study=study, arguments__isnull=False)
    return rows.distinct().order_by("dataset", "position")


def _draft(study: Study, version: PromptVersion, cell: Model) -> tuple[Run, list[Model]]:
    """Return an unsaved run for a few arguments, without a system run."""
    fewest, most = COUNTS.get(version.kind, (1, 1))
    target = {
        "system_run": "",
        "settings": [],
        "fewest": fewest,
        "most": most,
        "words": SHOWN_WORDS,
        "most_arguments": SHOWN_ARGUMENTS,
    }
    spec = {"target": target, "seed": 1}
    return Run(study=study, kind=KIND, prompt=version, spec=spec), [cell]


WRITING = PreviewTargets(
    lazy("Topic and stance"),
    _cells,
    _draft,
    lambda cells: WritingCallKey(0, cells[0].pk, clusters=HEAPS).subject.ids,
)
