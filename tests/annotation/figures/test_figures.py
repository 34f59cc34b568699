"""The agreement dashboard: figures against values worked out by hand, and the pages."""

import functools
import itertools
import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace

import pandas as pd
import pytest
from django.core.cache import cache
from django.urls import reverse
from django.utils import timezone

from annotation.figures.actions import LABEL_ROUNDS
from annotation.figures.reports.charts import CHARTS, figures_finding
from annotation.figures.reports.figures import compute_figures, ratings_of
from annotation.figures.reports.snapshots import COLUMNS, RoundFigures
from annotation.figures.reports.tables import TABLES
from annotation.figures.reports.units import NoSuchFigure, page_rows, recomputed, unit_rows, units
from annotation.labelling.models.rounds import Guideline, VoteEvent
from cqa_site.results import snapshots
from cqa_site.runs.models import Job
from cqa_site.stats.agreement import krippendorff_alpha, percent_agreement
from cqa_site.stats.estimate import FIRM, from_json, to_json
from cqa_site.web.tables import estimate_text, text_of
from tests.annotation.voting import make_raters, vote
from tests.cast import make_label_round, make_member, make_study, sign_in
from tests.flat import flat
from tests.worlds import built_once

RECIPE = {"votes_per_item": 2, "ordinary_items": 5, "control_items": 1}
RECIPE |= {"confidence": 0.95, "min_shared": 2}
SCALE = [0, 1, 2, 3]

# Two raters, a third one on one item. The coincidence matrix by hand, with pairs of an item of
# n votes weighing 1 / (n - 1):
#   i1: 3 3 | i2: 0 1 | i3: 1 1 | i4: 3 2 3 | i5: 2 (alone) | c: 0 0 (control, label 0)
VOTES = {
    "i1": {"a": 3, "b": 3},
    "i2": {"a": 0, "b": 1},
    "i3": {"a": 1, "b": 1},
    "i4": {"a": 3, "b": 2, "c": 3},
    "i5": {"a": 2},
    "c": {"a": 0, "b": 0},
}


def votes_table(votes=VOTES, **fields):
    """A snapshot's table with these labels; ``fields`` overwrite columns."""
    rows = [
        {
            "item_id": item,
            "object1": "tea",
            "object2": "coffee",
            "text": f"Sentence {item}.",
            "source_url": "",
            "control_label": 0 if item == "c" else None,
            "rater_id": rater,
            "rater_kind": "person",
            "label": label,
            "state": "answered",
            "is_extra": False,
            "is_excluded": False,
            "answered_at": pd.Timestamp("2026-03-02T10:00Z") + pd.Timedelta(hours=place),
            "active_ms": 1000 * (place + 1),
            "skip_reason": "",
            "is_flagged": False,
            "comment": "",
            "block": 1,
            "position": place,
        }
        for item, labels in votes.items()
        for place, (rater, label) in enumerate(labels.items())
    ]
    table = pd.DataFrame(rows, columns=COLUMNS)
    whole = dict.fromkeys(("control_label", "label", "active_ms", "block", "position"), "Int64")
    flags = dict.fromkeys(("is_extra", "is_excluded", "is_flagged"), bool)
    texts = dict.fromkeys(("item_id", "rater_id", "state", "text", "rater_kind"), "str")
    table["answered_at"] = pd.to_datetime(table["answered_at"], utc=True)
    return table.astype({**whole, **flags, **texts}).assign(**fields)


def figures_of(votes=VOTES, **fields):
    if votes is VOTES and not fields:
        return json.loads(usual_figures())
    return as_stored(compute_figures(votes_table(votes, **fields), SCALE, RECIPE))


@functools.cache
def usual_figures():
    return json.dumps(as_stored(compute_figures(votes_table(), SCALE, RECIPE)))


def as_stored(figures):
    stored = json.loads(json.dumps(to_json(figures), allow_nan=False))
    assert from_json(RoundFigures, stored) == figures
    return stored


