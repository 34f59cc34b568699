"""Replies that are no judgement: classified, asked again, unscored, in no mean, and counted."""

import json

import pytest
from django.urls import reverse

from benchmark.judges.methods.judgements import JudgementState
from benchmark.scoring.reports.sheets import counted_sheets, sheet_table
from cqa_site.runs.integrity import find_violations
from cqa_site.runs.progress import REASONS
from tests.cast import sign_in
from tests.worlds import built_once

from ..made_judges import KEYS, fair, text_of
from ..made_scores import make_scored_answers
from .methods.test_judgement_reading import CORPUS as REPLIES
from .test_scoring_judge import Lab

pytestmark = pytest.mark.django_db

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


lab = built_once(build)


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


def test_malformed_judgements_are_unscored_with_their_reason_and_in_no_mean(lab):
    run = lab.done
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
