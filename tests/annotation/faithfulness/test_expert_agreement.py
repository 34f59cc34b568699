"""Agreement of experts: cosines by hand, who may look, under which names."""

import numpy as np
import pytest
from django.urls import reverse

from annotation.answers.methods.segments import sound_segments
from annotation.corpus.models.embeddings import TextEmbedding
from annotation.faithfulness.reports.expert_agreement import Cell, agreement_of, texts_of_rounds
from cqa_site.people.models import Role
from cqa_site.rounds.opening import reopen_round
from tests.cast import make_member, make_study, sign_in
from tests.worlds import built_once

from .made_faithfulness import TEXT, compute, hand_in, make_closed_round, make_faithful, vector_of

pytestmark = pytest.mark.django_db
MODEL = "some-model"
# Seven words change: two go, "[9]." becomes "[1].", four make one citation.
FIRST = TEXT.replace("Tea costs far less everywhere [9]", "Tea costs less [1]").replace(
    "[2 and see above]", "[2]"
)
SECOND = TEXT.replace("Coffee tastes much stronger", "Coffee tastes burnt and bitter")


class Lab:
    """Two experts who edited two calibration answers, one of them only one."""

    def __init__(self):
        self.study = make_study()
        self.researcher = make_member(self.study, Role.RESEARCHER)
        self.experts = [make_member(self.study, Role.EXPERT, name=f"Person {n}") for n in "AB"]
        make_faithful(self.study, 2)
        self.round = make_closed_round(self.study, self.experts, self.researcher, calibration=2)
        sheets = self.round.sheets.order_by("rater", "answer")
        self.sheets = {user: list(sheets.filter(rater__user=user)) for user in self.experts}
        self.one = hand_in(self.sheets[self.experts[0]][0], FIRST, 60)
        hand_in(self.sheets[self.experts[0]][1], FIRST, 180)
        self.other = hand_in(self.sheets[self.experts[1]][0], SECOND, 600)
        compute(self.study, MODEL)


lab = built_once(Lab)


def whole(text):
    return vector_of(text).astype(float)


def by_statement(text):
    mean = np.mean([vector_of(segment.text) for segment in sound_segments(text)], axis=0)
    return mean / np.linalg.norm(mean)


@pytest.mark.parametrize(("mode", "vector"), [("paper", whole), ("sound", by_statement)])
def test_cells_are_mean_cosines_of_shared_answers(lab, mode, vector):
    found = agreement_of(lab.round, mode, MODEL)
    machine, first, second = (vector(text) for text in (TEXT, FIRST, SECOND))
    cells = found.cells
    assert (found.n_answers, found.n_versions, found.without_vector) == (2, 5, 0)
    assert (cells[0][1].value, cells[0][1].n) == (pytest.approx(machine @ first), 2)
    assert (cells[0][2].value, cells[0][2].n) == (pytest.approx(machine @ second), 1)
    assert (cells[1][2].value, cells[1][2].n) == (pytest.approx(first @ second), 1)
    assert cells[2][1] == cells[1][2]
    assert cells[1][1] == Cell(None, 2)


def test_the_newest_version_counts(lab):
    before = agreement_of(lab.round, "paper", MODEL).cells[1][2].value
    hand_in(lab.other.sheet, FIRST)
    compute(lab.study, MODEL)
    after = agreement_of(lab.round, "paper", MODEL).cells[1][2].value
    assert after == pytest.approx(1) != before


def test_texts_without_vectors_are_counted_and_left_out(lab):
    TextEmbedding.objects.all().delete()
    found = agreement_of(lab.round, "sound", MODEL)
    assert found.without_vector == 5
    assert {cell.value for row in found.cells for cell in row} == {None}


def test_only_calibration_answers_are_compared(lab):
    lab.round.sheets.update(is_calibration=False)
    assert texts_of_rounds(lab.study) == []
    found = agreement_of(lab.round, "sound", MODEL)
    assert found.n_answers == 0
    assert [work.n for work in found.work] == [2, 1]


def test_what_each_expert_changed(lab):
    first, second = agreement_of(lab.round, "sound", MODEL).work
    assert (first.n, first.n_calibration, first.distance) == (2, 2, 7)
    assert (first.seconds, second.seconds) == (120, 600)
    assert second.distance == 3
    assert second.words_after == len(SECOND.split())
    # The citations exist, and the choice is one word.
    assert first.checks_after == first.checks_before + 2
    assert first.checks == 10


def page(user, lab, name="expert_agreement", *args, query=""):
    address = reverse(name, args=[lab.study.public_id, lab.round.public_id, *args])
    return sign_in(user).get(address + query)


def test_experts_look_when_the_round_is_over(lab):
    assert page(lab.experts[0], lab).status_code == 200
    reopen_round(round_=lab.round, actor=lab.researcher)
    for name, args in (
        ("expert_agreement", []),
        ("expert_agreement_figure", ["agreement", "svg"]),
        ("expert_agreement_figure", ["work", "csv"]),
    ):
        assert page(lab.experts[0], lab, name, *args).status_code == 404
        assert page(lab.researcher, lab, name, *args).status_code == 200


def test_an_expert_of_another_round_does_not_look(lab):
    assert page(make_member(lab.study, Role.EXPERT), lab).status_code == 404
    assert page(make_member(lab.study, Role.ANNOTATOR), lab).status_code == 403


def test_experts_know_each_other_by_number(lab):
    shown = page(lab.experts[0], lab).content.decode()
    assert "Person B" not in shown
    assert "Expert 2" in shown
    assert "You" in shown
    for name, args in (
        ("expert_agreement_figure", ["agreement", "svg"]),
        ("expert_agreement_figure", ["work", "csv"]),
        ("expert_agreement_figure", ["agreement", "md"]),
    ):
        assert b"Person" not in page(lab.experts[0], lab, name, *args).content
    assert "Person B" in page(lab.researcher, lab).content.decode()


def test_the_page_takes_few_queries(lab, django_assert_max_num_queries):
    client = sign_in(lab.researcher)
    address = reverse("expert_agreement", args=[lab.study.public_id, lab.round.public_id])
    with django_assert_max_num_queries(22):
        client.get(address)