def test_coincidences_by_hand():
    figures = figures_of()
    confusion = figures["confusion"]
    # 0: control item gives 2 to (0,0); i2 one each to (0,1), (1,0). 1: i3 gives 2 to (1,1).
    # i4 has 3 votes, pairs weigh 1/2: (3,3) 2 ordered pairs → 1; (3,2) 2 → 1 and (2,3) → 1.
    # i1 gives 2 to (3,3).
    assert confusion["cells"] == [[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 0, 1], [0, 0, 1, 3]]
    assert confusion["sums"] == [3, 3, 1, 4]
    assert confusion["shares"][3] == [0, 0, 0.25, 0.75]
    # Agreement by label is the share on the diagonal.
    rows = {row["label"]: row for row in figures["per_label"]}
    assert rows[3]["agreement"] == pytest.approx(3 / 4)
    assert (rows[2]["agreement"], rows[0]["n_values"]) == (0, 3)
    assert rows[0]["chance"] == pytest.approx(2 / 10)


def test_nominal_alpha_and_percent_by_hand():
    agreement = figures_of()["agreement"]
    by_name = {(entry["statistic"], entry["level"]): entry for entry in agreement["all"]}
    # n = 11 pairable votes, margins 3 3 1 4: expected disagreement sum = 11² - (9+9+1+16) = 86;
    # observed = 4; alpha = 1 - 10 · 4 / 86.
    nominal = by_name["Krippendorff's alpha", "nominal"]
    assert nominal["value"] == pytest.approx(1 - 40 / 86)
    # Interval level: observed (0-1)² · 2 + (2-3)² · 2 = 4; expected: sum over ordered pairs of
    # margins times squared difference = 2 (3·3·1 + 3·1·4 + 3·4·9 + 3·1·1 + 3·4·4 + 1·4·1) = 368.
    assert by_name["Krippendorff's alpha", "interval"]["value"] == pytest.approx(1 - 40 / 368)
    # Items i1, i3 and c agree fully, i2 not at all, i4 in one of three pairs.
    assert by_name["percent agreement", "nominal"]["value"] == pytest.approx((3 + 1 / 3) / 5)
    assert (nominal["n_items"], nominal["n_pairable_items"]) == (6, 5)
    assert (nominal["n_raters"], nominal["n_values"]) == (3, 11)
    # The ordinal one is the headline, and control items can be left out.
    ordinary = {item: labels for item, labels in VOTES.items() if item != "c"}
    assert agreement["all"][0]["level"] == "ordinal"
    assert agreement["ordinary"] == figures_of(ordinary)["agreement"]["all"]
    assert agreement["ordinary"][0]["value"] < agreement["all"][0]["value"]


def test_labels_majority_and_progress_by_hand():
    figures = figures_of()
    assert [tuple(row.values()) for row in figures["labels"]] == [
        *((0, 1, 2), (1, 3, 0), (2, 2, 0), (3, 4, 0))
    ]
    assert list(figures["labels"][0]) == ["label", "ordinary", "control"]
    majority = figures["majority"]
    # i2 is tied between 0 and 1, the higher one counts.
    assert [row["items"] for row in majority["items"]] == [1, 2, 1, 2]
    assert (majority["tied"], majority["unanimous"], majority["single"]) == (1, 3, 1)
    progress = figures["progress"]
    assert (progress["wanted"], progress["filled"], progress["complete"]) == (10, 10, 4)
    assert (progress["votes"], progress["control_votes"], progress["raters"]) == (12, 2, 3)
    # Labels outside the scale are shown.
    outside = figures_of({"i1": {"a": 5, "b": 5}, "i2": {"a": 1, "b": 5}})
    assert outside["values"] == [0, 1, 2, 3, 5]
    assert outside["labels"][-1]["ordinary"] == 3


def test_annotators_are_compared_with_the_others_only():
    rows = {row["rater"]: row for row in figures_of()["annotators"]}
    # a: i1 yes, i2 no, i3 yes, i4 (others 2 and 3: tie, higher) yes, c yes; i5 has no others.
    assert (rows["a"]["votes"], rows["a"]["compared"]) == (6, 5)
    assert rows["a"]["agreement"] == pytest.approx(4 / 5)
    # b: i4 gave 2 where the others say 3.
    assert rows["b"]["agreement"] == pytest.approx(3 / 5)
    assert (rows["a"]["controls"], rows["a"]["controls_right"]) == (1, 1)
    assert rows["c"]["median_seconds"] == 3
    assert [row["rater"] for row in figures_of()["annotators"]] == ["a", "b", "c"]


