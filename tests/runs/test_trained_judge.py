"""The trained judge in the product: a version from labels to figures, its pages and its order."""

import json
import random
from functools import cached_property, partial
from unittest import mock

import numpy as np
import pytest
from django.core.cache import cache
from django.urls import reverse

from annotation.consensus.models import FinalLabel
from annotation.corpus.actions import StoredVectors
from annotation.corpus.models import TextEmbedding
from annotation.judges.actions import judge_training, trained_judge
from annotation.judges.models import JudgeLabel, TrainedJudge
from annotation.labelling.actions import serving
from annotation.labelling.models import Item, LabelRound
from annotation.labelling.views.label_page import item_payload
from cqa_site.judging import embedding
from cqa_site.people.models import Rater, Role
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.lifecycle import open_round
from cqa_site.runs import jobs
from cqa_site.runs.models import Job
from tests.annotation.judges.methods.relevance_toys import LetterEmbedder
from tests.cast import (
    make_arguments,
    make_guideline,
    make_label_round,
    make_member,
    make_study,
    sign_in,
)
from tests.worlds import built_once

pytestmark = pytest.mark.django_db
PAIRS = [("tea", "coffee"), ("cats", "dogs"), ("Rust", "Go"), ("Nike", "Puma"), ("Oslo", "Rome")]
PAIRS += [("rugby", "chess"), ("pears", "plums"), ("Vim", "Emacs")]
SENTENCES = {
    0: ["Nothing here belongs to it, number {n}.", "It rained on day {n}."],
    1: ["{a} is the nicest of all, they say, number {n}.", "We bought {a} on day {n}."],
    3: ["{a} is better than {b} because it costs {n} less.", "{a} is {n} times faster than {b}."],
}


@pytest.fixture(autouse=True)
def _without_embeddings(monkeypatch):
    """Words only: a vector takes seconds of loading, and other tests look at vectors."""
    monkeypatch.setattr(judge_training, "embeddings_available", lambda: False)
    cache.clear()


class Workshop:
    """A round on eight pairs; two of three sentences have a final label."""

    def __init__(self):
        self.study = make_study()
        self.boss = make_member(self.study, Role.RESEARCHER)
        self.label_round = make_label_round(self.study, ordinary=0, controls=0)
        self.truth = {}
        for number, pair in enumerate(PAIRS):
            for place, argument in enumerate(make_arguments(self.study, 9, pair)):
                label, names = (0, 1, 3)[place % 3], dict(zip("ab", pair, strict=True))
                text = SENTENCES[label][place % 2].format(n=10 * number + place, **names)
                argument.text = text
                argument.save()
                self.truth[argument.pk] = label
                item = {"argument": argument, "external_id": str(argument.public_id)}
                Item.objects.create(round=self.label_round, rank=len(self.truth), **item)

    @cached_property
    def client(self):
        return sign_in(self.boss)

    def label(self, arguments=None, label_round=None):
        FinalLabel.objects.bulk_create(
            FinalLabel(
                label_round=label_round or self.label_round,
                argument_id=pk,
                label=self.truth[pk],
                provenance="adjudicated" if pk % 2 else "votes",
            )
            for pk in (self.truth if arguments is None else arguments)
        )

    def ask(self, **values) -> Job:
        return trained_judge.request_training(
            label_round=self.label_round, actor=self.boss, **values
        )

    def train(self, **values) -> Job:
        job = self.ask(**values)
        jobs.drain()
        job.refresh_from_db()
        return job

    def trained(self, **values) -> TrainedJudge:
        """The only version."""
        job = self.train(**values)
        assert (job.state, job.error) == ("done", "")
        return self.label_round.trained_judges.get()

    def shorten(self):
        """Levels that no guideline of the project has."""
        self.label_round.guideline.levels = self.label_round.guideline.levels[:3]
        self.label_round.guideline.save()

    def url(self, name, *args):
        return reverse(name, args=[self.study.public_id, self.label_round.public_id, *args])


shop = built_once(Workshop)


