"""Audits of an analysis: the sample, its answers, and what edits leave of them."""

import re
from collections import Counter

import pytest

from argsum.analysis.actions.analyses import count_points
from argsum.analysis.actions.edits import merge_points, move_statements, rename_point
from argsum.analysis.models import Analysis, Placement
from argsum.auditing.actions import AuditContent, AuditPlan, doubled, sample_of
from argsum.auditing.models import AuditItem, AuditPair, AuditRound, AuditSheet
from argsum.auditing.reports.figures import audit_of, corrections
from argsum.auditing.reports.parts import AUDIT_CORRECTIONS
from argsum.auditing.views import _shown
from argsum.datasets.models import Comment
from cqa_site.people.actions import rater_for
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.models import COUNTED
from tests.argsum.analysis.made_comments import say
from tests.argsum.analysis.made_comparing import finish, place
from tests.argsum.signed_in import SignedIn
from tests.cast import make_member
from tests.worlds import built_once
from .made_auditing import make_analysis, open_audit

pytestmark = pytest.mark.django_db


class Lab(SignedIn):
    """An analysis of 13 comments, and two people."""

    def __init__(self):
        super().__init__()
        self.analysis = make_analysis(self.study)
        self.points = list(self.analysis.points.order_by("position"))
        people = [make_member(self.study, "expert") for _number in range(2)]
        self.raters = [rater_for(membership=each.memberships.get()) for each in people]

    @property
    def ids(self):
        return {"analysis_id": self.analysis.public_id}

    def open(self, **fields):
        return open_audit(self.study, self.researcher, **{"size": 39} | fields)

    def answer(self, round_, says, rater=0):
        """Answer all pairs of a round at once, as people would; ``says`` takes a pair."""
        for item in AuditItem.objects.filter(round=round_).select_related("pair"):
            slot = item.slots.filter(sheet=None).first()
            if slot is None:
                continue
            AuditSheet.objects.create(
                study=self.study, round=round_, slot=slot, pair=item.pair, answer=says(item.pair),
                rater=self.raters[rater], state="submitted",
            )  # fmt: skip
        self.analysis.refresh_from_db()

    def towns(self, rows=Comment.objects):
        return {row.pk: row.attributes["town"] for row in rows.all()}

    def figures(self):
        return audit_of(Analysis.objects.get(pk=self.analysis.pk))

    def makes(self, pair):
        """What is true: the machine is right but for the second key point."""
        is_behind = pair.band == "behind"
        return "makes" if is_behind and pair.point_id != self.points[1].pk else "not"


lab = built_once(Lab)


def test_all_pairs_of_a_small_analysis_are_drawn_once_after_new_comments_were_placed(lab):
    made = lab.open()
    pairs = AuditPair.objects.filter(round=made)
    assert pairs.count() == 3 * 13
    assert len(set(pairs.values_list("point", "comment"))) == 39
    placed = Placement.objects.filter(point__isnull=False)
    behind = set(placed.values_list("point", "argument__said_in__comment"))
    assert set(pairs.filter(band="behind").values_list("point", "comment")) == behind
    assert set(made.items.values_list("probability", flat=True)) == {1.0}
    with pytest.raises(RoundNotReady, match="already been drawn"):
        lab.open(name="Second round")
    say(lab.analysis.cell, "A new sentence.")
    with pytest.raises(RoundNotReady, match="not been placed"):
        lab.open(name="Second round")


def test_both_bands_are_drawn_and_perhaps_is_a_precision_of_its_own(lab):
    Analysis.objects.filter(pk=lab.analysis.pk).update(sure_from=0.895)
    Placement.objects.filter(score__gte=0.895).update(is_sure=True)
    count_points(lab.analysis)
    lab.analysis.refresh_from_db()
    made = lab.open()
    bands = Counter(AuditPair.objects.filter(round=made).values_list("band", flat=True))
    assert min(bands["behind"], bands["perhaps"]) > 3
    lab.answer(made, lambda pair: "not" if pair.band == "perhaps" else "makes")
    figures = lab.figures()
    assert (figures.precision.value, figures.perhaps.value) == (pytest.approx(1), 0)
    assert "perhaps" in lab.text("analysis_audit")
    counted = sum(row.machine + row.perhaps for row in figures.points)
    assert counted == bands["behind"] + bands["perhaps"]