def test_pairs_have_no_value_below_the_shared_minimum():
    pairs = figures_of()["pairs"]
    assert pairs["raters"] == ["a", "b", "c"]
    assert pairs["n_shared"] == [[6, 5, 1], [5, 5, 1], [1, 1, 1]]
    assert pairs["values"][0][2] is None
    assert pairs["values"][0][1] == pairs["values"][1][0]
    kappa = figures_of()["agreement"]["all"][-1]
    assert kappa["n_pairs"] == 1
    # Weighted kappa of a and b: pairs (3,3) (0,1) (1,1) (3,2) (0,0). Observed 2/5; expected from
    # the margins of a (2, 1, 0, 2) and of b (1, 2, 1, 1): 72/25.
    assert kappa["value"] == pytest.approx(1 - (2 / 5) / (72 / 25))


def test_times_and_dates_by_hand():
    figures = figures_of()
    every = figures["time"]["all"]
    # Six first votes of 1 s, five of 2 s, one of 3 s.
    assert (every["n"], every["q1"], every["median"], every["q3"]) == (12, 1, 1.5, 2)
    assert sum(row["votes"] for row in figures["time"]["histogram"]) == 12
    over = figures["votes_over_time"]
    assert [row["votes"] for row in over["bins"]] == [6, 5, 1]
    assert over["bins"][0]["start"] == "2026-03-02 10:00"
    assert over["bins"][-1]["total"] == 12
    without = figures_of(active_ms=pd.NA, answered_at=pd.NaT)
    assert without["time"]["reason"] == "no vote has a time"
    assert without["time"]["all"]["median"] is None
    assert without["votes_over_time"]["reason"] == "no vote has a date"


@pytest.mark.long
@pytest.mark.parametrize(
    ("hours", "step"), [(50, "hour"), (73, "day"), (24 * 200, "week"), (24 * 900, "month")]
)
def test_the_time_step_grows_with_the_span(hours, step):
    start = pd.Timestamp("2026-03-04T10:00Z")
    times = pd.Series([start, start + pd.Timedelta(hours=hours)])
    over = figures_of({"i1": {"a": 1, "b": 2}}, answered_at=times)["votes_over_time"]
    assert over["step"] == step
    assert sum(row["votes"] for row in over["bins"]) == 2
    assert over["bins"][0]["start"] <= "2026-03-04 10:00"


def test_what_does_not_count_changes_nothing_but_its_own_count():
    table = votes_table()
    extra = table.head(1).assign(rater_id="d", label=0, is_extra=True)
    excluded = table.head(1).assign(rater_id="e", label=0, is_excluded=True)
    skipped = table.head(1).assign(rater_id="a", item_id="i9", label=pd.NA, state="skipped")
    more = pd.concat([table, extra, excluded, skipped], ignore_index=True)
    plain, noisy = figures_of(), as_stored(compute_figures(more, SCALE, RECIPE))
    for name in ("agreement", "labels", "majority", "confusion", "pairs", "hardest", "time"):
        assert noisy[name] == plain[name]
    progress = noisy["progress"]
    assert (progress["extra"], progress["excluded"], progress["skipped"]) == (1, 1, 1)
    assert {row["rater"] for row in noisy["annotators"] if row["is_excluded"]} == {"e"}


