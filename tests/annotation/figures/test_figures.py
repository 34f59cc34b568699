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
from annotation.labelling.models import Guideline, VoteEvent
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
        (item, rater, label, place, 0 if item == "c" else None, f"Sentence {item}.")
        for item, labels in votes.items()
        for place, (rater, label) in enumerate(labels.items())
    ]
    names = ("item_id", "rater_id", "label", "position", "control_label", "text")
    table = pd.DataFrame(rows, columns=names).assign(object1="tea", object2="coffee", block=1)
    table = table.assign(rater_kind="person", state="answered", active_ms=1000)
    table["active_ms"] *= table["position"] + 1
    start, hours = pd.Timestamp("2026-03-02T10:00Z"), pd.to_timedelta(table["position"], "h")
    table = table.assign(answered_at=pd.to_datetime(start + hours, utc=True))
    table = table.assign(**dict.fromkeys(("source_url", "skip_reason", "comment"), ""))
    flags = ("is_extra", "is_excluded", "is_flagged")
    whole = ("control_label", "label", "active_ms", "block", "position")
    texts = ("item_id", "rater_id", "state", "text", "rater_kind")
    kinds = {**dict.fromkeys(whole, "Int64"), **dict.fromkeys(texts, "str")}
    table = table.assign(**dict.fromkeys(flags, False))[list(COLUMNS)]
    return table.astype(kinds | dict.fromkeys(flags, bool)).assign(**fields)


@functools.cache
def stored_figures():
    return json.dumps(as_stored(compute_figures(votes_table(), SCALE, RECIPE)))


def figures_of(votes=VOTES, **fields):
    if votes is VOTES and not fields:
        return json.loads(stored_figures())
    return as_stored(compute_figures(votes_table(votes, **fields), SCALE, RECIPE))


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


def test_pairs_have_no_value_below_the_shared_minimum():
    figures = figures_of()
    pairs = figures["pairs"]
    assert pairs["raters"] == ["a", "b", "c"]
    assert pairs["n_shared"] == [[6, 5, 1], [5, 5, 1], [1, 1, 1]]
    assert pairs["values"][0][2] is None
    assert pairs["values"][0][1] == pairs["values"][1][0]
    kappa = figures["agreement"]["all"][-1]
    assert kappa["n_pairs"] == 1
    # Weighted kappa of a and b: pairs (3,3) (0,1) (1,1) (3,2) (0,0). Observed 2/5; expected from
    # the margins of a (2, 1, 0, 2) and of b (1, 2, 1, 1): 72/25.
    assert kappa["value"] == pytest.approx(1 - (2 / 5) / (72 / 25))
    # Annotators are compared with the others only.
    rows = {row["rater"]: row for row in figures["annotators"]}
    assert list(rows) == ["a", "b", "c"]
    # a: i1 yes, i2 no, i3 yes, i4 (others 2 and 3: tie, higher) yes, c yes; i5 has no others.
    assert (rows["a"]["votes"], rows["a"]["compared"]) == (6, 5)
    assert rows["a"]["agreement"] == pytest.approx(4 / 5)
    # b: i4 gave 2 where the others say 3.
    assert rows["b"]["agreement"] == pytest.approx(3 / 5)
    assert (rows["a"]["controls"], rows["a"]["controls_right"]) == (1, 1)
    assert rows["c"]["median_seconds"] == 3
    # What does not count changes nothing but its own count.
    table = votes_table()
    extra = table.head(1).assign(rater_id="d", label=0, is_extra=True)
    excluded = table.head(1).assign(rater_id="e", label=0, is_excluded=True)
    skipped = table.head(1).assign(rater_id="a", item_id="i9", label=pd.NA, state="skipped")
    more = pd.concat([table, extra, excluded, skipped], ignore_index=True)
    noisy = as_stored(compute_figures(more, SCALE, RECIPE))
    for name in ("agreement", "labels", "majority", "confusion", "pairs", "hardest", "time"):
        assert noisy[name] == figures[name]
    progress = noisy["progress"]
    assert (progress["extra"], progress["excluded"], progress["skipped"]) == (1, 1, 1)
    assert {row["rater"] for row in noisy["annotators"] if row["is_excluded"]} == {"e"}


def test_times_and_dates_by_hand():
    figures = figures_of()
    every = figures["time"]["all"]
    # Six first votes of 1 s, five of 2 s, one of 3 s.
    assert (every["n"], every["q1"], every["median"], every["q3"]) == (12, 1, 1.5, 2)
    assert sum(row["votes"] for row in figures["time"]["histogram"]) == 12
    bins = figures["votes_over_time"]["bins"]
    assert [row["votes"] for row in bins] == [6, 5, 1]
    assert (bins[0]["start"], bins[-1]["total"]) == ("2026-03-02 10:00", 12)
    without = figures_of(active_ms=pd.NA, answered_at=pd.NaT)
    assert without["time"]["reason"] == "no vote has a time"
    assert without["time"]["all"]["median"] is None
    assert without["votes_over_time"]["reason"] == "no vote has a date"
    # The step grows with the span.
    start = pd.Timestamp("2026-03-04T10:00Z")
    for hours, step in ((50, "hour"), (73, "day"), (24 * 200, "week"), (24 * 900, "month")):
        times = pd.Series([start, start + pd.Timedelta(hours=hours)])
        over = figures_of({"i1": {"a": 1, "b": 2}}, answered_at=times)["votes_over_time"]
        assert (over["step"], sum(row["votes"] for row in over["bins"])) == (step, 2)
        assert over["bins"][0]["start"] <= "2026-03-04 10:00"


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


