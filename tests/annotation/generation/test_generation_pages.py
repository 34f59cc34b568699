"""Pages of runs that write answers: starting, watching, reading, comparing."""

import re
from urllib.parse import urlencode

import pytest
from django.http import QueryDict
from django.urls import reverse

from annotation.answers.models import Answer
from annotation.consensus.models import FinalLabel
from annotation.corpus.models import Argument
from annotation.generation.forms import MatrixForm
from cqa_site.runs.models import Endpoint, Run
from tests.annotation.generation_lab import GenerationLab
from tests.annotation.made_generations import make_generation, write_by_text
from tests.cast import make_arguments, make_member, make_study
from tests.runs.made_runs import make_endpoint
from tests.worlds import built_once

pytestmark = pytest.mark.django_db


lab = built_once(GenerationLab)


def url(lab, name, *more, query="") -> str:
    return reverse(name, args=[lab.study.public_id, *more]) + query


def form(lab, number=4, **values) -> dict:
    usual = dict.fromkeys(("uses_aspect", "uses_wording", "sends_seed", "reuse"), "on")
    usual |= {"endpoint": str(lab.endpoint.pk), "prompt": str(lab.prompt(number).pk)}
    usual |= {"questions": "all", "relevance": "any", "favoured": "any", "most_arguments": "30"}
    usual |= {"max_tokens": "900", "seed": "1", "replicates": "3", "preflight": "ask"}
    return usual | {"mode": "live"} | values


def wrote(lab, answer=write_by_text, **chosen) -> Run:
    return make_generation(lab.study, lab.endpoint, lab.researcher, answer, **chosen)


@pytest.mark.long
def test_a_scenario_is_proposed_that_has_what_it_shows(client, lab):
    def field():
        return client.get(url(lab, "generation_new")).context["form"].fields["prompt"]

    def proposed():
        return [each.kind for each in field().queryset if each.pk in field().initial]

    offered = [version.kind for version in field().queryset]
    assert offered == ["answer_4", "answer_3", "answer_2", "answer_1"]
    assert proposed() == ["answer_4"]
    FinalLabel.objects.all().delete()
    Argument.objects.all().delete()
    make_arguments(lab.study, 2, ("oak", "pine"))
    assert proposed() == ["answer_3"], "the arguments are about something else than any question"


def test_looking_shows_what_it_takes_and_what_is_left_out(client, lab):
    values = form(lab, relevance="2-3", favoured="object2", look="1")
    response = client.post(url(lab, "generation_new"), values)
    assert response.context["estimate"].requests == 0
    assert "no arguments to base answers on" in response.text
    assert dict(response.context["left_out"]) == {
        "arguments with another label": 16,
        "arguments for the other object": 16,
        "questions left without arguments and therefore not asked": 4,
    }
    values = form(lab, relevance="2-3", most_arguments="3", cap="0.001")
    shown = client.post(url(lab, "generation_estimate"), values)
    assert shown.context["estimate"].requests == 12
    assert shown.context["passes_cap"] is True
    assert "Arguments beyond the maximum per question: 4" in shown.text
    assert not Run.objects.exists()
    # Filters count only where a scenario shows arguments.
    shown = client.post(url(lab, "generation_estimate"), form(lab, 3, favoured="object2"))
    assert not shown.context["left_out"]
    Endpoint.objects.update(price_in=0, price_out=0)
    for number, favoured in ((3, "any"), (2, "object1")):
        client.post(url(lab, "generation_new"), form(lab, number, favoured="object1"))
        run = Run.objects.get(prompt__kind=f"answer_{number}")
        assert run.spec["target"]["favoured"] == favoured


def test_a_wrong_value_is_an_error_of_its_field(lab):
    for values, field, text in (
        ({"questions": "sample"}, "sample", "sample size"),
        ({"questions": "comparisons"}, "comparisons", "at least one"),
        ({"comparisons": ["0"]}, "comparisons", "valid choice"),
        ({"replicates": "6"}, "replicates", "5"),
        ({"replicates": "0"}, "replicates", "1"),
        ({"most_arguments": "0"}, "most_arguments", "1"),
        ({"most_arguments": "201"}, "most_arguments", "200"),
        ({"relevance": "1-2"}, "relevance", "valid choice"),
        ({"favoured": "both"}, "favoured", "valid choice"),
        ({"max_tokens": ""}, "max_tokens", "not bounded"),
        ({"extra": '{"n": 3}'}, "extra", "set by the engine"),
    ):
        data = QueryDict(urlencode(form(lab, **values), doseq=True))
        errors = MatrixForm(data, study=lab.study, actor=lab.researcher).errors
        assert any(text in error for error in errors[field]), values


