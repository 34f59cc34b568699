"""Analyses of comments: what they store, that they go on after a kill, and new comments."""

import pytest

from argsum.analysis.actions import jobs as making
from argsum.analysis.actions import jobs as placing
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
from cqa_site.people.models import AuditEvent, Role
from cqa_site.runs import jobs
from cqa_site.runs.models import Job
from tests.argsum.made_cells import make_dataset, make_scorer
from tests.cast import make_member, make_study
from tests.worlds import built_once

from .made_comments import add_statement, analyse, fill, make_cell, say, word_engine, work
from .made_writing import word_scorer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("word_engine")]
State = Analysis.State
__all__ = ["word_engine", "word_scorer"]


class Lab:
    """A study with comments on one topic."""

    def __init__(self):
        self.study = make_study()
        self.boss = make_member(self.study, Role.RESEARCHER)
        self.cell = make_cell(self.study)
        fill(self.cell)


lab = built_once(Lab)


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


def test_without_comments_each_argument_counts_as_one(lab):
    cell = make_cell(lab.study, name="Plain")
    for text in ("The hall is quiet.", "My corner was quiet.", "Nobody finds parking."):
        add_statement(cell, text)
    made = analyse(cell, lab.boss)
    assert (made.statements, made.comments) == (3, 3)
    counted = sum(made.points.values_list("comments", flat=True))
    assert counted == made.placements.exclude(point=None).count()
    assert made.facets["attributes"] == {}


def test_left_out_statements_take_no_part(lab):
    lab.cell.arguments.filter(text="The hall is quiet.").update(left_out="nothing_said")
    made = analyse(lab.cell, lab.boss)
    assert made.statements == 10
    assert not made.placements.filter(argument__text="The hall is quiet.").exists()


def test_the_same_analysis_under_way_is_returned(lab, settings):
    settings.JOBS_INLINE = False
    asked = {"study": lab.study, "actor": lab.boss, "cell": lab.cell}
    first = start_analysis(**asked)
    assert start_analysis(**asked).pk == first.pk


def test_what_does_not_fit_is_refused(lab):
    few = make_cell(lab.study, name="Few")
    add_statement(few, "Only one.")
    with pytest.raises(AnalysisRefused, match="fewer than 3"):
        start_analysis(study=lab.study, actor=lab.boss, cell=few)
    reader = make_scorer(lab.study, name="Reader", kind="cross_encoder")
    with pytest.raises(AnalysisRefused, match="Choose a bi-encoder"):
        start_analysis(study=lab.study, actor=lab.boss, cell=lab.cell, match_scorer=reader)
    busy = make_scorer(lab.study, name="Busy", state="training")
    with pytest.raises(AnalysisRefused, match="not ready"):
        start_analysis(study=lab.study, actor=lab.boss, cell=lab.cell, match_scorer=busy)
    foreign = make_cell(make_study(name="Other"))
    with pytest.raises(AnalysisRefused, match="belong to the study"):
        start_analysis(study=lab.study, actor=lab.boss, cell=foreign)


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
    with pytest.raises(AnalysisRefused, match="at most 50"):
        analyse_dataset(study=lab.study, actor=lab.boss, dataset=empty)


class Killed(BaseException):
    """Ends a worker where it stands."""


def die(*_given):
    raise Killed


@pytest.mark.parametrize("where", ["count_points", "count_analysis"])
def test_a_killed_worker_leaves_nothing_and_the_next_one_gives_the_same(lab, monkeypatch, where):
    whole = contents(analyse(lab.cell, lab.boss))
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
    assert made.state == State.DONE
    assert made.job.losses == 1


def test_a_cancelled_analysis_stops_where_it_stands_and_begins_again(lab, monkeypatch):
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
    with pytest.raises(AnalysisRefused, match="in the state “done”"):
        resume_analysis(analysis=made, actor=lab.boss)


def test_an_unexpected_error_is_told_and_an_analysis_can_be_forgotten(lab, monkeypatch):
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


def test_storing_takes_few_queries_and_small_pieces(
    lab, monkeypatch, django_assert_max_num_queries
):
    with django_assert_max_num_queries(92):
        whole = contents(analyse(lab.cell, lab.boss))
    monkeypatch.setattr(making, "PLACEMENT_PIECE", 3)
    assert contents(analyse(lab.cell, lab.boss)) == whole


def test_new_comments_are_placed_and_what_fits_none_is_proposed(lab):
    made = analyse(lab.cell, lab.boss)
    with pytest.raises(AnalysisRefused, match="There are no new comments"):
        place_new_comments(analysis=made, actor=lab.boss)
    say(lab.cell, "Mornings are quiet.", town="Altdorf")
    say(lab.cell, "The hall is quiet.", town="Altdorf")
    for text in ("We want lemonade.", "Please sell lemonade."):
        say(lab.cell, text)
    assert (new_comments(made), new_statements(made)) == (4, 3)
    place_new_comments(analysis=made, actor=lab.boss)
    work(made)
    assert (made.statements, made.comments) == (14, 17)
    assert new_statements(made) == 0
    quiet = made.points.get(placements__argument__text="Mornings are quiet.")
    assert (quiet.statements, quiet.comments) == (5, 8)
    proposed = made.points.get(state="proposed")
    assert (proposed.origin, proposed.statements, proposed.comments) == ("proposed", 2, 2)
    change = made.changes.get()
    assert (change.verb, change.number, change.revision) == ("placed", 3, 1)
    assert change.after == {"comments": 4, "proposed": 1}
    assert made.revision == 1


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
    points = list(made.points.order_by("-comments", "position"))
    moved = made.placements.filter(point=points[0]).first().argument_id
    move_statements(
        analysis=made, actor=lab.boss, point=points[0], statements=[moved], to=points[1], seen=0
    )
    say(lab.cell, "Mornings are quiet.")
    fit = making._fit

    def merged_meanwhile(analysis, given):
        found = fit(analysis, given)
        seen = Analysis.objects.get(pk=analysis.pk).revision
        merge_points(
            analysis=analysis, actor=lab.boss, points=points[:2], into=points[1], seen=seen
        )
        return found

    monkeypatch.setattr(placing, "_fit", merged_meanwhile)
    place_new_comments(analysis=made, actor=lab.boss)
    work(made)
    assert made.changes.first().verb == PointChange.Verb.PLACED
    new = made.placements.get(argument__text="Mornings are quiet.")
    assert new.point == points[1]
    kept = made.placements.get(argument=moved)
    assert (kept.point, kept.is_by_hand) == (points[1], True)


def test_a_killed_placing_is_taken_up_again(lab, monkeypatch):
    made = analyse(lab.cell, lab.boss)
    say(lab.cell, "Mornings are quiet.")
    with monkeypatch.context() as patch:
        patch.setattr(placing, "count_analysis", die)
        place_new_comments(analysis=made, actor=lab.boss)
        with pytest.raises(Killed):
            jobs.drain()
    made.refresh_from_db()
    assert (made.revision, made.statements) == (0, 11)
    Job.objects.filter(pk=made.job_id).update(lease_until="2020-01-01T00:00Z")
    work(made)
    assert (made.revision, made.statements) == (1, 12)
