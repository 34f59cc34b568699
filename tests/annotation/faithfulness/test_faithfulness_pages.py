"""The pages about faithfulness: by system, text by text, segment by segment."""

import csv
import io

import pytest
from django.urls import reverse

from annotation.consensus.actions.consensus import prefer_labels
from annotation.consensus.models import FinalLabel
from annotation.corpus.models import ArgumentList
from annotation.labelling.models import label_rounds_of
from cqa_site.people.models import Role
from cqa_site.runs import jobs
from tests.cast import make_label_round, make_member, make_study
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
def page(client, study):
    """A page of the study."""
    return lambda name, *ids, query="": client.get(
        reverse(name, args=[study.public_id, *ids]) + query
    )


def text_of(response):
    return " ".join(response.text.split())


def rows_in(response):
    return list(csv.reader(io.StringIO(response.content.decode("utf-8-sig"))))


def test_figures_are_made_by_one_click(study, client, page):
    answers = make_faithful(study)
    shown = text_of(page("faithfulness"))
    assert "3 texts have no figures" in shown
    assert "No figures yet" in shown
    # A text without figures or arguments has its page.
    lone = make_answer(answers[0].question, text="Tea.", scenario=1)
    for answer in (answers[0], lone):
        text = text_of(page("faithfulness_answer", answer.public_id))
        assert "has no figures yet" in text
    assert "no numbered arguments" in text
    lone.delete()
    address = reverse("faithfulness_compute", args=[study.public_id])
    assert client.post(address, {"embedding": ""}).status_code == 302
    assert "Stop" in text_of(page("faithfulness"))
    jobs.drain()
    shown = text_of(page("faithfulness"))
    for words in (
        *("The figures are up to date", "Model A", "Scenario 4"),
        *("3 cited numbers that match no argument", "Segments without a citation: 3"),
    ):
        assert words in shown


def make_strict(study):
    """A round that found only the second sentence of a list relevant, of the last list none."""
    label_round = make_label_round(study, ordinary=0, controls=0, name="Strict")
    for place, listed in enumerate(ArgumentList.objects.order_by("pk")):
        for entry in listed.entries.all():
            label = 2 if entry.number == 2 and place < 2 else 0
            FinalLabel.objects.create(
                label_round=label_round, argument=entry.argument, label=label
            )
    return label_round


def test_any_label_set_gives_the_figures_that_it_would_give_as_the_study_s_choice(
    lab, study, page, researcher
):
    usual = label_rounds_of(study).get()
    strict = make_strict(study)

    def tables(more=""):
        """The last rows of the measures, and all single texts, in both modes."""
        found = []
        for query in (f"?mode=sound{more}", f"?mode=paper{more}"):
            measures = page("faithfulness_figure", "measures", "csv", query=query)
            texts = page("faithfulness_rows", query=f"{query}&format=csv")
            found += [rows_in(measures)[-2:], rows_in(texts)]
        return found

    prefer_labels(study=study, label_round=usual, actor=researcher)
    compute(study)
    before, on_the_fly = tables(), tables(f"&labels={strict.public_id}")
    prefer_labels(study=study, label_round=strict, actor=researcher)
    compute(study)
    stored = tables()
    assert on_the_fly == stored
    assert all(one != other for one, other in zip(stored, before, strict=True))


@pytest.mark.long
def test_single_texts_are_filtered_and_sorted(lab, study, page, django_assert_max_num_queries):
    first = lab.answers[0]
    good = make_system(study, "Model B")
    make_answer(first.question, good, "Tea beats coffee [1, 2].", listed=first.argument_list)
    compute(study)

    def rows(query=""):
        return page("faithfulness_rows", query=query).context["page"]

    best = rows("?sort=-f1")
    assert [row.f1 for row in best] == sorted((row.f1 for row in best), reverse=True)
    assert best[0].about.system == [*rows("?sort=f1")][-1].about.system == good
    counts = {f"system={good.public_id}": 1, "problem=out_of_range": 3, "problem=malformed": 3}
    counts |= {"problem=unscored": 0, "scenario=1": 0, "texts=edited": 0}
    counts["system=x&scenario=y&sort=answer__study&problem=z"] = 4
    for query, count in counts.items():
        assert rows(f"?{query}").paginator.count == count, query
    table = rows_in(page("faithfulness_rows", query="?format=csv&sort=-f1"))
    assert len(table) == 5
    first = dict(zip(table[0], table[1], strict=True))
    assert (first["System"], first["Cited"]) == ("Model B", "1 2")
    # Pages take as many queries for many texts.
    make_faithful(study, 9, choices=4)
    compute(study)
    with django_assert_max_num_queries(12):
        assert rows().paginator.count == 40
    with django_assert_max_num_queries(36):
        page("faithfulness")


def test_a_revision_and_its_verdicts(study, researcher, page):
    make_faithful(study, 1)
    expert = make_member(study, Role.EXPERT, name="Expert Example")
    sheet = make_closed_round(study, [expert], researcher).sheets.get()
    revision = hand_in(sheet, TEXT.replace("[9]", "[3]"))
    compute(study)
    endpoint = make_endpoint(study, researcher)
    run = make_coherence(study, endpoint, researcher, target={"texts": "both"})
    shown = text_of(page("faithfulness_revision", revision.public_id))
    assert "revision 1 by Expert Example" in shown
    assert shown.count("Not coherent") == 2
    assert "cite missing" not in shown
    (row,) = page("faithfulness_rows", query="?texts=edited&sort=coherence").context["page"]
    assert row.coherence == pytest.approx(2 / 4)
    assert run.coherence_verdicts.filter(revision=revision).count() == 4