def test_a_version_holds_labels_figures_and_model(shop):
    known = [pk for place, pk in enumerate(shop.truth) if place // 3 % 3 < 2]
    shop.label(known)
    version = shop.trained()
    assert (version.number, version.kind, version.created_by) == (1, "trained", shop.boss)
    assert version.rater.kind == Rater.Kind.CLASSIFIER
    labels = version.labels.all()
    assert labels.count() == len(shop.truth)
    assert set(labels.filter(is_out_of_fold=True).values_list("argument", flat=True)) == set(known)
    assert all(sum(row.probabilities) == pytest.approx(1, abs=1e-4) for row in labels)
    figures = version.figures
    assert (figures["n"], figures["pairs"]) == (len(known), 8)
    assert figures["predicted"] == len(shop.truth) - len(known)
    # Figures are those of the stored out-of-fold labels, not of the model on its own training.
    given = dict(labels.values_list("argument", "label"))
    right = np.mean([given[pk] == shop.truth[pk] for pk in known])
    assert 0.8 < figures["exact"] == pytest.approx(right)
    assert version.recipe["labels_by_origin"].keys() == {"adjudicated", "votes"}
    assert version.recipe["embedding"] is None
    json.dumps([version.recipe, figures], allow_nan=False)
    assert shop.study.audit_events.filter(verb="judge_trained").count() == 1


@pytest.mark.long
def test_a_pair_nobody_labelled_counts_as_held_out(shop):
    of_pair = {}
    for item in shop.label_round.items.select_related("argument"):
        of_pair.setdefault(item.argument.comparison_id, []).append(item.argument_id)
    unknown, *known = of_pair.values()
    shop.label([pk for group in known for pk in group[:-1]])
    shop.train()
    fresh = JudgeLabel.objects.filter(argument__in=unknown)
    assert fresh.filter(is_out_of_fold=True).count() == len(unknown)
    seen = JudgeLabel.objects.filter(argument__in=[group[-1] for group in known])
    assert seen.filter(is_out_of_fold=True).count() == 0


@pytest.mark.long
def test_labels_of_another_label_round_can_be_lent(shop):
    guideline = shop.label_round.guideline
    pilot = LabelRound.objects.create(study=shop.study, name="Pilot", guideline=guideline)
    shop.label(list(shop.truth)[:60], pilot)
    version = shop.trained(source=pilot)
    assert (version.figures["n"], version.recipe["labels_from"]) == (60, "Pilot")
    assert version.labels.count() == len(shop.truth)


def test_another_scale_or_study_lends_nothing(shop):
    other = make_study("Foreign")
    foreign = make_label_round(other)
    with pytest.raises(trained_judge.TrainingNotPossible):
        shop.train(source=foreign)
    shop.client.post(shop.url("train_judge"), {"source": foreign.public_id})
    assert not shop.study.jobs.filter(kind="train_judge").exists()
    scale = make_guideline(shop.study)
    scale.levels = scale.levels[:2]
    scale.save()
    short = LabelRound.objects.create(study=shop.study, name="Short", guideline=scale)
    with pytest.raises(trained_judge.TrainingNotPossible):
        shop.train(source=short)


def test_cold_start_without_labels_and_without_embeddings_says_what_is_missing(shop, monkeypatch):
    missing = embedding.EmbeddingsUnavailable("Sentence embeddings need the packages torch.")
    monkeypatch.setattr(embedding, "_load", mock.Mock(side_effect=missing))
    shop.shorten()
    job = shop.train()
    assert (job.state, "torch" in job.error) == ("failed", True)


class WordEmbedder(LetterEmbedder):
    """It counts the texts that it reads."""

    read = 0

    def encode(self, texts, progress=None):
        self.read += len(texts)
        return super().encode(texts, progress)


@pytest.fixture
def letters(monkeypatch):
    embedder = WordEmbedder()
    monkeypatch.setattr(judge_training, "embeddings_available", lambda: True)
    monkeypatch.setattr(judge_training, "SentenceEmbedder", lambda: embedder)
    return embedder


@pytest.mark.long
def test_cold_start_labels_everything_and_claims_nothing(shop, letters):
    version = shop.trained()
    assert (version.kind, version.model, version.figures["n"]) == ("cold", b"", 0)
    assert version.recipe["works_from"] == "the guideline as a rule"
    assert letters.read == 0
    assert version.figures["ordinal"]["value"] is None
    assert version.figures["ordinal"]["reason"]
    assert version.labels.count() == len(shop.truth)
    for url in (shop.url("trained_judge", 1), shop.url("judges")):
        assert shop.client.get(url).status_code == 200


def test_cold_start_on_another_scale_works_by_similarity(shop, letters):
    shop.shorten()
    works_from = shop.trained().recipe["works_from"]
    assert works_from == "similarity to the level descriptions"
    assert letters.read > 0


@pytest.mark.long
def test_vectors_are_read_once(shop, letters):
    shop.label()
    shop.train()
    first = letters.read
    assert first > 0
    shop.train()
    assert letters.read == first
    assert TextEmbedding.objects.filter(model="letters").count() > 0
    one, two = shop.label_round.trained_judges.all()
    assert (one.sha256, one.figures, one.rater) == (two.sha256, two.figures, two.rater)
    assert (one.number, two.number) == (2, 1)


def test_kept_vectors_come_back_in_order_and_by_model():
    texts = [f"text {chr(97 + n % 26)} {n}" for n in range(600)]
    embedder = WordEmbedder()
    kept = StoredVectors(embedder)
    seen = []
    expected = WordEmbedder().encode(texts)
    assert np.array_equal(kept.encode(texts, lambda done, total: seen.append(done)), expected)
    assert seen == [256, 512, 600]
    shuffled = texts[::-1]
    assert np.array_equal(kept.encode(shuffled), expected[::-1])
    assert embedder.read == 600
    other = WordEmbedder()
    other.name = "other"
    StoredVectors(other).encode(texts[:3])
    assert other.read == 3
    assert kept.encode([]).shape == (0, 26)


def test_a_cancelled_training_keeps_nothing(shop, monkeypatch):
    shop.label()
    job, steps, progress = shop.ask(), [], jobs.JobContext.progress
    cancel = partial(trained_judge.cancel_training, label_round=shop.label_round, actor=shop.boss)

    def cancel_soon(work, done, total=0, note=""):
        steps.append(note)
        assert len(steps) != 3 or cancel()
        return progress(work, done, total, note)

    monkeypatch.setattr(jobs.JobContext, "progress", cancel_soon)
    jobs.drain()
    job.refresh_from_db()
    assert (job.state, job.error) == ("failed", "Cancelled.")
    assert not shop.label_round.trained_judges.exists()
    assert not cancel()


@pytest.mark.long
def test_one_click_trains_and_the_page_shows_the_figures(
    shop, django_capture_on_commit_callbacks, django_assert_max_num_queries
):
    shop.label()
    assert "No versions yet" in shop.client.get(shop.url("trained_judges")).text
    with django_capture_on_commit_callbacks(execute=True):
        reply = shop.client.post(shop.url("train_judge"))
    assert reply.status_code == 302
    shop.train()
    with django_assert_max_num_queries(14):
        page = shop.client.get(shop.url("trained_judges")).text
    assert "version 2" in page
    assert "without sentence embeddings" in page
    version = shop.client.get(shop.url("trained_judge", 1)).text
    assert "Label by label" in version
    assert shop.label_round.trained_judges.get(number=1).sha256 in version
    assert "out of fold" in shop.client.get(shop.url("judges")).text
    # A model card names counts, recipe and figures but no text.
    reply = shop.client.get(shop.url("trained_judge_card", 1))
    assert "attachment" in reply["Content-Disposition"]
    assert reply.json()["figures"]["n"] == len(shop.truth)
    assert reply.json()["versions"]["scikit-learn"]
    assert reply.json()["model_sha256"] == shop.label_round.trained_judges.get(number=1).sha256
    assert "It rained" not in reply.text


class Draft:
    """A draft with twelve ordinary items and two controls, and a judge unsure of some."""

    def __init__(self, *, is_ordered: bool):
        self.study = make_study()
        self.boss = make_member(self.study, Role.RESEARCHER)
        self.label_round = make_label_round(
            self.study, ordinary=12, controls=2, orders_by_uncertainty=is_ordered, block_size=4
        )
        self.doubts = {}

    def predict(self):
        rater = Rater.objects.create(study=self.study, kind="classifier", name="Trained judge")
        version = TrainedJudge.objects.create(label_round=self.label_round, rater=rater, number=1)
        ordinary = list(self.label_round.items.filter(control_label=None).order_by("pk"))
        shares = [place / 22 for place in range(10)]
        random.Random(2).shuffle(shares)
        of = {"label_round": self.label_round, "trained": version, "label": 0}
        # The last two of twelve have no prediction.
        for item, share in zip(ordinary, shares, strict=False):
            probabilities = [1 - share, 0, 0, share]
            JudgeLabel.objects.create(argument=item.argument, probabilities=probabilities, **of)
            self.doubts[item.pk] = share
        return self

    def open(self):
        open_round(round_=self.label_round, actor=self.boss)
        self.label_round.refresh_from_db()
        return self

    def order(self):
        slots = self.label_round.slots.order_by("order").values_list("item", flat=True)
        return list(dict.fromkeys(slots))


def test_the_least_sure_items_come_first_and_unknown_ones_last():
    draft = Draft(is_ordered=True)
    with pytest.raises(RoundNotReady, match="trained"):
        draft.open()
    order = draft.predict().open().order()
    assert order[:10] == sorted(draft.doubts, key=lambda pk: -draft.doubts[pk])
    assert set(order[10:]).isdisjoint(draft.doubts)
    assert len(order) == 12
    assert draft.label_round.slots.count() == 12 * draft.label_round.votes_per_item


def test_without_the_option_the_order_is_the_seeded_one_whatever_a_judge_thinks():
    first, second = Draft(is_ordered=False).open(), Draft(is_ordered=False).predict().open()
    ordered = Draft(is_ordered=True).predict().open()

    def places(draft):
        pks = list(draft.label_round.items.order_by("pk").values_list("pk", flat=True))
        return [pks.index(pk) for pk in draft.order()]

    def ranks(draft):
        return list(draft.label_round.items.order_by("pk").values_list("rank", flat=True))

    assert places(first) == places(second)
    # Ranks of control items do not depend on it either.
    assert ranks(first) == ranks(ordered)


@pytest.mark.long
def test_payloads_look_the_same_with_and_without_the_order():
    keys = []
    for draft in (Draft(is_ordered=False).open(), Draft(is_ordered=True).predict().open()):
        person = make_member(draft.study, Role.ANNOTATOR)
        place = serving.member_place(
            label_round=draft.label_round, membership=person.memberships.get()
        )
        work = serving.next_work(label_round=draft.label_round, place=place).assignments
        keys.append([sorted(item_payload(row)) for row in work])
        text = sign_in(person).get(
            reverse("label", args=[draft.study.public_id, draft.label_round.public_id])
        ).text  # fmt: skip
        assert "uncertain" not in text.lower()
        assert "judge" not in text.lower()
    assert keys[0] == keys[1]
