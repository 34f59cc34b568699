"""Pages of scoring runs, which conditions are scored, and replies that are no judgement."""

import csv
import io
import json

import pytest
from django.urls import reverse

from annotation.answers.models import Answer
from annotation.generation.actions.answer_runs import condition
from benchmark.judges.actions.kind import PROMPTS
from benchmark.judges.actions.targets import chosen_answers, count_other_conditions, target_of
from benchmark.judges.forms import ScoringRunForm
from benchmark.judges.methods.judgements import JudgementState
from benchmark.rubrics.models import default_rubric
from benchmark.scoring.reports.sheets import counted_sheets, sheet_table
from cqa_site.runs.actions.endpoints import first_prompts
from cqa_site.runs.integrity import find_violations
from cqa_site.runs.progress import REASONS
from tests.cast import make_label_round, make_study, sign_in
from tests.lengths import first
from tests.runs.made_runs import make_run
from tests.worlds import built_once
from ..made_judges import KEYS, fair, obedient, text_of
from ..made_rounds import make_round
from ..made_scores import make_rater, make_scored_answers, make_sheets
from .methods.test_judgement_reading import CORPUS as REPLIES
from .test_scoring_judge import Lab

pytestmark = pytest.mark.django_db

lab = built_once(Lab)


@pytest.fixture
def client(lab):
    return sign_in(lab.researcher)


def words(response):
    return " ".join(response.text.split())


def post(lab, **changed):
    prompt = first_prompts(lab.study, PROMPTS, lab.researcher)[0].pk
    about = {"endpoint": lab.endpoint.pk, "prompt": prompt, "rubric": lab.rubric.pk}
    probes = {"canaries": "", "swap": "2", "holds_out_questions": "on", "reasons": "on"}
    usual = {"choice": "all", "shots": "0", "temperature": "0", "max_tokens": "2000", "seed": "1"}
    usual |= {"replicates": "1", "preflight": "ask", "mode": "live", "extra": ""}
    return about | probes | usual | changed


def test_the_form_says_what_a_run_takes(lab, client):
    start = reverse("scoring_run_new", args=[lab.study.public_id])
    shown = words(client.get(start))
    assert "CompQA v1" in shown
    assert "No examples yet. An example is an answer" in shown
    assert "First example" not in shown
    estimate = reverse("scoring_run_estimate", args=[lab.study.public_id])
    fragment = words(client.post(estimate, post(lab)))
    for name, n in (("Answers", 8), ("Attack canaries", 3), ("With swapped objects", 2)):
        assert f"<dt>{name}</dt><dd>{n}</dd>" in fragment
    assert "<dt>Total requests</dt><dd>13</dd>" in fragment
    assert "would be enough" not in fragment
    group = first_prompts(lab.study, PROMPTS, lab.researcher)[1]
    fragment = words(client.post(estimate, post(lab, prompt=group.pk)))
    assert "<dt>Requests for sheets</dt><dd>24</dd>" in fragment
    assert "<dt>With swapped objects</dt><dd>6</dd>" in fragment
    fragment = words(client.post(estimate, post(lab, max_tokens="300")))
    assert "about 1,200 tokens would be enough" in fragment


@pytest.mark.parametrize(
    ("changed", "complaint"),
    first(
        4,
        [
            ({"choice": "sample"}, "Enter the sample size."),
            ({"choice": "round"}, "Choose a round."),
            ({"choice": "answers"}, "Enter the ID of at least one answer."),
            (
                {"choice": "answers", "answers": "x"},
                "Some of these IDs do not belong to answers in the study.",
            ),
            ({"shots": "2"}, "No examples are available"),
            ({"canaries": "1"}, "greater than or equal to 3"),
            ({"canaries": "0"}, "greater than or equal to 3"),
            ({"shots": "3"}, "not one of the available choices"),
            ({"systems": "theirs"}, "not one of the available choices"),
        ],
    ),
)
def test_what_does_not_fit_is_an_error_of_the_form(lab, changed, complaint):
    if "systems" in changed:
        theirs = make_scored_answers(make_study("Study B"))[0]
        changed = {"systems": [theirs.system.pk]}
    form = ScoringRunForm(post(lab, **changed), study=lab.study, actor=lab.researcher)
    assert complaint in str(form.errors)