def test_each_pair_has_the_probability_of_its_stratum(lab):
    made = lab.open(size=12)
    sample = sample_of(AuditPlan(name="", seed=1, analysis=lab.analysis, size=12), made)
    (own,) = made.frame["own"]

    def stratum(item):
        return own if item.pair.point_id == own else 0, item.pair.band

    items = made.items.select_related("pair")
    drawn = Counter(map(stratum, items))
    for item in items:
        share = drawn[stratum(item)] / sample.free[stratum(item)]
        assert item.probability == pytest.approx(share)


def test_the_page_shows_nothing_but_texts_and_the_own_answer(lab):
    for pair in AuditPair.objects.filter(round=lab.open()).select_related("comment", "argument"):
        # One sentence of the comment is marked.
        assert pair.argument.text in pair.comment.text
        if pair.band == "behind":
            assert Placement.objects.get(argument=pair.argument).point_id == pair.point_id
        page = _shown(AuditSheet(pair=pair), AuditContent())
        text = page.pop("head") + page.pop("marked") + page.pop("tail")
        assert (text, page.pop("point")) == (pair.comment.text, pair.text)
        assert set(page) == {"statement", "answers", "chosen", "comment", "longest"}


def test_a_comment_that_says_nothing_is_marked_as_a_whole(lab):
    """Without any mark the page would tell that the comment stands at no key point."""
    quiet = lab.analysis.cell.comments.create(position=14, key="14", text="Nothing.")
    finish(lab.analysis)
    pair = AuditPair.objects.get(round=lab.open(size=42), comment=quiet, point=lab.points[0])
    page = _shown(AuditSheet(pair=pair), AuditContent())
    shown = (pair.argument, page["head"], page["marked"], page["tail"])
    assert shown == (None, "", "Nothing.", "")


def test_answers_about_all_pairs_give_the_truth(lab, django_assert_max_num_queries):
    made = lab.open(double_share=1.0)
    for rater in (0, 1):
        lab.answer(made, lab.makes, rater)
    with django_assert_max_num_queries(12):
        figures = lab.figures()
    assert (figures.pairs, figures.answered, figures.answers, figures.people) == (39, 39, 78, 2)
    assert figures.kappa.value == pytest.approx(1.0)
    behind = Counter(AuditPair.objects.filter(band="behind").values_list("point", flat=True))
    right = sum(behind.values()) - behind[lab.points[1].pk]
    precision = figures.precision
    assert precision.value == pytest.approx(right / sum(behind.values()))
    assert precision.low == precision.value == precision.high
    assert figures.recall.value == pytest.approx(1.0)
    for row in figures.points:
        truth = 0 if row.point == lab.points[1] else behind[row.point.pk]
        assert row.numbers == (truth, truth, truth)
        assert row.machine == behind[row.point.pk]
        assert row.share.high > truth / 13
    with django_assert_max_num_queries(40):
        lab.get("analysis_audit")
    # Answers about a key point that was renamed since enter no figure.
    usual = {"analysis": lab.analysis, "actor": lab.researcher, "seen": 99}
    rename_point(**usual, point=lab.points[0], text="Something else.")
    figures = lab.figures()
    assert figures.kappa.n_pairable_items == figures.doubled == 26


