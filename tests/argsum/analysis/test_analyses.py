"""Analyses of comments: what they store, that they go on after a kill, and new comments."""

import pytest

from argsum.analysis.actions import jobs as making
from argsum.analysis.actions.analyses import (
    AnalysisRefused,
    analyse_dataset,
    cancel_analysis,
    delete_analysis,
    resume_analysis,
    start_analysis,
)
from argsum.analysis.actions.edits import merge_points, move_statements
from argsum.analysis.actions.jobs import new_comments, new_statements, place_new_comments
from argsum.analysis.models import Analysis, FoundPoint, Placement, PointChange
from argsum.datasets.models import Cell
from cqa_site.people.models import AuditEvent
from cqa_site.runs import jobs
from cqa_site.runs.models import Job
from tests.argsum.made_cells import make_dataset, make_scorer
from tests.cast import make_study
from tests.worlds import built_once
from .labs import AnalysisLab
from .made_comments import add_statement, analyse, make_cell, say, work

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("word_engine")]
State = Analysis.State


lab = built_once(AnalysisLab)


def contents(analysis):
    """Everything that was computed, without keys and times."""
    points = analysis.points.order_by("position")
    placed = analysis.placements.order_by("argument__position")
    return (
        list(points.values_list("position", "text", "state", "statements", "comments")),
        list(placed.values_list("argument__text", "point__position", "score")),
        analysis.cutoff,
    )


def test_every_statement_is_placed_and_comments_are_counted_once(lab):
    made = analyse(lab.cell, lab.boss)
    assert (made.state, made.error) == (State.DONE, "")
    assert (made.statements, made.comments) == (11, 13)
    assert made.job.state == Job.State.DONE
    quiet = made.points.get(placements__argument__text="The hall is quiet.")
    assert quiet.statements == 4
    # Of the two further comments one says it twice over, and the other says it, too.
    assert quiet.comments == 6
    assert made.cutoff == 0.425
    assert made.facets["attributes"] == {"town": [["Neudorf", 7], ["Altdorf", 6]]}
    assert (made.facets["first"], made.facets["last"]) == ("2026-01-01", "2026-02-02")
    assert made.language in ("", "en")
    assert AuditEvent.objects.filter(study=lab.study, verb="analysis_started").count() == 1
    # Without comments each argument counts as one unless it is left out.
    cell = make_cell(lab.study, name="Plain")
    for text in ("The hall is quiet.", "My corner was quiet.", "Nobody finds parking.", "No."):
        add_statement(cell, text)
    cell.arguments.filter(text="No.").update(left_out="nothing_said")
    made = analyse(cell, lab.boss)
    assert (made.statements, made.comments, made.placements.count()) == (3, 3, 3)
    counted = sum(made.points.values_list("comments", flat=True))
    assert counted == made.placements.exclude(point=None).count()
    assert made.facets["attributes"] == {}


def test_what_does_not_fit_is_refused_and_the_same_is_not_started_twice(lab, settings):
    settings.JOBS_INLINE = False
    asked = {"study": lab.study, "actor": lab.boss, "cell": lab.cell}
    assert start_analysis(**asked).pk == start_analysis(**asked).pk
    few = make_cell(lab.study, name="Few")
    add_statement(few, "Only one.")
    for chosen, reason in (
        ({"cell": few}, "fewer than 3"),
        ({"cell": make_cell(make_study(name="Other"))}, "belong to the study"),
        (
            {"match_scorer": make_scorer(lab.study, name="Reader", kind="cross_encoder")},
            "Choose a bi-encoder",
        ),
        ({"match_scorer": make_scorer(lab.study, name="Busy", state="training")}, "not ready"),
    ):
        with pytest.raises(AnalysisRefused, match=reason):
            start_analysis(**asked | chosen)


def test_one_click_analyses_every_cell_that_can_be(lab):
    dataset = make_dataset(lab.study)
    Cell.objects.create(dataset=dataset, topic="Empty", stance=0, position=9)
    made = analyse_dataset(study=lab.study, actor=lab.boss, dataset=dataset)
    assert [each.cell.stance for each in made] == [1, -1]
    assert made[0].name.endswith("(Supporting)")
    empty = make_cell(lab.study, name="Nothing").dataset
    with pytest.raises(AnalysisRefused, match="fewer than 3"):
        analyse_dataset(study=lab.study, actor=lab.boss, dataset=empty)
    Cell.objects.bulk_create(
        Cell(dataset=empty, topic=f"Topic {n}", stance=0, position=n + 10) for n in range(50)
    )
    with pytest.raises(AnalysisRefused, match="At most 50"):
        analyse_dataset(study=lab.study, actor=lab.boss, dataset=empty)


class Killed(BaseException):
    """Ends a worker where it stands."""


def die(*_given):
    raise Killed


