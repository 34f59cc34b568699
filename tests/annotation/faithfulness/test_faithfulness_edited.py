"""Texts before and after editing: what belongs together, what changed, how far experts agree."""

import csv
import io

import numpy as np
import pytest
from django.urls import reverse

from annotation.answers.methods.checklist import check_answer
from annotation.answers.methods.segments import sound_segments
from annotation.corpus.models import TextEmbedding
from annotation.faithfulness.actions.texts import freshness, stale_pairs
from annotation.faithfulness.models import EditedText
from annotation.faithfulness.reports.edited import edited_of, pairs_of, summarise
from annotation.faithfulness.reports.expert_agreement import (
    SimilarityCell,
    agreement_of,
    texts_of_rounds,
)
from cqa_site.people.models import Role
from cqa_site.rounds.lifecycle import reopen_round
from cqa_site.runs.models import Job
from tests.cast import make_member, make_study, sign_in
from tests.worlds import built_once
from ..made_answers import make_answer, make_system
from .made_faithfulness import TEXT, compute, hand_in, make_closed_round, make_faithful, vector_of

pytestmark = pytest.mark.django_db
# Seven words change: two go, "[9]." becomes "[1].", four make one citation.
BETTER = TEXT.replace("Tea costs far less everywhere [9]", "Tea costs less [1]").replace(
    "[2 and see above]", "[2]"
)


class Lab:
    """Three answers; an expert edited one, a file brought a gold text for another."""

    def __init__(self):
        self.study = make_study()
        self.researcher = make_member(self.study, Role.RESEARCHER)
        self.answers = make_faithful(self.study, 3, choices=2)
        self.expert = make_member(self.study, Role.EXPERT, name="Expert Example")
        self.round = make_closed_round(self.study, [self.expert], self.researcher)
        self.sheet = self.round.sheets.select_related("answer").get()
        self.revision = hand_in(self.sheet, BETTER, 300)
        # Closing asked for figures; the worker of the other world here would make them.
        Job.objects.all().delete()

    def gold(self, answer, text):
        human = make_system(self.study, "Gold", kind="human")
        more = {"listed": answer.argument_list, "scenario": 0, "source": "gold.json"}
        return make_answer(answer.question, human, text, **more)


lab = built_once(Lab)


@pytest.mark.long
def test_a_revision_stands_beside_its_answer(lab):
    assert len(stale_pairs(lab.study)) == 1
    compute(lab.study)
    row = EditedText.objects.get(before__study=lab.study)
    assert (row.before, row.revision, row.gold) == (lab.sheet.answer, lab.revision, None)
    assert row.edit_distance == 7
    assert (row.words_before, row.words_after) == (len(TEXT.split()), len(BETTER.split()))
    pair = lab.sheet.answer.question.comparison
    entries = lab.sheet.answer.argument_list.entries
    texts = dict(entries.values_list("number", "argument__text"))
    checks = check_answer(BETTER, texts, pair.object1, pair.object2)
    assert row.checks_after == {check.name: check.is_passed for check in checks}
    existing = (row.checks_before["citations_exist"], row.checks_after["citations_exist"])
    assert existing == (False, True)
    # Only what changed is compared again.
    assert freshness(lab.study).is_current
    newer = hand_in(lab.sheet, TEXT)
    assert freshness(lab.study).stale_pairs == 1
    compute(lab.study)
    again = EditedText.objects.get(before__study=lab.study)
    assert (again.revision, again.edit_distance) == (newer, 0)
    assert again.pk != row.pk
    # A gold text without machine answers is counted in its study alone.
    other = make_faithful(make_study("Study B"), 1)[0]
    other.system = make_system(other.study, "Gold", kind="human")
    other.save()
    compute(other.study)
    summary = summarise(other.study, pairs_of(edited_of(other.study), "sound"))
    assert (summary.n, summary.without_machine) == (0, 1)
    assert freshness(other.study).stale_pairs == 0


def test_the_difference_is_after_minus_before(lab):
    gold = lab.gold(lab.answers[-1], "Tea beats coffee [1, 2].")
    compute(lab.study)
    pairs = pairs_of(edited_of(lab.study), "sound")
    summary = summarise(lab.study, pairs)
    assert (summary.n, summary.n_revisions, summary.n_gold) == (2, 1, 1)
    changes = {change.name: change for change in summary.changes}
    recalls = [(pair.before["recall"], pair.after["recall"]) for pair in pairs]
    wanted = sum(after - before for before, after in recalls) / 2
    assert changes["recall"].difference.value == pytest.approx(wanted)
    assert changes["words"].n == 2
    assert changes["words"].after == (len(BETTER.split()) + 5) / 2
    assert changes["similarity"].n == 0
    checks = {change.name: change for change in summary.checks}
    assert (checks["citations_exist"].before, checks["citations_exist"].after) == (0, 1)
    # Whoever edited elsewhere left no time.
    assert (summary.seconds, summary.n_timed) == (300, 1)
    # A gold text stands beside the nearest machine answer.
    assert gold.edited_text.before.question == gold.question
    first = next(
        each
        for each in lab.answers
        if each.question not in (lab.sheet.answer.question, gold.question)
    )
    near = lab.study.answers.get(question=first.question, choice=2)
    near.text = "Tea is what people want who sleep badly [1]."
    near.save()
    gold = lab.gold(first, "Tea is what people want who sleep well [1].")
    compute(lab.study)
    row = EditedText.objects.get(gold=gold)
    assert (row.before, row.edit_distance) == (near, 1)