def test_disagreement_counts_by_half_and_partly_is_counted_apart(lab):
    made = lab.open(double_share=1.0)
    for rater, word in enumerate(("makes", "partly")):
        lab.answer(made, lambda pair, word=word: word if pair.band == "behind" else "not", rater)
    figures = lab.figures()
    assert (figures.precision.value, figures.partly) == (pytest.approx(0.5), 0)
    AuditSheet.objects.filter(answer="makes").update(answer="opposite")
    figures = lab.figures()
    assert figures.precision.value == 0
    assert figures.partly == figures.opposite == figures.precision.answers


def test_answers_stay_where_they_mean_the_same(lab):
    made = lab.open()
    lab.answer(made, lab.makes)
    before = lab.figures()
    first, second, third = lab.points
    usual = {"analysis": lab.analysis, "actor": lab.researcher, "seen": 99}
    moved = Placement.objects.filter(point=first).first()
    move_statements(**usual, point=first, statements=[moved.argument_id], to=third)
    figures = lab.figures()
    assert figures.stale == 0
    # Its comment leaves one key point and comes to another.
    assert figures.moved >= 2
    assert [row.count for row in figures.points] == [row.count for row in before.points]
    rename_point(**usual, point=first, text="Something else.")
    figures = lab.figures()
    assert figures.stale == 13
    assert first.pk not in {row.point.pk for row in figures.points}
    merge_points(**usual, points=[second, third], into=third, text="")
    figures = lab.figures()
    assert figures.stale == 26
    assert [row.point.pk for row in figures.points] == [third.pk]
    assert len(figures.notes) == 2


def test_the_report_says_why_small_key_points_are_not_listed(lab):
    lab.answer(lab.open(size=12), lab.makes)
    assert len(lab.figures().points) == 1
    page = " ".join(lab.get("analysis_audit").text.split())
    assert (
        "2 smaller key points are not listed, because too few of their pairs were drawn." in page
    )
    lab.answer(lab.open(size=39, name="Second round"), lab.makes)
    assert (len(lab.figures().points), lab.figures().unlisted) == (3, 0)


def test_rounds_of_one_state_are_one_sample(lab):
    lab.answer(lab.open(size=20), lab.makes)
    few = lab.figures()
    assert few.precision.answers < 11
    second = lab.open(size=39, name="Second round", seed=2)
    lab.answer(second, lab.makes)
    assert second.pairs.count() == 19
    all_of_them = lab.figures()
    assert all_of_them.answered == 39
    assert all_of_them.precision.low == all_of_them.precision.high
    assert AuditSheet.objects.filter(COUNTED).count() == 39


def test_shares_of_earlier_comments_are_not_those_of_all(lab):
    """Thirteen comments of which some make the point, then as many that do not."""
    lab.answer(lab.open(), lab.makes)
    before = {row.point: row for row in lab.figures().points}
    for number in range(13):
        place(lab.analysis, None, f"Something else {number}.", score=0)
        say(lab.analysis.cell, f"Something else {number}.")
    finish(lab.analysis)
    second = lab.open(name="Second round", size=78)
    assert second.frame["comments"] == 26
    assert {row.point: row for row in lab.figures().points} == before
    assert lab.figures().later == 13
    lab.analysis.refresh_from_db()
    assert corrections(lab.analysis) == {}
    lab.answer(second, lab.makes)
    figures = lab.figures()
    assert [row.comments for row in figures.points] == [26] * 3
    assert [row.numbers for row in figures.points] == [
        before[row.point].numbers for row in figures.points
    ]
    assert figures.later == 0


def test_a_target_draws_what_is_missing(lab):
    plan = AuditPlan(name="", seed=1, analysis=lab.analysis, target=20)
    wide = sample_of(plan)
    narrow = sample_of(AuditPlan(name="", seed=1, analysis=lab.analysis, target=1))
    assert 0 < wide.size < narrow.size == 39
    made = lab.open(target=20)
    # Pairs that wait for an answer are not drawn again.
    assert sample_of(plan).size == 0
    with pytest.raises(RoundNotReady, match="already been drawn for this target"):
        lab.open(target=20, name="Second round")
    lab.answer(made, lab.makes)
    assert sample_of(plan).size < wide.size


