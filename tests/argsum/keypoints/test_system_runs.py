"""Runs of systems: what they store, that they go on after a kill, and that they repeat."""

from collections import Counter
from math import prod

import pytest
from django.utils import timezone

from argsum.datasets.models import CellArgument
from argsum.keypoints.actions import solver, system_jobs, system_runs
from argsum.keypoints.actions.solver import FEW_CLUSTERS, Shares
from argsum.keypoints.actions.system_runs import (
    SystemRunRefused,
    cancel_system,
    estimate_system,
    resume_system,
    start_system,
)
from argsum.keypoints.models import SummarySet, SystemRun
from argsum.scorers.models import Scorer
from argsum.systems import clustering, ranking
from argsum.systems.contract import NO_CANDIDATES, NO_MATCHES
from cqa_site.people.models import Role
from cqa_site.runs.models import Job
from tests.argsum.made_cells import make_dataset, make_set
from tests.argsum.made_runs import make_run, place_vectors, plan_of, work
from tests.cast import make_member, make_study
from tests.worlds import built_once

pytestmark = pytest.mark.django_db
State = SystemRun.State


class Lab:
    """Two cells of six arguments, and a scorer that knows where each belongs."""

    def __init__(self):
        self.study = make_study()
        self.researcher = make_member(self.study, Role.RESEARCHER)
        self.dataset = make_dataset(self.study)

    def run(self, **chosen):
        return make_run(self.dataset, self.researcher, **chosen)

    def start(self, **chosen):
        plan = plan_of(self.dataset, **chosen)
        return start_system(study=self.study, actor=self.researcher, plan=plan)


made = built_once(Lab)


@pytest.fixture
def lab(made, place_scorer, monkeypatch):
    made.scorer, vectors = place_scorer, property(lambda self: place_vectors(self.texts))
    monkeypatch.setattr(solver.CellInputs, "vectors", vectors)
    return made


def contents(run):
    """Everything that a run computed, without keys and times."""
    fields = ["cell__position", "setting", "state", "reason", "clusters", "assigned", "scores"]
    summaries = ("summaries__text", "summaries__cluster", "summaries__prevalence")
    rows = run.sets.order_by(*fields[:2], "summaries__position")
    return list(rows.values_list(*fields, *summaries))


GRIDS = {
    "barh": {"threshold": [0.5, 0.85], "fill_up": [0.1, 1.0]},
    "smatchtopr": {"edge": [0.4], "damping": [0.2], "redundancy": [0.8], "fill_up": [1.0]},
    # Too many components for UMAP on six arguments: principal ones, without compiling anything.
    "uskpm": {"neighbours": [2], "components": [5], "min_distance": [0.0]},
    "mcargsum": {"threshold": [0.25, 0.5, 0.95], "min_size": [3]},
}
GRIDS["uskpm"] |= {"iterative": [True, False], "min_size": [3]}


@pytest.mark.parametrize("system", GRIDS)
def test_every_cell_and_setting_gets_a_set_and_a_rerun_repeats_them(lab, system):
    if system == "uskpm":
        pytest.importorskip("hdbscan")
    run = lab.run(system=system, grid=GRIDS[system])
    assert (run.state, run.error) == (State.DONE, "")
    assert run.sets.count() == 2 * prod(len(values) for values in GRIDS[system].values())
    assert all(each.seconds >= 0 for each in run.sets.all())
    again = lab.run(system=system, grid=GRIDS[system])
    assert again.pk != run.pk
    assert contents(again) == contents(run)


def test_the_clusters_of_mcargsum_are_the_key_points(lab):
    run = lab.run(grid={"threshold": [0.1, 0.5], "min_size": [3]})
    assert run.state == State.DONE
    made = run.sets.get(cell__stance=1, state="done")
    assert made.clusters == made.assigned == [0, 0, 0, 1, 1, 1]
    # The central argument of a cluster scores 1 with itself and .9 with the others.
    assert made.scores == [1.0, 0.9, 0.9, 1.0, 0.9, 0.9]
    texts = list(CellArgument.objects.filter(pk__in=made.arguments).order_by("position"))
    points = [(each.text, each.prevalence) for each in made.summaries.all()]
    assert points == [(texts[0].text, 3), (texts[3].text, 3)]
    # One cluster is no result and is kept.
    for made in run.sets.filter(setting__startswith="threshold=0.1"):
        assert (made.state, made.reason) == (SummarySet.State.NO_RESULT, FEW_CLUSTERS)
        assert made.clusters == [0] * 6
        assert made.summaries.count() == 0


