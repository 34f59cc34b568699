"""The pages about faithfulness: by system, text by text, segment by segment."""

import csv
import io

import pytest
from django.urls import reverse

from annotation.consensus.actions.preferred_labels import prefer_labels
from annotation.consensus.models import FinalLabel
from annotation.corpus.models.questions import ArgumentList
from annotation.labelling.models.campaigns import campaigns_of
from cqa_site.people.models import Role
from cqa_site.runs import jobs
from tests.cast import make_campaign, make_member, make_study, sign_in
from tests.runs.made_runs import make_endpoint
from tests.worlds import built_once

from ..made_answers import make_answer, make_system
from .made_faithfulness import (
    TEXT,
    compute,
    hand_in,
    make_closed_round,
    make_coherence,
    make_faithful,
)

pytestmark = pytest.mark.django_db


class Lab:
    """Three answers with figures, and their researcher."""

    def __init__(self):
        self.study = make_study()
        self.researcher = make_member(self.study, Role.RESEARCHER)
        self.answers = make_faithful(self.study)
        compute(self.study)


lab = built_once(Lab)


@pytest.fixture
def study(request):
    """That of the lab where a test asks for it, else an empty one."""
    if "lab" in request.fixturenames:
        return request.getfixturevalue("lab").study
    return make_study()


@pytest.fixture
def researcher(study):
    return make_member(study, Role.RESEARCHER)


@pytest.fixture
def client(researcher):
    return sign_in(researcher)


def page(client, name, *args, query=""):
    response = client.get(reverse(name, args=args) + query)
    assert response.status_code == 200
    return response


def text_of(response):
    return " ".join(response.content.decode().split())


def rows_in(response):
    return list(csv.reader(io.StringIO(response.content.decode("utf-8-sig"))))


def test_figures_are_made_by_one_click(study, client):
    make_faithful(study)
    shown = text_of(page(client, "faithfulness", study.public_id))
    assert "3 texts have no figures" in shown
    assert "No figures yet" in shown
    response = client.post(
        reverse("faithfulness_compute", args=[study.public_id]), {"embedding": ""}
    )
    assert response.status_code == 302
    assert "Stop" in text_of(page(client, "faithfulness", study.public_id))
    jobs.drain()
    shown = text_of(page(client, "faithfulness", study.public_id))
    assert "The figures are up to date" in shown
    assert "Model A" in shown
    assert "Scenario 4" in shown
    assert "3 cited numbers that no argument has" in shown
    assert "Segments without a citation: 3" in shown


def make_strict(study):
    """A campaign that found only the second sentence of a list relevant, of the last list none."""
    campaign = make_campaign(study, ordinary=0, controls=0, name="Strict")
    for place, listed in enumerate(ArgumentList.objects.order_by("pk")):
        for entry in listed.entries.all():
            label = 2 if entry.number == 2 and place < 2 else 0
            FinalLabel.objects.create(campaign=campaign, argument=entry.argument, label=label)
    return campaign


def test_any_label_set_gives_the_figures_that_it_would_give_as_the_study_s_choice(
    lab, study, client, researcher
):
    usual = campaigns_of(study).get()
    strict = make_strict(study)
    place = [study.public_id]

    def tables(more=""):
        """The last rows of the measures, and all single texts, in both modes."""
        return [
            found
            for query in (f"?mode=sound{more}", f"?mode=paper{more}")
            for found in (
                rows_in(
                    page(client, "faithfulness_figure", *place, "measures", "csv", query=query)
                )[-2:],
                rows_in(page(client, "faithfulness_rows", *place, query=f"{query}&format=csv")),
            )
        ]

    prefer_labels(study=study, campaign=usual, actor=researcher)
    compute(study)
    before, on_the_fly = tables(), tables(f"&labels={strict.public_id}")
    prefer_labels(study=study, campaign=strict, actor=researcher)
    compute(study)
    stored = tables()
    assert on_the_fly == stored
    assert all(one != other for one, other in zip(stored, before, strict=True))


def test_both_modes_and_files_agree_with_the_page(lab, study, client):
    found = {}
    for mode in ("sound", "paper"):
        query = f"?mode={mode}"
        shown = text_of(page(client, "faithfulness", study.public_id, query=query))
        (header, row) = rows_in(
            page(client, "faithfulness_figure", study.public_id, "measures", "csv", query=query)
        )
        found[mode] = dict(zip(header, row, strict=True))
        assert f"{float(found[mode]['Precision']):.3f}" in shown
        assert found[mode]["Precision, answers n"] == "3"
    assert found["sound"]["Segments n"] != found["paper"]["Segments n"]
    markdown = page(
        client, "faithfulness_figure", study.public_id, "measures", "md"
    ).content.decode()
    assert "resamples of whole questions" in markdown
    unknown = reverse("faithfulness_figure", args=[study.public_id, "measures", "exe"])
    assert client.get(unknown).status_code == 404


