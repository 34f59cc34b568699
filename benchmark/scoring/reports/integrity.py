"""Invariants of scoring, checked in the database; each finding is one sentence."""

from collections.abc import Iterator

from benchmark.rubrics.methods.as_json import rubric_sha256
from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.models.sheets import ScoreSheet

FETCH = 1_000


def find_violations() -> Iterator[str]:
    """Yield every broken invariant; nothing when all is well."""
    yield from _changed_rubrics()
    yield from _wrong_totals()


def _changed_rubrics() -> Iterator[str]:
    for version in RubricVersion.objects.iterator(FETCH):
        if rubric_sha256(version.rubric) != version.sha256:
            yield f"rubric version {version.pk} no longer matches its hash"


def _wrong_totals() -> Iterator[str]:
    """A total is the sum of the points of all criteria, and there is none for fewer."""
    rubrics = {version.pk: version.rubric for version in RubricVersion.objects.all()}
    rows = ScoreSheet.objects.values_list("pk", "rubric", "state", "points", "total", "maximum")
    for pk, key, state, points, total, maximum in rows.iterator(FETCH):
        rubric = rubrics[key]
        is_complete = state in ("submitted", "void") and points.keys() >= set(rubric.keys)
        wanted = sum(points[name] for name in rubric.keys) if is_complete else None
        if total != wanted:
            yield f"sheet {pk} has the total {total}, its points give {wanted}"
        if maximum != rubric.maximum:
            yield f"sheet {pk} has another maximum than its rubric"