@pytest.mark.parametrize(
    ("votes", "reason"),
    [
        ({}, "there are no ratings"),
        ({"i1": {"a": 1}, "i2": {"a": 2}}, "there is only one rater"),
        ({"i1": {"a": 1}, "i2": {"b": 1}}, "no item was rated by two raters"),
        ({"i1": {"a": 1, "b": 1}, "i2": {"a": 1, "b": 1}}, "only one value was used"),
    ],
)
def test_undefined_agreement_has_a_reason_and_no_value(votes, reason):
    figures = figures_of(votes)
    kept = from_json(RoundFigures, figures)
    for entry in [*figures["agreement"]["all"][:3], *figures["agreement"]["ordinary"][:3]]:
        assert entry["value"] is None
        assert reason in entry["reason"]
    for chart in CHARTS.values():
        assert chart.alt(kept)
        json.dumps(chart.draw(kept, "wide"), allow_nan=False)


@pytest.mark.parametrize(("figure", "scope"), [("alpha", "all"), ("alpha-ordinary", "ordinary")])
def test_the_units_of_alpha_give_the_same_alpha(figure, scope):
    stored = figures_of()["agreement"][scope]
    rows = units(votes_table(), figure)
    for entry, level in zip(stored, ("ordinal", "nominal", "interval"), strict=False):
        again = krippendorff_alpha(ratings_of(rows), level)
        assert [again.value, again.low, again.high] == [entry[x] for x in ("value", "low", "high")]
    assert percent_agreement(ratings_of(rows)).value == stored[3]["value"]
    assert recomputed(rows, figure).value == stored[0]["value"]


def test_units_are_the_rows_behind_the_figure():
    table = votes_table()
    for figure, items in {
        **{
            "cell:2:3": "i4",
            "cell:3:2": "i4",
            "cell:3:3": "i1 i4",
            "cell:2:2": "",
            "cell:0:9": "",
        },
        **{"label:2": "i4 i5", "majority:1": "i2 i3", "item:i4": "i4", "item:a:b": ""},
        **{"rater:c": "i4", "pair:a:c": "i4"},
        **dict.fromkeys(("votes", "rows", "time"), " ".join(VOTES)),
    }.items():
        assert set(units(table, figure)["item_id"]) == set(items.split()), figure
    for unreadable in ("", "nonsense", "cell:1", "cell:a:b", "label:x", "pair:a"):
        with pytest.raises(NoSuchFigure):
            units(table, unreadable)


def test_units_as_a_table_hold_no_missing_marker():
    table = votes_table()
    table.loc[table.index[::2], ["active_ms", "answered_at", "label"]] = None
    text = unit_rows(table).to_csv().decode()
    assert not re.search("nan|NaT|NA|None", text)
    assert page_rows(table)[0]["answered_at"] is None
    assert page_rows(table)[1]["answered_at"] is not None


# Nearly everything alike: a high alpha from so few items that its interval is wide.
TENTATIVE_VOTES = {f"i{place}": {"a": place % 4, "b": place % 4} for place in range(22)} | {
    f"apart{place}": {"a": 3, "b": 1} for place in range(2)
}


DAY = datetime(2026, 3, 2, 10, 30, tzinfo=UTC)


@pytest.fixture
def label_round(study):
    return make_label_round(study, ordinary=6, controls=2, state="open")


def make_filled():
    """A round in which three people labelled everything, and its figures."""
    label_round = make_label_round(make_study(), ordinary=6, controls=2, state="open")
    people = fill(label_round)
    boss = make_member(label_round.study, "researcher")
    snapshot = snapshots.refresh(LABEL_ROUNDS, label_round)
    return SimpleNamespace(label_round=label_round, people=people, boss=boss, snapshot=snapshot)


filled = built_once(make_filled)


def page_of(filled, name, *more, **query):
    return sign_in(filled.boss).get(url(name, filled.label_round, *more), query)


def fill(label_round, raters=3):
    people = make_raters(label_round.study, raters)
    for place, item in enumerate(label_round.items.all()):
        for turn, person in enumerate(people):
            said = (place + (turn == place % 3)) % 4
            row = vote(item, person, said, answered_at=DAY, active_ms=1000 * (turn + 1))
            VoteEvent.objects.create(assignment=row, client_key=f"{row.pk}", kind="answer")
    return people


def url(name, label_round, *more):
    return reverse(name, args=[label_round.study.public_id, label_round.public_id, *more])


