"""The job that runs after a run's requests: it sends further ones or applies the result.

Whether a run goes on is decided under the gate's lock, behind which replies are stored: none can
come in between. Further requests and the end of the job are one transaction, and so is a result:
a worker that dies leaves nothing to be paid twice, and nothing half applied.
"""

from collections.abc import Callable, Sequence

from django.db import transaction
from django.db.models import Count, Sum

from argsum.analysis.actions.analyses import analysis_of
from argsum.analysis.actions.edits import EditRefused
from argsum.analysis.actions.jobs import REFUSED, in_words
from argsum.analysis.models import Analysis
from cqa_site.runs.actions.runs import RunRefused, ask_more
from cqa_site.runs.jobs import JobContext, refusing
from cqa_site.runs.kinds import Subject
from cqa_site.runs.ledger.gates import locked_gate
from cqa_site.runs.models import Call, Run

from . import assignment, proposal

Next = Callable[[Run], Sequence[Subject]]
Apply = Callable[[Analysis, Run, JobContext], None]
STEPS: dict[str, tuple[Next, Apply]] = {
    proposal.KIND: (proposal.further_requests, proposal.propose),
    assignment.KIND: (assignment.further_requests, assignment.assign),
}


def follow_run(work: JobContext) -> None:
    """Handle a job: send further requests, or apply the result; nothing for a cancelled run."""
    analysis = analysis_of(work)
    if analysis.coding_id is None:
        return
    run = Run.objects.select_related("endpoint", "prompt", "study").get(pk=analysis.coding_id)
    further, apply = STEPS[run.kind]
    applied = None
    with refusing((*REFUSED, EditRefused, RunRefused), in_words=in_words):
        while True:
            with transaction.atomic(), locked_gate(run.endpoint):
                state = _state(run)
                if state in (None, applied) or ask_more(run=run, subjects=further(run)):
                    work.finish()
                    return
            apply(analysis, run, work)
            applied = state


def _state(run: Run) -> tuple[int, int] | None:
    """Return a key of the replies stored so far; None for a run that is cancelled or not over."""
    run.refresh_from_db(fields=["state"])
    is_open = run.calls.filter(state__in=Call.OPEN).exists()
    if is_open or run.state == Run.State.CANCELLED:
        return None
    totals = run.calls.aggregate(n=Count("pk"), fences=Sum("fence"))
    return totals["n"], totals["fences"]