def test_barh_without_candidates_or_matches_is_no_result(lab):
    CellArgument.objects.update(quality=0.1)
    run = lab.run(system="barh", grid={"threshold": [0.5, 0.95], "fill_up": [0.0, 0.5]})
    reasons = dict(run.sets.filter(cell__stance=1).values_list("setting", "reason"))
    assert reasons["threshold=0.5 fill_up=0"] == NO_CANDIDATES
    assert reasons["threshold=0.95 fill_up=0.5"] == NO_MATCHES
    assert reasons["threshold=0.5 fill_up=0.5"] == ""


def noting(monkeypatch, module, name, asked):
    usual = getattr(module, name)

    def noted(*given, **named):
        asked.append((name, named.get("weight")))
        return usual(*given, **named)

    monkeypatch.setattr(module, name, noted)


def test_mcargsum_beyond_average_linkage(lab, monkeypatch):
    asked = []
    for name in ("profile_scores", "merge_clusters", "refine_clusters"):
        noting(monkeypatch, clustering, name, asked)
    grid = {"threshold": [0.3, 0.5], "min_size": [3], "profile": [0, 1], "refines": [False, True]}
    run = lab.run(grid=grid)
    assert set(run.sets.values_list("state", flat=True)) == {"done"}
    # One matrix serves all settings of a cell.
    assert lab.scorer.asked == [(6, 6), (6, 6)]
    # Two cells; one linkage for all settings that differ in threshold and refining alone.
    times = Counter(name for name, _weight in asked)
    assert times == {"profile_scores": 2, "merge_clusters": 4, "refine_clusters": 8}
    assert run.sets.filter(setting="threshold=0.5 min_size=3 profile=1 refines=on").count() == 2


def test_settings_of_smatchtopr_share_one_ranking(lab, monkeypatch):
    asked = []
    noting(monkeypatch, ranking, "rank_candidates", asked)
    redundancies = [0.1, 0.5, 0.95, 1.0]
    grid = GRIDS["smatchtopr"] | {"redundancy": redundancies, "fill_up": [0.5, 1.0]}
    run = lab.run(system="smatchtopr", grid=grid)
    assert len(asked) == 4
    made = run.sets.filter(cell__stance=1, setting__endswith="fill_up=1")
    assert [
        made.get(setting__contains=f"redundancy={each:g} ").summaries.count()
        for each in redundancies
    ] == [1, 2, 6, 6]


@pytest.mark.parametrize("system", ["barh", "smatchtopr", "mcargsum"])
def test_a_scorer_hears_the_topic_of_whatever_it_compares(lab, system):
    seen = []
    usual = lab.scorer.matrix

    def noted(rows, columns, *, topic=""):
        seen.append((topic, *rows, *columns))
        return usual(rows, columns, topic=topic)

    lab.scorer.matrix = noted
    lab.run(system=system, grid=GRIDS[system])
    topics = set(lab.dataset.cells.values_list("topic", flat=True))
    assert {topic for topic, *_texts in seen} == topics
    # Whether it stands before the texts is the scorer's own affair.
    assert not any(text.startswith(topic) for topic, *texts in seen for text in texts)


def test_only_runs_that_make_the_same_share_a_name(lab):
    # One argument is left out, and takes part only if that is wanted.
    gone = CellArgument.objects.filter(cell__stance=1).first()
    CellArgument.objects.filter(pk=gone.pk).update(left_out=CellArgument.LeftOut.SENTENCES)
    first = lab.start()
    assert lab.start() == first
    work(first)
    assert lab.run(grid={"threshold": [0.6], "min_size": [3]}).label == first.label
    assert lab.run(seed=7).label == f"{first.label} (2)"
    everything = lab.run(is_unfiltered=True)
    assert everything.label == f"{first.label} (3)"
    kept, whole = (run.sets.get(cell__stance=1).arguments for run in (first, everything))
    assert gone.pk not in kept
    assert (gone.pk in whole, len(whole)) == (True, 6)
    make_set(lab.dataset.cells.first(), system="From a file", system_run=None)
    assert lab.run(label="From a file").label == "From a file (2)"


def test_a_worker_that_dies_loses_nothing_and_doubles_nothing(lab, monkeypatch):
    whole = contents(lab.run(grid=GRIDS["mcargsum"]))
    stored, real = [], system_jobs.store_set

    def dying(*args):
        if len(stored) == 4:
            raise KeyboardInterrupt
        stored.append(args)
        real(*args)

    monkeypatch.setattr(system_jobs, "store_set", dying)
    run = lab.start(grid=GRIDS["mcargsum"])
    with pytest.raises(KeyboardInterrupt):
        work(run)
    run.refresh_from_db()
    assert (run.state, run.sets.count()) == (State.RUNNING, 4)
    monkeypatch.setattr(system_jobs, "store_set", real)
    kept = dict(run.sets.values_list("pk", "done_at"))
    Job.objects.filter(pk=run.job_id).update(lease_until="2020-01-01T00:00Z")
    work(run)
    assert (run.state, contents(run)) == (State.DONE, whole)
    assert kept.items() <= dict(run.sets.values_list("pk", "done_at")).items()


