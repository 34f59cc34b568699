"""The released answers, imported as a lab would: every file, every count, and twice."""

import json
from collections import defaultdict

import pytest

from annotation.answers.models.answers import Answer
from annotation.corpus.models.questions import ArgumentList, ListedArgument
from annotation.management.throwaway import throwaway_database
from cqa_site.files.actions.reading import import_path
from cqa_site.people.models import Study
from tests.annotation.released import FOLDER, SILVER_50, SILVER_112

RAW = FOLDER.parent / "compqa" / "raw_summaries"
FILES = sorted(RAW.glob("*.json"))
IS_ABSENT = not (SILVER_112.exists() and SILVER_50.exists() and FILES)
pytestmark = [
    pytest.mark.reference,
    pytest.mark.skipif(IS_ABSENT, reason="released data absent"),
]


def take(study, kind, path, *, write=True, **options):
    return import_path(
        study=study, kind=kind, path=path, name=path.name, options=options, write=write
    )


@pytest.fixture(scope="module")
def database(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), throwaway_database():
        yield


@pytest.fixture(scope="module")
def silver(database):
    study = Study.objects.create(name="relevance")
    first = take(study, "silver", SILVER_112)
    part = take(study, "silver", SILVER_50)
    again = [take(study, "silver", SILVER_112), take(study, "silver", SILVER_50)]
    return study, first, part, again


def test_silver_has_112_questions_with_3_answers(silver):
    study, first, _part, _again = silver
    assert first.counts["answers"]["new"] == study.answers.count() == 336
    assert study.questions.count() == 112
    assert set(study.answers.values_list("scenario", "system__name")) == {(4, "gpt-3.5-turbo")}
    # 21 of the comparisons were released without arguments.
    assert ArgumentList.objects.filter(question__study=study).count() == 91
    listed = ListedArgument.objects.filter(argument_list__question__study=study)
    assert listed.count() == 828
    assert study.answers.filter(argument_list=None).count() == 63


def test_the_50_are_part_of_the_112(silver):
    _study, _first, part, again = silver
    assert part.counts["answers"] == {"new": 0, "same": 150, "changed": 0, "rejected": 0}
    assert "150 answers are here already, from silver_112x3.json." in part.notes
    assert [(outcome.added, outcome.changed) for outcome in again] == [(0, 0), (0, 0)]


def test_edited_answers_find_the_arguments_of_the_silver_ones(silver, tmp_path):
    """The gold file itself is not at hand: its texts are, in CompQA's file of human answers."""
    study = silver[0]
    texts = defaultdict(list)
    for record in json.loads((RAW / "human.json").read_text()):
        key = (record["object1"], record["object2"], record["aspect"])
        texts[key].append(record["comparison"])
    spelt = {
        (row.comparison.object1.lower(), row.comparison.object2.lower(), row.aspect): row
        for row in study.questions.select_related("comparison")
    }
    gold = []
    for (one, two, aspect), found in texts.items():
        question = spelt[one.lower(), two.lower(), aspect or ""]
        gold.append(
            {
                "object1": question.comparison.object1,
                "object2": question.comparison.object2,
                "aspect": aspect,
                "question": None,
                "comparison": found,
            }
        )
    path = tmp_path / "gold.json"
    path.write_text(json.dumps(gold))
    outcome = take(study, "gold", path)
    assert outcome.counts["answers"] == {"new": 80, "same": 0, "changed": 0, "rejected": 0}
    assert outcome.counts["questions"] == {"new": 0, "same": 50, "changed": 0, "rejected": 0}
    edited = Answer.objects.filter(study=study, source="gold.json")
    assert edited.exclude(argument_list=None).count() == 80
    assert take(study, "gold", path).added == 0