@pytest.mark.long
def test_examples_are_chosen_or_drawn_and_held_out(lab, client):
    make_sheets(lab.study, lab.answers, [make_rater(lab.study, "Person")])
    estimate = reverse("scoring_run_estimate", args=[lab.study.public_id])
    fragment = words(client.post(estimate, post(lab, shots="2")))
    assert "4 answers are left out because of the examples." in fragment
    sheet = lab.answers[0].score_sheets.get()
    chosen = post(lab, shots="1", example1=f"sheet:{sheet.public_id}", preflight="off")
    start = reverse("scoring_run_new", args=[lab.study.public_id])
    asked = client.post(start, chosen)
    client.post(start, chosen | {"agreed": asked.context["agreement"]})
    run = lab.study.runs.get()
    assert run.scoring.examples == [lab.answers[0].pk]


@pytest.mark.long
def test_an_untrusted_run_says_so_everywhere(lab, client, django_assert_max_num_queries):
    run = lab.run(obedient)
    sid = lab.study.public_id
    shown = words(client.get(reverse("run", args=[sid, run.public_id])))
    assert "Obeyed planted instructions" in shown
    assert "left out of all leaderboards" in shown
    assert "Planted result" in shown
    address = reverse("scoring_run_probes", args=[sid, run.public_id])
    assert client.get(address).context["page"].paginator.count == 11
    assert client.get(address + "?probe=canary").context["page"].paginator.count == 3
    assert b"Planted result" in client.get(address + "?format=csv").content
    lab.run(seed=2, reuse=False)
    lab.run(seed=3, reuse=False)
    with django_assert_max_num_queries(12):
        listed = words(client.get(reverse("scoring_runs", args=[sid])))
    assert "Obeyed planted instructions" in listed
    trusted = client.get(reverse("scoring_runs", args=[sid]) + "?trust=trusted")
    assert trusted.context["page"].paginator.count == 2


@pytest.mark.long
def test_sheets_of_a_run(lab, client):
    def answer(request):
        if '"Which is better: kayak 0' in str(request.messages):
            return "no idea"
        return fair(request).replace("Because of C7.", "<script>alert(7)</script>")

    run = lab.run(answer)
    address = reverse("scoring_run_sheets", args=[lab.study.public_id, run.public_id])
    for query, n in (
        ("", 8),
        ("?outcome=scored", 6),
        ("?outcome=unscored", 2),
        ("?reason=no_json", 2),
        ("?reason=empty", 0),
    ):
        shown = client.get(address + query)
        assert shown.context["page"].paginator.count == n, query
    assert "&lt;script&gt;alert(7)" in client.get(address).text
    assert "<script>alert" not in client.get(address).text
    other = make_run(make_label_round(lab.study), lab.endpoint, lab.researcher)
    for name in ("scoring_run_sheets", "scoring_run_probes"):
        none = reverse(name, args=[lab.study.public_id, other.public_id])
        assert client.get(none).status_code == 404
    rows = list(
        csv.reader(io.StringIO(client.get(address + "?format=csv").content.decode("utf-8-sig")))
    )
    assert len(rows) == 9
    assert rows[0][-1] == "C15"
    run_page = words(client.get(reverse("run", args=[lab.study.public_id, run.public_id])))
    assert "The reply contained no JSON object." in run_page


@pytest.mark.long
def test_pages_take_few_queries(lab, client, django_assert_max_num_queries):
    run = lab.run(replicates=2, params={"temperature": 1, "max_tokens": 900})
    for name, most in (("scoring_run_sheets", 14), ("scoring_run_probes", 16), ("run", 40)):
        with django_assert_max_num_queries(most):
            client.get(reverse(name, args=[lab.study.public_id, run.public_id]))


@pytest.fixture
def probe(study):
    """Four answers of two systems, those of one of them from useless arguments."""
    made = make_scored_answers(study, questions=2, systems=("Alpha", "Beta"), scenarios=(4,))
    found = condition(study, scenario=4, filters={"relevance": "0-1"})
    Answer.objects.filter(pk__in=[each.pk for each in made if each.system.name == "Beta"]).update(
        condition=found
    )
    return found


def taken(made) -> set:
    return set(made.items.values_list("answer__condition__is_plain", flat=True))


