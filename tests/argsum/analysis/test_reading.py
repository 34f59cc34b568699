"""Other workers help to read: what one has read, the others find."""

import numpy as np
import pytest

from argsum.analysis.actions import analyses, jobs as reading
from argsum.analysis.actions.analyses import cancel_analysis, delete_analysis, start_analysis
from argsum.analysis.methods import key_points
from argsum.analysis.methods.key_points import ClusteringResult
from argsum.analysis.models import Analysis
from cqa_site.judging.embedding import SentenceEmbedder
from cqa_site.runs import jobs
from cqa_site.runs.jobs import JobContext
from cqa_site.runs.models import Job
from .made_comments import fill, make_cell

pytestmark = pytest.mark.django_db


@pytest.fixture
def read(settings, tmp_path, monkeypatch):
    """Texts that a model was asked to read, in order; shares of four statements, two a piece."""
    settings.DATA_DIR = tmp_path
    texts = []

    def encode(self, some, progress=None):
        texts.extend(some)
        return np.full((len(some), 384), 384**-0.5, dtype=np.float32)

    def found(some, given, **more):
        given.vectors(some)
        nowhere = ((-1,) * len(some), (0.0,) * len(some), (False,) * len(some))
        return ClusteringResult((), *nowhere, 0.425)

    monkeypatch.setattr(SentenceEmbedder, "encode", encode)
    monkeypatch.setattr(key_points, "find_points", found)
    monkeypatch.setattr(analyses, "PIECE", 2)
    monkeypatch.setattr(reading, "SHARE", 4)
    return texts


@pytest.fixture
def begun(study, researcher):
    cell = make_cell(study)
    fill(cell)
    return start_analysis(study=study, actor=researcher, cell=cell)


def test_each_statement_is_read_once_whoever_reads_it(read, begun):
    reading.ask_for_help(begun, 11)
    shares = Job.objects.filter(kind=reading.JOB).order_by("pk")
    # From the end on; the first share is the analysis's own.
    assert [job.payload["start"] for job in shares] == [8, 4]
    reading.read_share(JobContext(shares.first()))
    assert len(read) == 3
    jobs.drain()
    assert len(read) == len(set(read)) == 11
    begun.refresh_from_db()
    assert begun.state == Analysis.State.DONE
    reading.read_share(JobContext(shares.last()))
    assert len(read) == 11


def test_few_statements_are_read_in_full_precision(read, begun, monkeypatch):
    """In 16 bits the key points would depend on the processor."""
    few = analyses.ScorerTools(begun, JobContext(begun.job))
    few.vectors(["It is loud."])
    monkeypatch.setattr(analyses, "MOST_PRECISE", 10)
    many = analyses.ScorerTools(begun, JobContext(begun.job))
    many.vectors(["It is loud."])
    assert [tools.encoder.embedder.quick for tools in (few, many)] == [False, True]
    # Stored vectors of one kind do not stand in for the other's.
    assert len(read) == 2


def test_sides_count_where_a_statement_may_take_either(read, begun):
    for stance, width in ((0, 386), (1, 384), (-1, 384)):
        begun.cell.stance = stance
        given = analyses.ScorerTools(begun, JobContext(begun.job))
        vectors = given.vectors(["It is loud.", "It is quiet.", "It is red."])
        assert vectors.shape == (3, width)
        assert given.tells_sides == (width == 386)
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)


def test_a_share_of_what_is_no_more_is_not_read(read, begun):
    reading.ask_for_help(begun, 11)
    first, last = Job.objects.filter(kind=reading.JOB)
    cancel_analysis(analysis=begun, actor=begun.created_by)
    reading.read_share(JobContext(first))
    delete_analysis(analysis=begun, actor=begun.created_by)
    reading.read_share(JobContext(last))
    assert read == []
