"""Faithfulness figures: made in the background, only where something changed."""

import pytest

from annotation.consensus.models import FinalLabel
from annotation.corpus.models import TextEmbedding
from annotation.faithfulness.actions import figures as faithfulness
from annotation.faithfulness.actions.texts import Freshness, freshness
from annotation.faithfulness.methods.faithfulness import MODES, AnswerFigures, measure, pool
from annotation.faithfulness.models import FaithfulnessFigures
from annotation.faithfulness.reports.faithfulness import TextGroup, compute_groups, members_of
from annotation.faithfulness.reports.tables import INTERVALS
from cqa_site.people.models import Role
from cqa_site.runs import jobs
from cqa_site.runs.models import Job
from cqa_site.stats.intervals import LEAST_CLUSTERS
from tests.cast import make_member, make_study
from ..made_answers import make_answer, make_question, make_system
from .made_faithfulness import (
    TEXT,
    NoVectors,
    WordVectors,
    compute,
    hand_in,
    make_closed_round,
    make_faithful,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def vectors(monkeypatch):
    """Every embedder the worker makes."""
    made = []
    monkeypatch.setattr(
        faithfulness, "SentenceEmbedder", lambda model: made.append(WordVectors(model)) or made[-1]
    )
    return made


@pytest.fixture
def measured(monkeypatch):
    """(mode) of every measurement that is really made."""
    found = []

    def counted(*args, mode, **kwargs):
        found.append(mode)
        return measure(*args, mode=mode, **kwargs)

    monkeypatch.setattr(faithfulness, "measure", counted)
    return found


BETTER = TEXT.replace("[9]", "[1]")


def edited(study, researcher, text=BETTER):
    """A revision of the only calibration answer by a new expert."""
    expert = make_member(study, Role.EXPERT)
    sheet = make_closed_round(study, [expert], researcher).sheets.get()
    return hand_in(sheet, text)


def test_every_text_of_the_study_gets_the_figures_of_both_modes(study, researcher):
    make_faithful(make_study("Study B"), 1)
    answers = make_faithful(study)
    revision = edited(study, researcher)
    assert compute(study).state == Job.State.DONE
    assert FaithfulnessFigures.objects.count() == 2 * 4
    arguments = {number: f"tea beats coffee in point {number - 1}." for number in (1, 2, 3)}
    for mode in MODES:
        kept = answers[0].figures.get(mode=mode)
        wanted = measure(TEXT, arguments, {1: 3, 2: 2, 3: 0}, mode=mode)
        assert AnswerFigures.from_json(kept.values) == wanted
        assert kept.precision == wanted.precision
        assert kept.levenshtein == pytest.approx(sum(wanted.levenshtein) / len(wanted.levenshtein))
    assert revision.figures.get(mode="sound").values["out_of_range"] == []
    # Columns and citations say what the values say.
    kept = answers[0].figures.get(mode="sound")
    assert kept.values["out_of_range"] == [9]
    assert (kept.out_of_range, kept.malformed) == (1, 1)
    assert kept.segments == kept.values["segments"] > len(kept.values["levenshtein"]) == 2
    cited = [(TEXT[start:end], number) for start, end, number in kept.citations]
    assert [number for _text, number in cited] == [1, 2, 3]
    assert cited[0][0].startswith("Tea beats coffee in point 0")
    assert answers[0].figures.get(mode="paper").citations == []
    # Only the newest revision of a sheet counts.
    hand_in(revision.sheet, "Tea beats coffee [1].")
    compute(study)
    members = members_of(study, "sound")
    (group,) = [group for group in members if group.is_edited]
    assert [figures.cited for figures in members[group].figures] == [(1,)]
    assert FaithfulnessFigures.objects.filter(revision__isnull=False).count() == 4


def test_only_what_changed_is_measured_again(study, measured, monkeypatch):
    answers = make_faithful(study)
    compute(study)
    assert len(measured) == 6
    compute(study)
    assert len(measured) == 6
    label = FinalLabel.objects.filter(argument__comparison=answers[1].question.comparison)
    label.filter(label=0).update(label=3)
    assert freshness(study) == Freshness(3, 1, 0, 0)
    before = answers[1].figures.get(mode="sound").precision
    compute(study)
    assert len(measured) == 8
    assert answers[1].figures.get(mode="sound").precision != before
    make_answer(answers[0].question, text="Tea [1].", listed=answers[0].argument_list, choice=2)
    assert freshness(study).stale == 1
    compute(study)
    assert len(measured) == 10
    assert freshness(study).is_current
    monkeypatch.setattr("annotation.faithfulness.actions.texts.RECIPE", 999)
    assert freshness(study).stale == 4


def test_a_worker_that_dies_loses_one_piece(study, monkeypatch, measured, researcher):
    make_faithful(study, 5)
    # A stopped job makes nothing, and neither does a worker that lost its lease.
    faithfulness.request_figures(study=study, embedding="")
    assert faithfulness.cancel_figures(study=study, actor=researcher)
    assert not faithfulness.cancel_figures(study=study, actor=researcher)
    jobs.drain()
    assert faithfulness.latest_job(study).error
    assert not FaithfulnessFigures.objects.exists()
    faithfulness.request_figures(study=study, embedding="")
    job = jobs.claim()
    Job.objects.filter(pk=job.pk).update(fence=job.fence + 1)
    with pytest.raises(jobs.StaleWorker):
        faithfulness.make_figures(jobs.JobContext(job))
    for model in (Job, FaithfulnessFigures):
        model.objects.all().delete()
    monkeypatch.setattr(faithfulness, "TOGETHER", 2)
    store, stored = faithfulness._store, []

    def die_at_the_third(rows):
        stored.append(len(rows))
        if len(stored) == 3:
            raise MemoryError
        store(rows)

    monkeypatch.setattr(faithfulness, "_store", die_at_the_third)
    assert compute(study).state == Job.State.FAILED
    assert freshness(study).stale == 1
    monkeypatch.setattr(faithfulness, "_store", store)
    measured.clear()
    assert compute(study).state == Job.State.DONE
    assert measured == list(MODES)


@pytest.mark.long
def test_one_job_at_a_time_takes_the_newest_choice_and_another_model_is_another_similarity(
    study, vectors
):
    make_faithful(study, 2)
    first = faithfulness.request_figures(study=study, embedding="")
    second = faithfulness.request_figures(study=study, embedding="some-model")
    assert first == second
    jobs.drain()
    assert [one.name for one in vectors] == ["some-model"]
    compute(study, "other-model")
    assert set(FaithfulnessFigures.objects.values_list("embedding", flat=True)) == {"other-model"}
    faithfulness.request_figures(study=study, embedding="third-model")
    assert freshness(study) == Freshness(2, 0, 2, 0)


def test_similarities_come_in_a_second_step_and_texts_are_read_once(
    study, vectors, researcher, monkeypatch
):
    make_faithful(study, 2)
    compute(study)
    kept = FaithfulnessFigures.objects.filter(mode="sound")
    assert not kept.filter(similarity__isnull=False).exists()
    assert compute(study, "some-model").state == Job.State.DONE
    for row in kept:
        similarity = row.values["similarity"]
        assert (row.embedding, len(similarity)) == ("some-model", len(row.values["levenshtein"]))
        assert row.similarity == pytest.approx(sum(similarity) / len(similarity))
    read = vectors[0].read
    assert len(read) == len(set(read)) == TextEmbedding.objects.count()
    edited(study, researcher, TEXT)
    compute(study, "some-model")
    # Only whole texts of the new round were new to the model.
    assert set(vectors[1].read).isdisjoint(read)
    assert freshness(study).is_current
    # Without a model the rest is there.
    FaithfulnessFigures.objects.all().delete()
    monkeypatch.setattr(faithfulness, "SentenceEmbedder", NoVectors)
    job = compute(study, "other-model")
    assert (job.state, job.note) == (Job.State.DONE, "The weights are missing.")
    assert freshness(study) == Freshness(3, 0, 3, 0)
    assert kept.filter(f1__isnull=False).exists()


def test_groups_are_means_of_their_texts(study, researcher):
    answers = make_faithful(study, 4, choices=2)
    other = make_system(study, "Model B")
    listed = answers[0].argument_list
    make_answer(answers[0].question, other, "Tea beats coffee [3].", listed=listed)
    # An answer without arguments says so.
    make_answer(make_question(study, aspect="price"), other, text="Tea, of course.", scenario=1)
    edited(study, researcher)
    compute(study)
    first, _edited, bare, second = sorted(
        compute_groups(study, "sound", None),
        key=lambda group: (group.name, group.is_edited, group.scenario),
    )
    about = [(each.name, each.scenario, each.is_edited) for each in (first, _edited, bare, second)]
    assert about == [
        *(("Model A", 4, False), ("Model A", 4, True), ("Model B", 1, False)),
        ("Model B", 4, False),
    ]
    group = TextGroup(answers[0].system_id, answers[0].condition_id, False)
    pooled = pool(members_of(study, "sound")[group].figures)
    assert (first.n_answers, first.n_questions) == (8, 4)
    for name in ("precision", "f1", "jaccard_text", "jaccard_segment", "levenshtein"):
        wanted = getattr(pooled, name.replace("segment", "sentence"))
        assert first.measures[name].value == pytest.approx(wanted)
    assert first.measures["levenshtein"].n_values == pooled.n_segments
    assert first.skipped == pooled.skipped
    assert (first.out_of_range, first.malformed) == (8, 8)
    assert second.measures["precision"].value == 0
    assert second.measures["precision"].reason
    assert bare.skipped["no_arguments"] == 1
    assert bare.measures["jaccard_text"].value is None
    assert bare.measures["jaccard_text"].reason


@pytest.mark.long
def test_intervals_are_over_questions(study, django_assert_max_num_queries):
    for number in range(6):
        (answer,) = make_faithful(make_study(f"Other {number}"), 1)
        assert answer.choice == 1
    answers = make_faithful(study, LEAST_CLUSTERS)
    for place, answer in enumerate(answers):
        text = "Tea beats coffee [1]." if place % 2 else "Tea beats coffee [3]."
        for choice in range(2, 5):
            make_answer(answer.question, text=text, listed=answer.argument_list, choice=choice)
    faithfulness.request_figures(study=study, embedding="")
    with django_assert_max_num_queries(60):
        jobs.drain()
    with django_assert_max_num_queries(12):
        assert freshness(study).is_current
    with django_assert_max_num_queries(5):
        (group,) = compute_groups(study, "sound", None)
    found = group.measures["precision"]
    assert found.low < found.value < found.high
    assert "over questions" in found.interval
    assert (found.n_items, found.n_values) == (LEAST_CLUSTERS, 4 * LEAST_CLUSTERS)
    assert f"for {LEAST_CLUSTERS} or more questions" in str(INTERVALS)
