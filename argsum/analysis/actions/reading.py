"""Other workers help to read many statements: each reads some, and the vectors are kept on disk.

The job of the analysis reads from the first statement on, whoever else is free from the last one
back. Each finds on disk what another has read, so nobody waits for anybody, and a helper that dies
costs nothing but its share.
"""

from argsum.analysis.models import Analysis
from cqa_site.runs.jobs import Work, enqueue

from .starting import statements_of
from .tools import PIECE, ScorerTools, analysis_of

JOB = "analysis_reading"
# Statements of one job: a minute or so. Fewer than this are not worth another worker's start.
SHARE = 5 * PIECE


def ask_for_help(analysis: Analysis, statements: int) -> None:
    """Offer the last statements first, as far from the analysis's own reading as can be."""
    for start in reversed(range(SHARE, statements, SHARE)):
        key = f"{analysis.public_id}:{start}"
        enqueue(study=analysis.study, kind=JOB, key=key, analysis=analysis.pk, start=start)


def read_share(work: Work) -> None:
    """Handle a job: keep the vectors of a share; nothing where the analysis needs them no more."""
    try:
        analysis = analysis_of(work)
    except Analysis.DoesNotExist:
        return
    if analysis.state not in Analysis.ACTIVE:
        return
    start = work.payload["start"]
    rows = statements_of(analysis.cell).values_list("text", flat=True)
    ScorerTools(analysis, work).vectors(list(rows[start : start + SHARE]))
