"""Agreement of the released judge with people through the report that the site computes."""

import pandas as pd
import pytest

from benchmark.agreement.methods.agreement import agreement
from benchmark.agreement.methods.grid import PEOPLE
from benchmark.imports.methods.human_scores import link_by_letters, read_human_scores
from benchmark.imports.methods.score_files import read_judged_file
from benchmark.rubrics.methods.compqa_rubric import COMPQA
from benchmark.scoring.methods import length_points, sentence_places
from cqa_site.stats.estimate import to_json
from tests.golden.places import COMPQA as FOLDER
from tests.golden.places import needs

HUMAN = FOLDER / "human" / "human_evaluation_367.tsv"
JUDGED = FOLDER / "judged_gpt4"
pytestmark = [*needs(HUMAN, JUDGED), pytest.mark.long]


@pytest.fixture(scope="module")
def found():
    """Each of the 367 linked rows as an answer, as the known figures count them."""
    files = [read_judged_file(path, COMPQA) for path in sorted(JUDGED.glob("*.json"))]
    judged = {
        (file.system, file.scenario, each.answer.position): each
        for file in files
        for each in file.answers
    }
    answers = {
        (file.system, file.scenario): [each.answer for each in file.answers] for file in files
    }
    rows, counted = [], {}
    for number, link in enumerate(
        link_by_letters(read_human_scores(HUMAN, COMPQA), answers).links
    ):
        score, answer = link.score, link.answer
        question = f"{answer.object1} / {answer.object2} / {answer.aspect or ''}"
        about = {"answer": number, "question": question, "characters": len(answer.text)}
        about |= {"system": score.system, "scenario": score.scenario}
        about["aspect"] = answer.aspect or ""
        judge = judged[score.system, score.scenario, answer.position].paper_points(COMPQA)
        rows.append(about | judge | {"rater_id": "gpt-4o", "rater_kind": "model"})
        rows.append(about | score.points | {"rater_id": "h", "rater_kind": "reference"})
        counted[number] = float(length_points(len(sentence_places(answer.text))))
    return to_json(agreement(_with_totals(pd.DataFrame(rows)), COMPQA, counted=counted))


def _with_totals(table):
    sums = {"total": COMPQA.keys} | {
        group.key: [each.key for each in COMPQA.of_group(group.key)] for group in COMPQA.groups
    }
    made = {
        name: table[list(keys)].astype(float).sum(axis=1, skipna=False)
        for name, keys in sums.items()
    }
    fixed = {"system_kind": "imported", "model": "", "replicate": 0, "state": "submitted"}
    return table.assign(rater_name=table["rater_id"], **fixed, **made)


@pytest.fixture(scope="module")
def pair(found):
    (only,) = found["pairs"]
    assert (only["first"], only["second"]) == ("gpt-4o", PEOPLE)
    return only


def test_totals(found, pair):
    total = pair["columns"]["total"]
    assert total["n"] == 367
    for name, value, off in (
        ("alpha_interval", 0.394, 0.0005),
        ("pearson", 0.549, 0.0005),
        ("spearman", 0.432, 0.002),
        ("bias", 1.93, 0.005),
    ):
        assert total[name]["value"] == pytest.approx(value, abs=off), name
    assert total["leniency"]["low"] > 0.05
    # Counting sentences beats the judge.
    code = found["by_code"]["raters"][PEOPLE]
    judge = pair["columns"]["C15"]
    assert code["exact"] == pytest.approx(279 / 367, abs=1e-6)
    assert code["alpha_interval"]["value"] > judge["alpha_interval"]["value"] + 0.3
    assert abs(code["leniency"]["value"]) < abs(judge["leniency"]["value"])


def test_what_the_release_can_tell_about_replacing_people(found):
    total = found["verdict"]["gpt-4o"]["total"]
    assert total["result"] == "no"
    results = {name: each["result"] for name, each in total["rules"].items()}
    assert results["bias"] == "no"
    # One consolidated sheet an answer: no second person to compare with, no replicates.
    assert results["alternative"] == results["agreement"] == "not_shown"
    assert results["consistency"] == "not_shown"
    assert total["rules"]["alternative"]["missing"]["people"] == 2
