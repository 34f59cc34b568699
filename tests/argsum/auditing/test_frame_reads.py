"""Audit pages read as much of a large analysis as of a small one."""

from contextlib import contextmanager

import pytest
from django.db.models.sql import compiler

from argsum.analysis.actions.analyses import count_points
from argsum.analysis.actions.edits import rename_point
from argsum.analysis.models import Analysis, Placement
from argsum.auditing.models import AuditPair
from argsum.auditing.reports.figures import audit_of, corrections
from argsum.auditing.reports.frame import bands_of, frame_of, sizes_of
from argsum.auditing.reports.parts import AUDIT_CORRECTIONS
from tests.argsum.analysis.made_comments import say
from tests.argsum.analysis.made_comparing import finish, place
from tests.worlds import built_once
from .test_auditing import Lab

pytestmark = pytest.mark.django_db

lab = built_once(Lab)
FIGURE = {"figure": "corrected", "format": "csv"}


@contextmanager
def rows_read():
    """Count the rows that queries return in the block."""
    rows, real = [], compiler.cursor_iter

    def counting(*args):
        for chunk in real(*args):
            rows.append(len(chunk))
            yield chunk

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiler, "cursor_iter", counting)
        yield rows


def grow(lab, number):
    """Add comments of one new statement each, at the key points in turn or at none."""
    cell, places = lab.analysis.cell, [*lab.points, None]
    for at in range(number):
        text = f"Statement {cell.comments.count()} of many."
        place(lab.analysis, places[at % 4], text, score=0.5)
        say(cell, text, town="Altdorf" if at % 2 else "Neudorf")
    finish(lab.analysis)


def cost(read):
    read()
    with rows_read() as rows:
        read()
    return sum(rows)


@pytest.mark.parametrize("is_moved", [False, True])
def test_pages_files_and_programs_read_no_more_of_a_large_analysis(lab, is_moved):
    """Of answers about the present placements, and of answers about earlier ones."""

    def costs():
        return {
            "page": cost(lambda: lab.get("analysis_audit")),
            "target": cost(lambda: lab.get("analysis_audit", {"target": "5"})),
            "file": cost(lambda: lab.get("analysis_audit_figure", **FIGURE)),
            "API": cost(lambda: lab.told("analysis_audit")),
            "report": cost(lambda: corrections(lab.analysis)),
            "groups": cost(lambda: AUDIT_CORRECTIONS.of_parts(lab.analysis, "town", lab.towns)),
        }

    made = lab.open(size=20)
    lab.answer(made, lab.makes)
    small = {}
    for number in (20, 100):
        grow(lab, number)
        if not is_moved:
            made.frame = sizes_of(lab.analysis).stored(lab.analysis, made.frame["own"])
            made.save()
        before, small = small, costs()
        assert all(small.values())
    assert before == small
    assert bool(audit_of(lab.analysis).later) == is_moved


def test_stored_sizes_are_those_of_the_pairs(lab):
    grow(lab, 50)
    Analysis.objects.filter(pk=lab.analysis.pk).update(sure_from=0.895)
    Placement.objects.filter(score__gte=0.895).update(is_sure=True)
    lab.analysis.refresh_from_db()
    count_points(lab.analysis)
    sizes, frame = sizes_of(lab.analysis), frame_of(lab.analysis)
    assert (sizes.units, list(sizes.texts.items())) == (len(frame.units), [*frame.texts.items()])
    assert sizes.counted == {
        point: {band: len(places) for band, places in counted.items()}
        for point, counted in frame.counted.items()
    }
    assert all(sizes.size(point, "perhaps") for point in sizes.texts)


def test_bands_of_some_pairs_are_those_of_the_frame(lab):
    pairs = AuditPair.objects.filter(round=lab.open())
    keys = list(pairs.values_list("point", "comment"))
    Placement.objects.filter(point=lab.points[0]).update(point=lab.points[1])
    frame = frame_of(lab.analysis)
    now = {
        (point, frame.units[at]): band
        for point, counted in frame.counted.items()
        for band, places in counted.items()
        for at in places.tolist()
    }
    assert bands_of(lab.analysis, keys) == {key: now.get(key, "elsewhere") for key in keys}
    usual = {"analysis": lab.analysis, "actor": lab.researcher, "seen": 0}
    rename_point(**usual, point=lab.points[1], text="Another one.")
    assert set(bands_of(lab.analysis, keys).values()) == {"behind", "elsewhere"}