def assert_no_nonsense(page):
    text = re.sub(r"<[^>]+>", " ", page)
    assert not re.search(r"\b(nan|inf|infinity|none|NaT)\b", text, re.IGNORECASE)


def test_the_first_visit_asks_for_figures_and_the_next_one_shows_them(
    label_round, client, django_capture_on_commit_callbacks
):
    people = fill(label_round)
    with django_capture_on_commit_callbacks(execute=True):
        first = client.get(url("figures", label_round)).text
    assert "first figures are being computed" in first
    assert url("figures_fragment", label_round) in first
    page = client.get(url("figures", label_round)).text
    alpha = label_round.snapshots.get().figures["agreement"]["all"][0]
    assert f"{alpha['value']:.3f}" in page
    # Annotators have one name, in rows and over columns.
    assert f'<span class="mono">{people[0].pseudonym}</span></th>' in page
    assert alpha["reason"] in page
    assert_no_nonsense(page)
    # A busy round is not computed at every look.
    row = label_round.assignments.first()
    VoteEvent.objects.create(assignment=row, client_key="c", kind="change", label=1)
    for finished_at, count in ((timezone.now(), 0), (DAY, 1)):
        Job.objects.update(finished_at=finished_at)
        with django_capture_on_commit_callbacks(execute=True) as callbacks:
            client.get(url("figures", label_round))
        assert len(callbacks) == count
    # A computation that failed is shown, and nothing asks again.
    label_round.snapshots.all().delete()
    Job.objects.update(state="failed", error="An unexpected error.", finished_at=timezone.now())
    page = client.get(url("figures", label_round)).text
    assert "An unexpected error." in page
    assert "every 5s" not in page


@pytest.mark.long
def test_the_finding_says_how_many_items_have_each_majority_label(filled):
    page = page_of(filled, "figures")
    names = filled.label_round.guideline.level_names
    each = ", ".join(f"2 “{names[label]}” ({label})" for label in (3, 2, 1, 0))
    says = f"Majority labels of 8 items, 2 of them control items: {each}."
    assert page.context["finding"].says.endswith(says)
    (table,) = [card.table for card in page.context["cards"] if card.slug == "majority"]
    assert [row[:3] for row in table.rows] == [[str(at), names[at], 2] for at in range(4)]


def test_the_finding_says_so_where_the_lower_bound_decides():
    figures = compute_figures(votes_table(TENTATIVE_VOTES), SCALE, RECIPE)
    alpha = figures.agreement["all"][0]
    assert alpha.value >= FIRM > alpha.low
    finding = figures_finding(figures, Guideline(levels=[]))
    low, bounds = text_of(alpha.low, 2), f"[{text_of(alpha.low, 2)}, {text_of(alpha.high, 2)}]"
    assert f"95 % interval {bounds}" in finding.sure
    assert f"The interval's lower bound decides: {low} is below 0.800." in finding.sure
    # Few items have no verdict, even where a stored snapshot has an interval.
    figures = compute_figures(votes_table(), SCALE, RECIPE)
    alpha = replace(figures.agreement["all"][0], low=0.81, high=1.0, reason=None)
    old = replace(figures, agreement={"all": (alpha, *figures.agreement["all"][1:])})
    finding = figures_finding(old, Guideline(levels=[]))
    assert "These data cannot tell how well annotators agree" in finding.says
    assert "0.81" not in finding.sure
    # A low alpha beside one frequent label names what to read.
    votes = {f"i{at}": {"a": 3, "b": 3 if at else 2} for at in range(30)}
    figures = compute_figures(votes_table(votes), SCALE, RECIPE)
    finding = figures_finding(figures, Guideline(levels=[]))
    assert "98 % of the votes are label 3: alpha is then low even where" in finding.sure
    percent, ac2 = (estimate_text(figures.agreement["all"][at]) for at in (3, 6))
    assert f"percent agreement {percent} and Gwet's AC2 {ac2}." in finding.sure