def test_a_round_takes_plain_answers_or_the_conditions_that_it_is_asked_for(
    study, researcher, probe
):
    made = make_round(study, researcher)
    assert taken(made) == {True}
    assert (made.recipe["found"], made.recipe["other_conditions"]) == (2, 2)
    made = make_round(study, researcher, name="Asked", conditions=(str(probe.public_id),))
    assert taken(made) == {False}
    assert made.recipe["condition_names"] == ["Scenario 4 · labels 0–1"]
    assert taken(make_round(study, researcher, name="Both", conditions=("all",))) == {True, False}
    Answer.objects.update(system=study.systems.get(name="Alpha"))
    made = make_round(study, researcher, name="Balanced", conditions=("all",), size=2)
    assert taken(made) == {True, False}


def test_judges_score_what_was_named_and_else_plain_answers(study, researcher, probe):
    made = make_round(study, researcher, conditions=("all",))
    named = study.answers.values_list("public_id", flat=True)
    for choice, conditions, plain, others in (
        ("all", (), {True}, 2),
        ("all", ("all",), {True, False}, 0),
        ("round", (), {True, False}, 0),
        ("answers", (), {True, False}, 0),
    ):
        about = {"choice": choice, "conditions": conditions, "scoring_round": made.public_id}
        chosen = named if choice == "answers" else ()
        target = target_of(default_rubric(study), **about, answers=chosen)
        found = chosen_answers(study, target).values_list("condition__is_plain", flat=True)
        assert set(found) == plain, choice
        assert count_other_conditions(study, target) == others, choice
    # A target from before there were conditions asks what it asked.
    target = target_of(default_rubric(study))
    del target["conditions"]
    assert chosen_answers(study, target).count() == 4


WHOLE = dict.fromkeys(KEYS, 1)


# One reply for each reading; the reader is tried with all of them.
CORPUS = {reading: reply for reading, reply in REPLIES if reading != "valid"}
USABLE = {
    "numbers for keys": json.dumps({str(number): 1 for number in range(1, 16)}),
    "prose around": f"Here you are:\n```json\n{json.dumps(WHOLE)}\n```\nAll the best.",
}


def build():
    """An answer for each reading, some that are answered well, and a run over all."""
    lab = Lab()
    lab.answers += make_scored_answers(lab.study, systems=("Gamma",), questions=10)
    lab.wrong, lab.usable, answer = script_of(lab)
    lab.done = lab.run(answer, target={"swap": 0})
    return lab


tried = built_once(build)


def script_of(lab):
    """(answer → reading, answer → usable reply, the judge that replies so)."""
    wrong = {answer.text: name for answer, name in zip(lab.answers, CORPUS, strict=False)}
    texts = [answer.text for answer in lab.answers]
    usable = dict(zip(texts[len(CORPUS) :], USABLE, strict=False))

    def answer(request):
        shown = text_of(request)
        if shown in wrong:
            return CORPUS[wrong[shown]]
        return USABLE[usable[shown]] if shown in usable else fair(request)

    return wrong, usable, answer


def test_malformed_judgements_are_unscored_with_their_reason_and_in_no_mean(tried):
    lab, run = tried, tried.done
    found = {sheet.answer.text: sheet for sheet in run.score_sheets.select_related("answer")}
    assert len(found) == 18
    for text, reading in lab.wrong.items():
        sheet = found[text]
        assert (sheet.state, sheet.reason) == ("unscored", reading)
        assert (sheet.total, sheet.points) == (None, {}), reading
        # A cut reply is asked for once more with twice the limit, a refusal not, others once
        # at temperature 0.
        tries = {"refused": 1}.get(reading, 2)
        assert sheet.call.format_tries == tries, reading
    for text, name in lab.usable.items():
        assert found[text].total == 15, name
    assert list(find_violations()) == []
    table = sheet_table(counted_sheets(lab.rubric), lab.rubric.rubric)
    unscored = table[table["state"] == "unscored"]
    assert len(unscored) == len(lab.wrong)
    assert unscored["total"].isna().all()
    assert unscored[list(KEYS)].isna().all(axis=None)
    assert len(table["total"].dropna()) == 6
    page = sign_in(lab.researcher).get(reverse("run", args=[lab.study.public_id, run.public_id]))
    counts = page.context["sheets"]
    assert (counts.scored, counts.unscored, counts.reasons["out_of_range"]) == (6, 12, 1)
    for reading in set(JudgementState) - {JudgementState.VALID}:
        assert (str(REASONS[reading.value]) in page.text) == (reading in counts.reasons)