def test_a_killed_worker_leaves_nothing_and_the_next_one_gives_the_same(
    lab, monkeypatch, django_assert_max_num_queries
):
    with django_assert_max_num_queries(92):
        whole = contents(analyse(lab.cell, lab.boss))
    # Also in small pieces.
    monkeypatch.setattr(making, "PLACEMENT_PIECE", 3)
    for where in ("count_points", "count_analysis"):
        with monkeypatch.context() as patch:
            patch.setattr(making, where, die)
            with pytest.raises(Killed):
                analyse(lab.cell, lab.boss)
        made = lab.study.analyses.first()
        assert made.state == State.RUNNING
        assert not made.points.exists()
        assert not made.placements.exists()
        Job.objects.filter(pk=made.job_id).update(lease_until="2020-01-01T00:00Z")
        assert contents(work(made)) == whole
        assert (made.state, made.job.losses) == (State.DONE, 1)


def test_what_failed_or_was_cancelled_can_begin_again(lab, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(making, "language_of", lambda texts: 1 / 0)
        made = analyse(lab.cell, lab.boss)
    assert made.state == State.FAILED
    assert "server log" in made.error
    resume_analysis(analysis=made, actor=lab.boss)
    assert work(made).state == State.DONE
    delete_analysis(analysis=made, actor=lab.boss)
    assert not Placement.objects.exists()
    assert not FoundPoint.objects.exists()
    # A cancelled analysis stops where it stands and begins again.
    asked = making.language_of

    def cancelled(texts):
        made = lab.study.analyses.get()
        cancel_analysis(analysis=made, actor=lab.boss)
        return asked(texts)

    with monkeypatch.context() as patch:
        patch.setattr(making, "language_of", cancelled)
        made = analyse(lab.cell, lab.boss)
    assert made.state == State.CANCELLED
    assert not made.placements.exists()
    with pytest.raises(AnalysisRefused, match="not in progress"):
        cancel_analysis(analysis=made, actor=lab.boss)
    resume_analysis(analysis=made, actor=lab.boss)
    assert work(made).state == State.DONE
    with pytest.raises(AnalysisRefused, match="its state is “done”"):
        resume_analysis(analysis=made, actor=lab.boss)


def test_new_comments_are_placed_also_after_a_kill_and_what_fits_none_is_proposed(
    lab, monkeypatch
):
    made = analyse(lab.cell, lab.boss)
    with pytest.raises(AnalysisRefused, match="There are no new comments"):
        place_new_comments(analysis=made, actor=lab.boss)
    say(lab.cell, "Mornings are quiet.", town="Altdorf")
    say(lab.cell, "The hall is quiet.", town="Altdorf")
    for text in ("We want lemonade.", "Please sell lemonade."):
        say(lab.cell, text)
    assert (new_comments(made), new_statements(made)) == (4, 3)
    with monkeypatch.context() as patch:
        patch.setattr(making, "count_analysis", die)
        place_new_comments(analysis=made, actor=lab.boss)
        with pytest.raises(Killed):
            jobs.drain()
    made.refresh_from_db()
    assert (made.revision, made.statements) == (0, 11)
    Job.objects.filter(pk=made.job_id).update(lease_until="2020-01-01T00:00Z")
    work(made)
    assert (made.revision, made.statements, made.comments) == (1, 14, 17)
    assert new_statements(made) == 0
    quiet = made.points.get(placements__argument__text="Mornings are quiet.")
    assert (quiet.statements, quiet.comments) == (5, 8)
    proposed = made.points.get(state="proposed")
    assert (proposed.origin, proposed.statements, proposed.comments) == ("proposed", 2, 2)
    change = made.changes.get()
    assert (change.verb, change.number, change.revision) == ("placed", 3, 1)
    assert change.after == {"comments": 4, "proposed": 1}


@pytest.mark.usefixtures("word_scorer")
def test_new_key_points_are_in_the_theme_of_the_nearest(lab):
    made = analyse(lab.cell, lab.boss)
    for point in made.points.all():
        point.theme = point.text.rstrip(".").split()[-1].title()
        point.save()
    for text in ("Mornings without parking lemonade.", "More parking, and lemonade."):
        say(lab.cell, text)
    place_new_comments(analysis=made, actor=lab.boss)
    work(made)
    assert made.points.get(state="proposed").theme == "Parking"


def test_placing_moves_nothing_that_was_placed_and_follows_merges(lab, monkeypatch):
    made = analyse(lab.cell, lab.boss)
    usual = {"analysis": made, "actor": lab.boss}
    first, second = made.points.order_by("-comments", "position")[:2]
    moved = made.placements.filter(point=first).first().argument_id
    move_statements(**usual, point=first, statements=[moved], to=second, seen=0)
    say(lab.cell, "Mornings are quiet.")
    fit = making._fit

    def merged_meanwhile(analysis, given):
        placement = fit(analysis, given)
        seen = Analysis.objects.get(pk=analysis.pk).revision
        merge_points(**usual, points=[first, second], into=second, seen=seen)
        return placement

    monkeypatch.setattr(making, "_fit", merged_meanwhile)
    place_new_comments(**usual)
    work(made)
    assert made.changes.first().verb == PointChange.Verb.PLACED
    assert made.placements.get(argument__text="Mornings are quiet.").point == second
    placed = made.placements.get(argument=moved)
    assert (placed.point, placed.is_by_hand) == (second, True)
