"""Texts before and after editing: which belong together, what changed, and the page."""

import csv
import io

import pytest
from django.urls import reverse

from annotation.answers.methods.checks import check_answer
from annotation.faithfulness.actions.texts import freshness, stale_pairs
from annotation.faithfulness.models import EditedText
from annotation.faithfulness.reports.edited_figures import summarise
from annotation.faithfulness.reports.edited_pairs import edited_of, pairs_of
from cqa_site.people.models import Role
from tests.cast import make_member, make_study, sign_in
from tests.worlds import built_once

from ..made_answers import make_answer, make_system
from .made_faithfulness import TEXT, compute, hand_in, make_closed_round, make_faithful

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

    def gold(self, answer, text):
        human = make_system(self.study, "Gold", kind="human")
        return make_answer(
            answer.question,
            human,
            text,
            listed=answer.argument_list,
            scenario=0,
            source="gold.json",
        )

    def pairs(self, mode="sound"):
        return pairs_of(edited_of(self.study), mode)


lab = built_once(Lab)


def test_a_revision_stands_beside_its_answer(lab):
    compute(lab.study)
    row = EditedText.objects.get()
    assert (row.before, row.revision, row.gold) == (lab.sheet.answer, lab.revision, None)
    assert row.edit_distance == 7
    assert (row.words_before, row.words_after) == (len(TEXT.split()), len(BETTER.split()))
    pair = lab.sheet.answer.question.comparison
    texts = {
        entry.number: entry.argument.text
        for entry in lab.sheet.answer.argument_list.entries.select_related("argument")
    }
    checks = check_answer(BETTER, texts, pair.object1, pair.object2)
    assert row.checks_after == {check.name: check.is_passed for check in checks}
    assert row.checks_before["citations_exist"] is False
    assert row.checks_after["citations_exist"] is True


def test_a_gold_text_stands_beside_the_nearest_machine_answer(lab):
    first = next(answer for answer in lab.answers if answer.question != lab.sheet.answer.question)
    same = lab.study.answers.filter(question=first.question)
    near = same.get(choice=2)
    near.text = "Tea is what people want who sleep badly [1]."
    near.save()
    gold = lab.gold(first, "Tea is what people want who sleep well [1].")
    compute(lab.study)
    row = EditedText.objects.get(gold=gold)
    assert (row.before, row.edit_distance) == (near, 1)


def test_a_gold_text_without_machine_answers_is_counted_in_its_study_alone(lab):
    compute(lab.study)
    other = make_faithful(make_study("Study B"), 1)[0]
    human = make_system(other.study, "Gold", kind="human")
    other.system = human
    other.save()
    compute(other.study)
    summary = summarise(other.study, pairs_of(edited_of(other.study), "sound"))
    assert (summary.n, summary.without_machine) == (0, 1)
    assert freshness(other.study).stale_pairs == 0


def test_only_what_changed_is_compared_again(lab):
    assert len(stale_pairs(lab.study)) == 1
    compute(lab.study)
    before = EditedText.objects.get()
    assert freshness(lab.study).is_current
    newer = hand_in(lab.sheet, TEXT)
    assert freshness(lab.study).stale_pairs == 1
    compute(lab.study)
    row = EditedText.objects.get()
    assert (row.revision, row.edit_distance) == (newer, 0)
    assert row.pk != before.pk


def test_the_difference_is_after_minus_before(lab):
    gold = lab.gold(lab.answers[-1], "Tea beats coffee [1, 2].")
    compute(lab.study)
    pairs = lab.pairs()
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
    assert gold.edited_text.before.question == gold.question


def test_the_page_shows_both_sides(lab):
    client = sign_in(lab.researcher)
    address = reverse("edited_texts", args=[lab.study.public_id])
    shown = client.get(address).content.decode()
    assert "No edited text yet" in shown
    assert "1 edited text has not been compared yet" in shown
    compute(lab.study)
    for query in ("", "?mode=paper"):
        shown = " ".join(client.get(address + query).content.decode().split())
        assert "Expert Example" in shown
        assert "1 edited here, 0 imported; 1 question" in shown
        assert "5.0 min" in shown
    assert f"faithfulness/revisions/{lab.revision.public_id}" in shown
    # Files hold every pair, and the summary.
    lab.gold(lab.answers[-1], "Tea beats coffee [1, 2].")
    compute(lab.study)
    text = client.get(address + "?format=csv").content.decode("utf-8-sig")
    _heads, *rows = csv.reader(io.StringIO(text))
    assert sorted(row[2] for row in rows) == ["gold", "revision"]
    table = reverse("edited_texts_figure", args=[lab.study.public_id, "changes", "md"])
    assert "after minus before" in client.get(table).content.decode()


def test_the_page_takes_few_queries(lab, django_assert_max_num_queries):
    for answer in lab.answers:
        lab.gold(answer, f"Tea beats coffee [1, 2] {answer.pk}.")
    compute(lab.study)
    client = sign_in(lab.researcher)
    with django_assert_max_num_queries(22):
        client.get(reverse("edited_texts", args=[lab.study.public_id]))