def test_chosen_comparisons_and_a_link_that_begins_with_one(client, lab):
    Endpoint.objects.update(price_in=0, price_out=0)
    new = url(lab, "generation_new")
    pair = lab.questions[2].comparison
    response = client.get(new, {"comparison": pair.public_id})
    assert response.context["form"]["comparisons"].value() == [pair.pk]
    # Rows of other studies cannot be chosen.
    other = make_study("Study B")
    theirs = make_endpoint(other, make_member(other, "researcher"))
    foreign = other.comparisons.create(object1="a", object2="b")
    foreign.questions.create(study=other)
    for field, values in (
        ("endpoint", {"endpoint": str(theirs.pk)}),
        ("comparisons", {"questions": "comparisons", "comparisons": [str(foreign.pk)]}),
    ):
        assert field in client.post(new, form(lab, **values)).context["form"].errors
    assert client.get(new, {"comparison": foreign.public_id}).status_code == 404
    client.post(new, form(lab, questions="comparisons", comparisons=[str(pair.pk)]))
    run = Run.objects.get()
    assert run.spec["target"]["comparisons"] == [str(pair.public_id)]
    shown = client.get(url(lab, "run", run.public_id))
    assert shown.context["comparisons"] == [pair]


def test_the_page_of_a_run_lists_its_answers_with_links(
    client, lab, django_assert_max_num_queries
):
    run = wrote(lab, replicates=2, target={"relevance": "2-3", "most_arguments": 3})
    with django_assert_max_num_queries(24):
        response = client.get(url(lab, "run", run.public_id))
    assert response.context["progress"].done == 8
    for answer in Answer.objects.select_related("question"):
        assert url(lab, "answer", answer.public_id) in response.text
        assert url(lab, "question", answer.question.public_id) in response.text
    assert "arguments with another label: 16" in response.text
    assert "with label 2-3" in response.text
    with django_assert_max_num_queries(8):
        client.get(url(lab, "generation_figures", run.public_id))
    for number in (1, 2, 3):
        lab.start(number=number)
    with django_assert_max_num_queries(8):
        listed = client.get(url(lab, "generations")).context["page"]
    assert [(each.number, each.done) for each in listed] == [(4, 0), (3, 0), (2, 0), (1, 8)]
    paused = client.get(url(lab, "generations"), {"state": "paused"})
    assert "No runs match this filter" in paused.text


def choosing(place: int):
    def write(request):
        number = re.search(r"thing (\d+)", request.messages[-1]["content"])[1]
        return f"Summary:\nBoth work.\n\nBest option: {('thing', 'other')[place]} {number}"

    return write


@pytest.mark.long
def test_two_runs_are_compared_question_by_question(client, lab, django_assert_max_num_queries):
    for pair in lab.study.comparisons.all():
        text = f"The {pair.object2} is better than the {pair.object1}."
        pair.arguments.create(study=lab.study, text=text)
    first = wrote(lab, choosing(0), target={"favoured": "object1"}, replicates=3)
    second = wrote(lab, choosing(1), target={"favoured": "object2"})

    def compare(a, b):
        return client.get(url(lab, "generation_compare"), {"a": a, "b": b})

    with django_assert_max_num_queries(14):
        response = compare(first.number, second.number)
    compared = response.context["compared"]
    assert (len(compared.pairs), compared.decided, compared.changed) == (4, 4, 4)
    choices = (compared.first.choices, compared.second.choices)
    assert choices == ({"object1": 12}, {"object2": 4})
    assert "Different object" in response.text
    assert "4 questions are in both" in response.text
    for wrong in ((first.number, first.number), ("x", 9)):
        assert "compared" not in compare(*wrong).context
    # What chooses no object decides nothing.
    undecided = wrote(lab, lambda request: "It depends.", number=1)
    compared = compare(first.number, undecided.number).context["compared"]
    assert (len(compared.pairs), compared.decided, compared.changed) == (4, 0, 0)
    # Lengths and choices of a run.
    texts = iter(["Summary: a b.\nBest option: thing 0", "Nothing.", "Best option: depends"] * 4)
    target = {"questions": "sample", "sample": 3}
    run = wrote(lab, lambda request: next(texts), number=3, target=target)
    spread = client.get(url(lab, "generation_figures", run.public_id)).context["spread"]
    counted = (spread.answers, spread.read, spread.words_least, spread.words_most)
    assert counted == (3, 3, 1, 7)
    assert sum(spread.choices.values()) == 3
    assert spread.choices["neither"] == spread.choices["none"] == 1
    empty = lab.start(number=2)
    assert "No answers yet." in client.get(url(lab, "generation_figures", empty.public_id)).text
