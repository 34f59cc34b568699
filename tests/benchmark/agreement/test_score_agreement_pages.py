"""Pages about agreement, verdicts, judges, the rows behind them, and one sheet."""

import csv
import io
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from django.urls import reverse

from benchmark.agreement.methods.figures import Agreement, AgreementFigure
from benchmark.agreement.reports.snapshot import TOTAL, AgreementSelection, snapshot_of
from benchmark.agreement.reports.summary import agreement_finding
from benchmark.leaderboard.actions import BOARDS
from benchmark.leaderboard.models import BoardSnapshot
from benchmark.rubrics.models import default_rubric
from benchmark.scoring.models import ScoreSheet
from cqa_site.results import snapshots
from cqa_site.stats.estimate import from_json
from tests.annotation.voting import label_by_machine
from tests.benchmark.made_scores import make_rater, make_scored_answers, make_sheets
from tests.benchmark.made_sheets import BRIEF
from tests.cast import make_label_round, make_study

MARKS = "Dashed lines: the customary thresholds .667"
pytestmark = pytest.mark.django_db


def scored_study():
    """A study with sheets of people and judges and their board."""
    study = make_study()
    answers = make_scored_answers(study, systems=("gpt4", "llama3", "Gamma"), questions=6)
    raters = {name: make_rater(study, name) for name in ("Ada", "Bo")}
    raters |= {name: make_rater(study, name, "model") for name in ("gpt-4o", "qwen")}
    make_sheets(study, answers, [raters["Ada"], raters["Bo"], raters["qwen"]])
    make_sheets(study, answers, [raters["gpt-4o"]], replicates=2, seed=1)
    snapshots.refresh(BOARDS, default_rubric(study))
    return SimpleNamespace(study=study, raters=raters)