def test_one_click_on_the_page_draws_and_opens_a_round(lab):
    page = lab.text("analysis_audit")
    assert "nobody has checked" in page
    assert "39 pairs need 47 answers" in page
    assert lab.post("analysis_audit_draw", {"size": "20"}).status_code == 302
    made = AuditRound.objects.get()
    assert (made.state, made.pairs.count(), made.double_share) == ("open", 20, 0.2)
    # A share of the pairs goes to two people.
    sizes = Counter(made.slots.values_list("item", flat=True))
    assert Counter(sizes.values()) == {1: 16, 2: 4}
    assert [doubled(60, 0.2), doubled(10, 0.25), doubled(5, 0)] == [12, 3, 0]
    lab.answer(made, lab.makes)
    page = lab.text("analysis_audit")
    assert "20 of 20 drawn pairs" in page
    assert "Corrected shares" in page
    part = lab.get("analysis_audit", htmx=True).text
    assert "<html" not in part
    assert "Corrected comments" in part
    assert lab.post("analysis_audit_draw", {"size": "3"}).status_code == 302
    assert AuditRound.objects.count() == 1
    # What was audited is not deleted.
    lab.post("analysis_delete")
    assert Analysis.objects.filter(pk=lab.analysis.pk).exists()


def test_report_and_interface_give_audited_shares(lab):
    report = lab.text("analysis_report")
    assert "people have not checked enough comments" in report
    assert lab.told("analysis_audit")["precision"] is None
    lab.answer(lab.open(), lab.makes)
    figures = lab.figures()
    share = figures.points[0].share
    assert share.low is not None
    value, low, high = (round(100 * number) for number in (share.value, share.low, share.high))
    report = lab.text("analysis_report")
    assert f"audited: {value} % [{low}, {high}], 13 pairs" in report
    assert "answers of people who read a random sample" in report
    assert "people have not checked" not in report
    # People answer about comments, not about voices.
    assert "audited:" not in lab.text("analysis_report", {"count": "voices"})
    told = lab.told("analysis_audit")
    assert told["precision"]["value"] == pytest.approx(figures.precision.value)
    machine = [row.machine for row in figures.points]
    assert [row["machine"] for row in told["key_points"]] == machine
    sheets = lab.told("audit_sheets", {"answer": "makes"})["results"]
    assert {row["answer"] for row in sheets} == {"makes"}


def test_groups_and_periods_give_audited_shares_of_their_own(lab):
    town, corrected_cell = {"attribute": "town"}, re.compile(r"corrected [0-9]+ %")
    assert not corrected_cell.search(lab.text("analysis_groups", town))
    lab.answer(lab.open(), lab.makes)
    shares = AUDIT_CORRECTIONS.of_parts(lab.analysis, "town", lab.towns)
    assert {name for _point, name in shares} == {"Altdorf", "Neudorf"}
    for (point, name), corrected in shares.items():
        pairs = AuditPair.objects.filter(point=point, comment__attributes__town=name)
        assert corrected.pairs == pairs.count() == list(lab.towns().values()).count(name)
        truth = sum(lab.makes(pair) == "makes" for pair in pairs)
        assert corrected.share.value == pytest.approx(truth / pairs.count())
        assert corrected.share.low <= corrected.share.value < corrected.share.high
    page = lab.text("analysis_groups", town)
    first, n = (getattr(shares[lab.points[0].pk, "Altdorf"], name) for name in ("share", "pairs"))
    bounds = f"[{round(100 * first.low)}, {round(100 * first.high)}]"
    assert (
        f'corrected {round(100 * first.value)} % <span class="soft">{bounds} n {n}</span>' in page
    )
    assert not corrected_cell.search(lab.text("analysis_groups", town | {"count": "voices"}))
    assert len(lab.told("analysis_groups", town)["key_points"]) == 3
    assert len(lab.told("analysis_trends")["key_points"]) == 3