def test_the_units_of_alpha_give_the_same_alpha():
    table = votes_table()
    for figure, scope in (("alpha", "all"), ("alpha-ordinary", "ordinary")):
        stored = figures_of()["agreement"][scope]
        rows = units(table, figure)
        for entry, level in zip(stored, ("ordinal", "nominal", "interval"), strict=False):
            again = krippendorff_alpha(ratings_of(rows), level)
            known = [entry[name] for name in ("value", "low", "high")]
            assert [again.value, again.low, again.high] == known
        assert percent_agreement(ratings_of(rows)).value == stored[3]["value"]
        assert recomputed(rows, figure).value == stored[0]["value"]
    # Units as a table hold no missing marker.
    table.loc[table.index[::2], ["active_ms", "answered_at", "label"]] = None
    assert not re.search("nan|NaT|NA|None", unit_rows(table).to_csv().decode())
    assert page_rows(table)[0]["answered_at"] is None
    assert page_rows(table)[1]["answered_at"] is not None


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
    assert "98 % of the votes are label 3, which makes alpha low even where" in finding.sure
    percent, ac2 = (estimate_text(figures.agreement["all"][at]) for at in (3, 6))
    assert f"percent agreement {percent} and Gwet's AC2 {ac2}." in finding.sure


def test_the_fragment_answers_only_what_is_new(filled, django_assert_max_num_queries):
    label_round, client = filled.label_round, sign_in(filled.boss)
    address, fragment = url("figures", label_round), url("figures_fragment", label_round)
    page = client.get(address)
    names = label_round.guideline.level_names
    each = ", ".join(f"2 “{names[label]}” ({label})" for label in (3, 2, 1, 0))
    says = f"Majority labels of 8 items, 2 of them control items: {each}."
    assert page.context["finding"].says.endswith(says)
    (table,) = [card.table for card in page.context["cards"] if card.slug == "majority"]
    assert [row[:3] for row in table.rows] == [[str(at), names[at], 2] for at in range(4)]
    with django_assert_max_num_queries(12) as queries:
        client.get(address)
    # The votes themselves are not read.
    assert not any('snapshot"."rows"' in query["sql"] for query in queries.captured_queries)
    with django_assert_max_num_queries(10):
        client.get(fragment)
    poll = re.search(r'hx-get="([^"]+)"', page.text)[1]
    assert client.get(poll).status_code == 204
    row = vote(label_round.items.first(), *make_raters(label_round.study, 1), 0)
    event = VoteEvent.objects.create(assignment=row, client_key="late", kind="answer", label=0)
    answer = client.get(poll)
    assert (answer.status_code, "Updating" in answer.text) == (200, True)
    # Polling ends when a closed round is up to date.
    event.delete()
    row.delete()
    type(label_round).objects.update(state="closed")
    assert "every 5s" not in client.get(address).text
    assert "hx-trigger" not in client.get(fragment, {"seen": "anything"}).text


@pytest.mark.long
@pytest.mark.parametrize("raters", [0, 1])
def test_undefined_figures_say_why_on_the_page(label_round, client, raters):
    fill(label_round, raters)
    snapshots.refresh(LABEL_ROUNDS, label_round)
    reason = ("there are no ratings", "there is only one rater")[raters]
    for name, more in (("figures", ()), ("snapshot", (1,)), ("units", (1,))):
        page = client.get(url(name, label_round, *more)).text
        assert_no_nonsense(page)
        if name != "units":
            assert "Not defined" in page
            assert reason in page.lower()


@pytest.mark.long
def test_every_figure_downloads_in_every_form(filled, monkeypatch):
    client, snapshot, label_round = sign_in(filled.boss), filled.snapshot, filled.label_round
    for slug, form in itertools.product(TABLES, ("csv", "tex", "md")):
        answer = client.get(url("snapshot_figure", label_round, 1, slug, form))
        assert answer.status_code == 200, (slug, form)
        assert answer["Content-Disposition"] == f'attachment; filename="{slug}-snapshot-1.{form}"'
        if form != "csv":
            assert label_round.name in answer.text
            assert snapshot.sha256[:12] in answer.text
    # A chart is drawn once and stored.
    cache.clear()
    version = snapshot.recipe["figures_sha256"][:12]
    address = url("snapshot_figure", label_round, 1, "labels", "svg")
    first = client.get(address, {"v": version, "theme": "dark"})
    assert first.content.startswith(b"<svg")
    assert b"NaN" not in first.content
    for word in ("immutable", "private"):
        assert word in first["Cache-Control"]
    monkeypatch.setattr("cqa_site.web.charts.vega._draw", None)
    again = client.get(address, {"theme": "dark"})
    assert (again.content, "immutable" in again["Cache-Control"]) == (first.content, False)
    unchanged = client.get(address, {"theme": "dark"}, headers={"If-None-Match": first["ETag"]})
    assert unchanged.status_code == 304


def test_the_units_page_shows_recomputes_and_downloads(filled):
    alpha = filled.snapshot.figures["agreement"]["all"][0]["value"]
    client, address = sign_in(filled.boss), url("units", filled.label_round, 1)
    page = client.get(address, {"figure": "alpha"}).text
    assert f"ordinal alpha is {alpha:.3f}" in page
    assert "24 votes on 8 items by 3 annotators" in flat(page)
    assert_no_nonsense(page)
    pair = ":".join(str(person.public_id) for person in filled.people[:2])
    answer = client.get(address, {"figure": f"pair:{pair}", "format": "csv"})
    table = pd.read_csv(pd.io.common.BytesIO(answer.content))
    assert (len(table), list(table.columns)) == (16, list(COLUMNS))
    assert client.get(address, {"figure": "nonsense"}).status_code == 404