@pytest.fixture(scope="module")
def built(build_once):
    """By four criteria: a report of agreement has 8 columns instead of 19."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchmark.rubrics.models.COMPQA", BRIEF)
        yield build_once(scored_study)


@pytest.fixture
def lab(built, db):
    return built.copy()


@pytest.fixture
def study(request, db):
    """The study with sheets for a test that asks for its raters, else an empty one."""
    asks_for_sheets = "raters" in request.fixturenames
    return request.getfixturevalue("lab").study if asks_for_sheets else make_study()


@pytest.fixture
def raters(lab):
    return lab.raters


def page(client, study, route, query="", **kwargs):
    url = reverse(route, kwargs={"study_id": study.public_id, **kwargs})
    return client.get(f"{url}{query}")


PAGES = ("score_agreement", "score_replace", "score_judges", "score_rows")


def test_before_there_are_sheets_the_verdict_on_labels_is_led_to(
    client, study, django_assert_max_num_queries
):
    for name in PAGES:
        text = page(client, study, name).text
        assert "No agreement figures yet" in text, name
    label_rounds = [make_label_round(study, name=f"Round {number}") for number in range(3)]
    text = page(client, study, "score_replace").text
    assert "Judges of labels have their own page" in text
    addresses = [
        reverse("judges", args=[study.public_id, each.public_id]) for each in label_rounds
    ]
    assert not any(address in text for address in addresses)
    for label_round in label_rounds[:2]:
        label_by_machine(label_round)
    with django_assert_max_num_queries(10):
        text = page(client, study, "score_replace").text
    assert [address in text for address in addresses] == [False, True, False]


SAID = {
    "score_agreement": ["95 % intervals", MARKS],
    "score_replace": [
        "for totals, gpt-4o may not|these data cannot tell whether gpt-4o",
        "about 12 more answers scored by two people and the judge",
        "Alternative annotator test",
        "not proven",
    ],
    "score_judges": ["not tested", "2 sheets each", MARKS],
    "score_rows": [],
}
NOT_SAID = {"score_replace": "ot shown", "score_judges": "no other judge"}


@pytest.mark.parametrize("name", PAGES)
def test_pages_say_what_they_found_in_few_queries(
    client, study, raters, name, django_assert_max_num_queries
):
    key = raters["gpt-4o"].public_id
    query = f"?judge={key}&column=C3&measure=leniency"
    page(client, study, name, query)
    with django_assert_max_num_queries(10):
        response = page(client, study, name, query)
    text = response.text
    assert response.status_code == 200
    assert "gpt-4o" in text
    # People stand under pseudonyms.
    assert not re.search(r"\bAda\b", text)
    assert [words for words in SAID[name] if not re.search(words, text)] == []
    assert NOT_SAID.get(name, "<never>") not in text


def test_agreement_comes_in_parts_that_keep_the_choice_and_a_low_bound_decides(
    client, study, raters
):
    shown = {"": "ceiling", "pairs": "pairs", "systems": "systems", "detail": "bland-altman"}
    for part, own in shown.items():
        text = page(client, study, "score_agreement", f"?part={part}&column=C3").text
        found = [slug for slug in shown.values() if f'id="{slug}"' in text]
        assert found == [own]
        assert "part=systems&amp;column=C3" in text
    unknown = page(client, study, "score_agreement", "?part=nothing").text
    assert 'id="ceiling"' in unknown
    pairs = page(client, study, "score_agreement", "?part=pairs&column=C3").text
    assert "All people" in pairs
    leading = f"rater={raters['gpt-4o'].public_id}&amp;other=people&amp;criterion=C3"
    assert leading in pairs
    figures = from_json(Agreement, snapshot_of(study, {}).agreement)
    total = figures.people.columns[TOTAL]
    for low, is_said in ((0.7, True), (0.82, False)):
        alpha = AgreementFigure(value=0.86, low=low, high=0.9, n=40)
        columns = figures.people.columns | {TOTAL: replace(total, alpha_interval=alpha)}
        people = replace(figures.people, columns=columns, shared=40)
        finding = agreement_finding(replace(figures, people=people), AgreementSelection())
        assert ("lower bound decides: 0.70 is below 0.800" in finding.sure) == is_said


@pytest.mark.long
def test_unknown_choices_fall_back_and_cells_of_the_confusion_lead_to_their_answers(
    client, study, raters
):
    odd = "?column=C39&measure=x&pair=a~b&judge=nobody"
    assert page(client, study, "score_agreement", odd).status_code == 200
    assert page(client, study, "score_agreement", "?snapshot=x").status_code == 404
    foreign = default_rubric(make_study("Foreign"))
    other = snapshots.refresh(BOARDS, foreign)
    query = f"?snapshot={other.public_id}"
    assert page(client, study, "score_agreement", query).status_code == 404
    own = BoardSnapshot.objects.get(study=study)
    assert page(client, study, "score_judges", f"?snapshot={own.public_id}").status_code == 200
    agreement = BoardSnapshot.objects.get(study=study).figures["agreement"]
    pair = agreement["pairs"][0]
    found = pair["confusion"]["C1"]
    for value, cells in zip(found["values"], found["cells"], strict=True):
        for other, n in zip(found["values"], cells, strict=True):
            query = f"?rater={pair['first']}&other={pair['second']}&criterion=C1"
            response = page(client, study, "score_rows", f"{query}&points={value}&others={other}")
            assert response.context["page"].paginator.count == n


def test_rows_have_the_largest_difference_first_and_a_sheet_stands_beside_the_others(
    client, study, raters, django_assert_max_num_queries
):
    query = f"?rater={raters['gpt-4o'].public_id}&other={raters['Ada'].public_id}"
    response = page(client, study, "score_rows", query)
    apart = [abs(row["difference"]) for row in response.context["rows"]]
    assert apart == sorted(apart, reverse=True)
    assert len(apart) == 18
    sheet = response.context["rows"][0]["sheet"]
    assert page(client, study, "score_sheet", sheet_id=sheet).status_code == 200
    file = page(client, study, "score_rows", f"{query}&format=csv").content.decode("utf-8-sig")
    assert len(list(csv.reader(io.StringIO(file)))) == 19
    sheet = ScoreSheet.objects.filter(rater=raters["gpt-4o"]).first()
    # Points that are missing are no zero.
    points = {key: value for key, value in sheet.points.items() if key != "C2"}
    notes = {"C3": "Names <b>no</b> aspect."}
    ScoreSheet.objects.filter(pk=sheet.pk).update(
        notes=notes, points=points, unable={"C2": "unclear"}, total=None
    )
    with django_assert_max_num_queries(14):
        response = page(client, study, "score_sheet", sheet_id=sheet.public_id)
    text = response.text
    assert len(response.context["columns"]) == 5
    assert "Names &lt;b&gt;no&lt;/b&gt; aspect." in text
    assert "The criterion is unclear here" in text
    assert not re.search(r"\bAda\b", text)
    assert raters["Ada"].pseudonym in text


@pytest.mark.long
def test_a_page_is_told_when_newer_figures_are_there(client, study, django_assert_max_num_queries):
    answers = make_scored_answers(study)
    make_sheets(study, answers, [make_rater(study, "Ada"), make_rater(study, "Bo")])
    url = reverse("score_watch", args=[study.public_id])
    snapshot = snapshots.refresh(BOARDS, default_rubric(study))
    seen = {"seen": snapshot.recipe["figures_sha256"][:12]}
    with django_assert_max_num_queries(12):
        assert client.get(url, seen).status_code == 204
    make_sheets(study, answers, [make_rater(study, "Cy")], seed=2)
    assert client.get(url, seen).status_code == 204
    snapshots.refresh(BOARDS, default_rubric(study))
    told = client.get(url, seen)
    assert (told.status_code, told["HX-Refresh"]) == (200, "true")
