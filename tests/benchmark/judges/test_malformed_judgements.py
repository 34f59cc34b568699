"""Replies that are no judgement: classified, asked again, unscored, in no mean, and counted."""

import json

import pytest
from django.urls import reverse

from benchmark.judges.methods.judgement_keys import Reading
from benchmark.scoring.reports.sheet_rows import counted_sheets, sheet_table
from cqa_site.runs.integrity import find_violations
from cqa_site.runs.words import REASONS
from tests.cast import sign_in
from tests.worlds import built_once

from ..made_judges import KEYS, fair, text_of
from ..made_scores import make_scored_answers
from .test_scoring_judge import Lab

pytestmark = pytest.mark.django_db

WHOLE = dict.fromkeys(KEYS, 1)


def numbered(start):
    return {str(number): 1 for number in range(start, start + 15)}


CORPUS = {
    "renumbered": (json.dumps(numbered(16)), Reading.RENUMBERED),
    "fourteen keys": (json.dumps(dict.fromkeys(KEYS[:-1], 1)), Reading.MISSING_KEYS),
    "sixteen keys": (json.dumps(WHOLE | {"C16": 1}), Reading.EXTRA_KEYS),
    "a number as text": (json.dumps(WHOLE | {"C3": "1.0"}), Reading.NOT_A_WHOLE_NUMBER),
    "half a point": (json.dumps(WHOLE | {"C9": 0.5}), Reading.NOT_A_WHOLE_NUMBER),
    "two of one": (json.dumps(WHOLE | {"C1": 2}), Reading.OUT_OF_RANGE),
    "less than none": (json.dumps(WHOLE | {"C1": -1}), Reading.OUT_OF_RANGE),
    "prose": ("It is a fine answer, 15 of 19.", Reading.NO_JSON),
    "cut short": (json.dumps(WHOLE)[:-20], Reading.TRUNCATED),
    "nothing": ("", Reading.EMPTY),
    "an empty object": ("{}", Reading.EMPTY),
    "a key twice": ('{"C1": 1, ' + json.dumps(WHOLE)[1:], Reading.DUPLICATE_KEYS),
    "two answers": (json.dumps(WHOLE) + json.dumps(WHOLE | {"C1": 0}), Reading.AMBIGUOUS),
    "a list": (json.dumps([1] * 15), Reading.NOT_SCHEMA),
}
USABLE = {
    "numbers for keys": json.dumps(numbered(1)),
    "prose around": f"Here you are:\n```json\n{json.dumps(WHOLE)}\n```\nAll the best.",
}


def build():
    """One answer for each text of the corpus, some that are answered well, and a run over all."""
    lab = Lab()
    lab.answers += make_scored_answers(lab.study, systems=("Gamma",), questions=10)
    lab.wrong, lab.usable, answer = script_of(lab)
    lab.done = lab.run(answer, target={"swap": 0})
    return lab


lab = built_once(build)


def script_of(lab):
    """(answer → text of the corpus, the judge that replies so)."""
    wrong = {answer.text: name for answer, name in zip(lab.answers, CORPUS, strict=False)}
    texts = [answer.text for answer in lab.answers]
    usable = dict(zip(texts[len(CORPUS) :], USABLE, strict=False))

    def answer(request):
        shown = text_of(request)
        if shown in wrong:
            return CORPUS[wrong[shown]][0]
        return USABLE[usable[shown]] if shown in usable else fair(request)

    return wrong, usable, answer


def test_malformed_judgements_are_unscored_with_their_reason_and_in_no_mean(lab):
    run = lab.done
    found = {sheet.answer.text: sheet for sheet in run.score_sheets.select_related("answer")}
    assert len(found) == 18
    for text, name in lab.wrong.items():
        sheet = found[text]
        assert (sheet.state, sheet.reason) == ("unscored", CORPUS[name][1].value), name
        assert (sheet.total, sheet.points) == (None, {}), name
        # A cut reply is asked for once more with twice the limit, any other one twice more.
        assert sheet.call.format_tries == (2 if name == "cut short" else 3), name
    for text, name in lab.usable.items():
        assert found[text].total == 15, name
    assert list(find_violations()) == []
    table = sheet_table(counted_sheets(lab.rubric), lab.rubric.rubric)
    unscored = table[table["state"] == "unscored"]
    assert len(unscored) == len(lab.wrong)
    assert unscored["total"].isna().all()
    assert unscored[list(KEYS)].isna().all(axis=None)
    assert len(table["total"].dropna()) == 4
    page = sign_in(lab.researcher).get(reverse("run", args=[lab.study.public_id, run.public_id]))
    counts = page.context["sheets"]
    assert (counts.scored, counts.unscored, counts.reasons["out_of_range"]) == (4, 14, 2)
    for reading in set(Reading) - {Reading.VALID}:
        assert (str(REASONS[reading.value]) in page.text) == (reading in counts.reasons)