def test_the_page_is_bounded(filled, django_assert_max_num_queries):
    client = sign_in(filled.boss)
    label_round = filled.label_round
    client.get(url("figures", label_round))
    with django_assert_max_num_queries(12) as queries:
        client.get(url("figures", label_round))
    # The votes themselves are not read.
    assert not any('snapshot"."rows"' in query["sql"] for query in queries.captured_queries)
    with django_assert_max_num_queries(10):
        client.get(url("figures_fragment", label_round))


def test_the_fragment_answers_only_what_is_new(filled):
    label_round, client = filled.label_round, sign_in(filled.boss)
    poll = re.search(r'hx-get="([^"]+)"', client.get(url("figures", label_round)).text)[1]
    assert client.get(poll).status_code == 204
    row = vote(label_round.items.first(), *make_raters(label_round.study, 1), 0)
    event = VoteEvent.objects.create(assignment=row, client_key="late", kind="answer", label=0)
    answer = client.get(poll)
    assert (answer.status_code, "Updating" in answer.text) == (200, True)
    # Polling ends when a closed round is up to date.
    event.delete()
    row.delete()
    type(label_round).objects.update(state="closed")
    assert "every 5s" not in client.get(url("figures", label_round)).text
    poll = client.get(url("figures_fragment", label_round), {"seen": "anything"})
    assert "hx-trigger" not in poll.text


@pytest.mark.long
@pytest.mark.parametrize("raters", [0, 1])
def test_undefined_figures_say_why_on_the_page(label_round, client, raters):
    fill(label_round, raters)
    snapshots.refresh(LABEL_ROUNDS, label_round)
    reason = "there are no ratings" if raters == 0 else "there is only one rater"
    for name, more in (("figures", ()), ("snapshot", (1,)), ("units", (1,))):
        page = client.get(url(name, label_round, *more)).content.decode()
        assert_no_nonsense(page)
        if name != "units":
            assert "Not defined" in page
            assert reason in page.lower()


@pytest.mark.long
def test_every_figure_downloads_in_every_form(filled):
    client, snapshot = sign_in(filled.boss), filled.snapshot
    for slug, form in itertools.product(TABLES, ("csv", "tex", "md")):
        answer = client.get(url("snapshot_figure", filled.label_round, 1, slug, form))
        assert answer.status_code == 200, (slug, form)
        assert answer["Content-Disposition"] == f'attachment; filename="{slug}-snapshot-1.{form}"'
        if form != "csv":
            text = answer.content.decode()
            assert filled.label_round.name in text
            assert snapshot.sha256[:12] in text


@pytest.mark.long
def test_a_chart_is_drawn_once_and_kept(filled, monkeypatch):
    cache.clear()
    client = sign_in(filled.boss)
    version = filled.snapshot.recipe["figures_sha256"][:12]
    address = url("snapshot_figure", filled.label_round, 1, "labels", "svg")
    first = client.get(address, {"v": version, "theme": "dark"})
    assert first.content.startswith(b"<svg")
    assert b"NaN" not in first.content
    assert "immutable" in first["Cache-Control"]
    assert "private" in first["Cache-Control"]
    monkeypatch.setattr("cqa_site.web.charts.vega._draw", None)
    assert client.get(address, {"theme": "dark"}).content == first.content
    assert "immutable" not in client.get(address, {"theme": "dark"})["Cache-Control"]
    unchanged = client.get(address, {"theme": "dark"}, headers={"If-None-Match": first["ETag"]})
    assert unchanged.status_code == 304


def test_the_units_page_shows_recomputes_and_downloads(filled):
    people = filled.people
    alpha = filled.snapshot.figures["agreement"]["all"][0]["value"]
    page = page_of(filled, "units", 1, figure="alpha").content.decode()
    assert f"ordinal alpha is {alpha:.3f}" in page
    assert "24 votes on 8 items by 3 annotators" in flat(page)
    assert_no_nonsense(page)
    pair = f"pair:{people[0].public_id}:{people[1].public_id}"
    answer = page_of(filled, "units", 1, figure=pair, format="csv")
    table = pd.read_csv(pd.io.common.BytesIO(answer.content))
    assert len(table) == 16
    assert list(table.columns) == list(COLUMNS)
    assert page_of(filled, "units", 1, figure="nonsense").status_code == 404