def test_cancelling_keeps_what_is_there_and_resuming_does_the_rest(lab, monkeypatch):
    real = system_jobs.store_set

    def cancelling(run, *args):
        real(run, *args)
        if run.sets.count() == 2:
            cancel_system(run=SystemRun.objects.get(pk=run.pk), actor=lab.researcher)

    monkeypatch.setattr(system_jobs, "store_set", cancelling)
    run = lab.run(grid=GRIDS["mcargsum"])
    assert (run.state, run.sets.count()) == (State.CANCELLED, 2)
    monkeypatch.setattr(system_jobs, "store_set", real)
    lab.scorer.asked.clear()
    resume_system(run=run, actor=lab.researcher)
    work(run)
    assert (run.state, run.sets.count()) == (State.DONE, 6)
    with pytest.raises(SystemRunRefused, match="done"):
        resume_system(run=run, actor=lab.researcher)
    with pytest.raises(SystemRunRefused, match="done"):
        cancel_system(run=run, actor=lab.researcher)


def test_a_run_that_was_cancelled_and_resumed_has_a_job_of_its_own(lab, settings):
    """The job of before the cancelling must not be taken for the one that goes on."""
    settings.JOBS_INLINE = False
    run = lab.start()
    before = run.job
    Job.objects.filter(pk=before.pk).update(state="leased", lease_until=timezone.now())
    cancel_system(run=run, actor=lab.researcher)
    resume_system(run=run, actor=lab.researcher)
    run.refresh_from_db()
    before.refresh_from_db()
    assert run.job != before
    assert (before.state, run.job.state) == ("failed", "ready")


def test_an_error_is_said_and_can_be_resumed(lab, monkeypatch):
    def broken(scorer):
        raise system_jobs.ScorerRefused("“MiniLM” is not ready.")

    monkeypatch.setattr(solver, "match_scorer_of", broken)
    run = lab.run()
    assert (run.state, run.error) == (State.FAILED, "“MiniLM” is not ready.")
    monkeypatch.setattr(solver, "match_scorer_of", lambda scorer: lab.scorer)
    resume_system(run=run, actor=lab.researcher)
    assert work(run).state == State.DONE


def test_plans_that_cannot_be_run(lab, monkeypatch):
    foreign = Scorer.objects.create(study=make_study("Other"), name="A", task="match")
    many = {"threshold": [n / 200 for n in range(200)], "min_size": [2, 3, 4]}
    for chosen, message in (
        ({"grid": {"threshold": [0.5]}}, "no values for “min_size”"),
        ({"grid": {"threshold": [2], "min_size": [3]}}, "is not between"),
        ({"grid": {"threshold": [0.5], "min_size": [3], "x": [1]}}, "“x” is not a parameter"),
        ({"variant": "candidates"}, "no such variant"),
        ({"system": "another"}, "no system"),
        ({"match_scorer": foreign}, "belong to the study"),
        ({"split": "train"}, "no cell"),
        ({"variant": "seq2seq"}, "Enter the name of a sequence-to-sequence model"),
        ({"grid": many}, "There are 600 settings"),
    ):
        with pytest.raises(SystemRunRefused, match=message):
            lab.start(**chosen)
    found = estimate_system(plan_of(lab.dataset, grid=GRIDS["mcargsum"]))
    assert (found.cells, found.settings, found.sets) == (2, 3, 6)
    assert (found.arguments, found.largest) == (12, 6)
    # Cells too large for the memory are refused before anything is written.
    monkeypatch.setattr(system_runs, "MOST_ARGUMENTS", 5)
    with pytest.raises(SystemRunRefused, match="has 6 arguments, but the maximum is 5"):
        lab.start()


def test_shared_time_is_charged_to_everybody_once(monkeypatch):
    clock = iter([0.0, 1.0, 3.0, 9.0])
    monkeypatch.setattr(solver, "perf_counter", lambda: next(clock))
    shares = Shares()
    shares.begin()
    # The outer value takes 9 seconds, of which 2 go into the inner one.
    shares.take("outer", 2, lambda: shares.take("inner", 4, lambda: 1))
    assert shares.charge == pytest.approx(-9 + 7 / 2 + 2 / 4)
    shares.begin()
    shares.take("outer", 2, lambda: 1 / 0)
    shares.take("outer", 2, lambda: 1 / 0)
    assert shares.charge == pytest.approx(7 / 2 + 2 / 4)