def test_coherence_stands_beside_the_figures(lab, study, researcher, client):
    run = make_coherence(study, make_endpoint(study, researcher), researcher)
    shown = text_of(page(client, "faithfulness", study.public_id))
    assert "0.667" in shown
    assert f"{run.public_id}/verdicts/?said=no" in shown
    chart = reverse("faithfulness_figure", args=[study.public_id, "coherence", "svg"])
    assert client.get(chart).status_code == 200


def test_single_texts_are_filtered_and_sorted(lab, study, client):
    answers = lab.answers
    good = make_system(study, "Model B")
    make_answer(
        answers[0].question, good, "Tea beats coffee [1, 2].", listed=answers[0].argument_list
    )
    compute(study)
    address = [study.public_id]
    rows = page(client, "faithfulness_rows", *address, query="?sort=-f1").context["page"]
    assert [row.f1 for row in rows] == sorted((row.f1 for row in rows), reverse=True)
    assert rows[0].about.system == good
    rows = page(client, "faithfulness_rows", *address, query="?sort=f1").context["page"]
    assert rows[len(rows) - 1].about.system == good
    for query, count in (
        (f"?system={good.public_id}", 1),
        ("?problem=out_of_range", 3),
        ("?problem=malformed", 3),
        ("?problem=unscored", 0),
        ("?scenario=1", 0),
        ("?texts=edited", 0),
        ("?system=x&scenario=y&sort=answer__study&problem=z", 4),
    ):
        rows = page(client, "faithfulness_rows", *address, query=query).context["page"]
        assert rows.paginator.count == count, query
    table = rows_in(page(client, "faithfulness_rows", *address, query="?format=csv&sort=-f1"))
    assert len(table) == 5
    first = dict(zip(table[0], table[1], strict=True))
    assert (first["System"], first["Cited"]) == ("Model B", "1 2")


def test_pages_take_as_many_queries_for_many_texts(study, client, django_assert_max_num_queries):
    make_faithful(study, 10, choices=4)
    compute(study)
    address = reverse("faithfulness_rows", args=[study.public_id])
    with django_assert_max_num_queries(12):
        assert client.get(address).context["page"].paginator.count == 40
    with django_assert_max_num_queries(36):
        page(client, "faithfulness", study.public_id)


def test_segment_by_segment(study, client):
    answer = make_faithful(study, 1)[0]
    compute(study)
    shown = text_of(page(client, "faithfulness_answer", study.public_id, answer.public_id))
    assert '<span class="cite missing">9</span>' in shown
    assert "no such argument" in shown
    assert "[2 and see above]" in shown
    assert "nothing cited" in shown
    assert 'href="#argument-2"' in shown
    assert 'id="argument-2" class="is-cited"' in shown
    paper = text_of(
        page(client, "faithfulness_answer", study.public_id, answer.public_id, query="?mode=paper")
    )
    assert "Closest argument" in paper


def test_a_text_without_figures_or_arguments_has_its_page(study, client):
    answers = make_faithful(study, 1)
    lone = make_answer(answers[0].question, text="Tea.", scenario=1)
    for answer in (answers[0], lone):
        shown = text_of(page(client, "faithfulness_answer", study.public_id, answer.public_id))
        assert "has no figures yet" in shown
    assert "without numbered arguments" in shown


def test_a_revision_and_its_verdicts(study, researcher, client):
    make_faithful(study, 1)
    expert = make_member(study, Role.EXPERT, name="Expert Example")
    sheet = make_closed_round(study, [expert], researcher).sheets.get()
    revision = hand_in(sheet, TEXT.replace("[9]", "[3]"))
    compute(study)
    run = make_coherence(
        study, make_endpoint(study, researcher), researcher, target={"texts": "both"}
    )
    shown = text_of(page(client, "faithfulness_revision", study.public_id, revision.public_id))
    assert "revision 1 by Expert Example" in shown
    assert shown.count("Not coherent") == 2
    assert "cite missing" not in shown
    rows = page(client, "faithfulness_rows", study.public_id, query="?texts=edited&sort=coherence")
    (row,) = rows.context["page"]
    assert row.coherence == pytest.approx(2 / 4)
    assert run.coherence_verdicts.filter(revision=revision).count() == 4


def test_nothing_of_a_text_becomes_markup(study, client):
    evil = 'Tea <script>alert(1)</script> beats coffee [1] [argument "><img src=x>].'
    answer = make_faithful(study, 1, text=evil)[0]
    compute(study)
    shown = page(client, "faithfulness_answer", study.public_id, answer.public_id).content
    assert b"<script>alert" not in shown
    assert b"<img src=x" not in shown
