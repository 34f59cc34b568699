"""`manage.py reproduce compqa --study`: the paper's tables from a study's own sheets."""

import io
import json
import statistics
from itertools import product

import pytest
from django.core.management import CommandError, call_command

from annotation.answers.models import Answer
from annotation.corpus.models import Argument
from annotation.generation.actions.answer_runs import condition
from benchmark.leaderboard.actions import BOARDS
from benchmark.scoring.models import ScoreSheet
from cqa_site.people.models import Rater, Study
from tests.benchmark.made_scores import make_rater, make_scored_answers, make_sheets
from tests.worlds import built_once

pytestmark = pytest.mark.django_db


def run(study, *args) -> str:
    out = io.StringIO()
    asked = ("reproduce", "compqa", "--study", str(study.public_id), *args)
    call_command(*asked, stdout=out)
    return out.getvalue()


def make_scored():
    """Two systems, two scenarios, a judge asked twice and two people."""
    study = Study.objects.create(name="Boats")
    answers = make_scored_answers(study, scenarios=(1, 2), aspect="speed")
    judge = make_rater(study, "Judge & Co", Rater.Kind.MODEL)
    people = [make_rater(study, name) for name in ("one", "two")]
    make_sheets(study, answers, [judge], replicates=2)
    make_sheets(study, answers, people, seed=2)
    comparison = study.comparisons.first()
    for number in range(3):
        Argument.objects.create(study=study, comparison=comparison, text=f"Fast {number}.")
    return study


scored = built_once(make_scored)


def totals(study, kind, system, scenario):
    """Of every sheet of a rater kind."""
    sheets = ScoreSheet.objects.filter(
        study=study, rater__kind=kind, answer__system__name=system, answer__scenario=scenario
    )
    return [sheet.total for sheet in sheets]


@pytest.mark.long
def test_cells_are_means_of_the_sheets_and_judges_of_one_name_are_told_apart(scored):
    board = BOARDS.compute(scored.rubric_versions.get()).figures["board"]
    names = [each["name"] for each in board["systems"]]
    shown = {
        (each["judge"] == "people", names[each["system"]], each["scenario"]): each
        for each in board["paper"]["cells"]
    }
    figures = {(each["table"], each["cell"]): each for each in json.loads(run(scored, "--json"))}
    raters = {Rater.Kind.MODEL: "Judge & Co", Rater.Kind.PERSON: "people"}
    for (kind, name), scenario in product(raters.items(), (1, 2)):
        values = totals(scored, kind, "Alpha", scenario)
        figure = figures["table 5", f"Alpha, scenario {scenario}, by {name}"]
        expected = [statistics.mean(values), statistics.stdev(values)]
        assert figure["ours"] == {"numbers": pytest.approx(expected), "n": 8}
        cell = shown[kind == Rater.Kind.PERSON, "Alpha", scenario]
        assert [cell["mean"], cell["sd"], cell["n"]] == pytest.approx([*expected, 8])
        status = (figure["printed"], figure["released"], figure["status"])
        assert status == ("", None, "no published value")
    answers = list(scored.answers.all())
    twin = Rater.objects.create(
        study=scored, kind=Rater.Kind.MODEL, external_id="twin", name="Judge & Co"
    )
    make_sheets(scored, answers, [twin], seed=5)
    heads = run(scored, "--table", "compqa-3").splitlines()[2]
    assert heads.count("Judge & Co (") == 2
    assert str(twin.public_id)[:8] in heads


def test_a_cell_is_about_one_condition_as_on_the_leaderboard(scored):
    """Answers from filtered arguments do not move the cell of the plain ones."""
    before = run(scored, "--table", "compqa-5")
    probe = condition(scored, scenario=1, filters={"relevance": "0-1"})
    answers = make_scored_answers(scored, systems=("Alpha",), scenarios=(1,))
    Answer.objects.filter(pk__in=[each.pk for each in answers]).update(condition=probe)
    make_sheets(scored, answers, [make_rater(scored, "Judge & Co", Rater.Kind.MODEL)], seed=9)
    assert run(scored, "--table", "compqa-5") == before


def test_what_cannot_be_computed_is_said(study):
    with pytest.raises(CommandError, match=r"No answer of the study .* has been scored"):
        run(study)
    with pytest.raises(CommandError, match="There is no study 'Nowhere'"):
        call_command("reproduce", "compqa", "--study", "Nowhere")
    with pytest.raises(CommandError, match="--data or --study"):
        call_command("reproduce", "compqa", "--study", "x", "--data", "y")
    with pytest.raises(CommandError, match="“judge” has no tables of a study"):
        call_command("reproduce", "judge", "--study", study.name)