def test_the_page_shows_both_sides(lab, client, django_assert_max_num_queries):
    address = reverse("edited_texts", args=[lab.study.public_id])
    shown = client.get(address).text
    assert "No edited texts yet" in shown
    assert "1 edited text is new or has changed" in shown
    compute(lab.study)
    for query in ("", "?mode=paper"):
        shown = " ".join(client.get(address + query).text.split())
        for words in ("Expert Example", "1 question", "5.0 min"):
            assert words in shown
    assert f"faithfulness/revisions/{lab.revision.public_id}" in shown
    # Files hold every pair, and the summary.
    for answer in lab.answers[3:]:
        lab.gold(answer, f"Tea beats coffee [1, 2] {answer.pk}.")
    compute(lab.study)
    with django_assert_max_num_queries(22):
        client.get(address)
    text = client.get(address + "?format=csv").content.decode("utf-8-sig")
    _heads, *rows = csv.reader(io.StringIO(text))
    assert sorted(row[2] for row in rows) == ["gold", "gold", "gold", "revision"]
    table = reverse("edited_texts_figure", args=[lab.study.public_id, "changes", "md"])
    assert "after minus before" in client.get(table).text


MODEL = "some-model"
SECOND = TEXT.replace("Coffee tastes much stronger", "Coffee tastes burnt and bitter")


class Calibrated:
    """Two experts who edited two calibration answers, one of them only one."""

    def __init__(self):
        self.study = make_study()
        self.researcher = make_member(self.study, Role.RESEARCHER)
        self.experts = [make_member(self.study, Role.EXPERT, name=f"Person {n}") for n in "AB"]
        make_faithful(self.study, 2)
        self.round = make_closed_round(self.study, self.experts, self.researcher, calibration=2)
        first, second, other, _open = self.round.sheets.order_by("rater", "answer")
        hand_in(first, BETTER, 60)
        hand_in(second, BETTER, 180)
        self.other = hand_in(other, SECOND, 600)
        compute(self.study, MODEL)


shared = built_once(Calibrated)


def whole(text):
    return vector_of(text).astype(float)


def by_statement(text):
    mean = np.mean([vector_of(segment.text) for segment in sound_segments(text)], axis=0)
    return mean / np.linalg.norm(mean)


@pytest.mark.parametrize(("mode", "vector"), [("paper", whole), ("sound", by_statement)])
def test_cells_are_mean_cosines_of_shared_answers(shared, mode, vector):
    found = agreement_of(shared.round, mode, MODEL)
    machine, first, second = (vector(text) for text in (TEXT, BETTER, SECOND))
    cells = found.cells
    assert (found.n_answers, found.n_versions, found.without_vector) == (2, 5, 0)
    for row, column, value, n in (
        *((0, 1, machine @ first, 2), (0, 2, machine @ second, 1), (1, 2, first @ second, 1)),
    ):
        assert (cells[row][column].value, cells[row][column].n) == (pytest.approx(value), n)
    assert cells[2][1] == cells[1][2]
    assert cells[1][1] == SimilarityCell(None, 2)
    # The newest version counts.
    hand_in(shared.other.sheet, BETTER)
    compute(shared.study, MODEL)
    newest = agreement_of(shared.round, "paper", MODEL).cells[1][2].value
    assert newest == pytest.approx(1) != cells[1][2].value
    # Texts without vectors are counted and left out, and only calibration answers are compared.
    TextEmbedding.objects.all().delete()
    found = agreement_of(shared.round, "sound", MODEL)
    assert found.without_vector == 5
    assert {cell.value for row in found.cells for cell in row} == {None}
    shared.round.sheets.update(is_calibration=False)
    assert texts_of_rounds(shared.study) == []
    found = agreement_of(shared.round, "sound", MODEL)
    assert (found.n_answers, [work.n for work in found.work]) == (0, [2, 1])


def test_what_each_expert_changed(shared, django_assert_max_num_queries):
    first, second = agreement_of(shared.round, "sound", MODEL).work
    assert (first.n, first.n_calibration, first.distance) == (2, 2, 7)
    assert (first.seconds, second.seconds, second.distance) == (120, 600, 3)
    assert second.words_after == len(SECOND.split())
    # The citations exist, and the choice is one word.
    assert (first.checks_after, first.checks) == (first.checks_before + 2, 10)
    client = sign_in(shared.researcher)
    ids = [shared.study.public_id, shared.round.public_id]
    with django_assert_max_num_queries(22):
        client.get(reverse("expert_agreement", args=ids))


FILES = (("agreement", "svg"), ("work", "csv"), ("agreement", "md"))


def agreement_page(user, shared, *file):
    name = "expert_agreement_figure" if file else "expert_agreement"
    ids = [shared.study.public_id, shared.round.public_id]
    return sign_in(user).get(reverse(name, args=[*ids, *file]))


@pytest.mark.long
def test_experts_of_the_round_look_when_it_is_over(shared):
    shown = agreement_page(shared.experts[0], shared).text
    assert "Person B" not in shown
    for words in ("Expert 2", "You"):
        assert words in shown
    for file in FILES:
        assert b"Person" not in agreement_page(shared.experts[0], shared, *file).content
    assert "Person B" in agreement_page(shared.researcher, shared).text
    for role, status in ((Role.EXPERT, 404), (Role.ANNOTATOR, 403)):
        assert agreement_page(make_member(shared.study, role), shared).status_code == status
    reopen_round(round_=shared.round, actor=shared.researcher)
    for file in ((), *FILES):
        assert agreement_page(shared.experts[0], shared, *file).status_code == 404
        assert agreement_page(shared.researcher, shared, *file).status_code == 200
