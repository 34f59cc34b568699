"""From silver to gold to score: what experts submitted is scored like any other answer."""

import io

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.answers.actions import mark_learned
from annotation.answers.models import Answer, System
from annotation.answers.reports import visible_answers
from annotation.editing.actions.rounds import make_expert_answers
from annotation.editing.models import EditingRound
from annotation.faithfulness.actions.figures import request_figures
from annotation.generation.actions.answer_runs import condition
from benchmark.judges.actions.targets import chosen_answers, count_learned, target_of
from benchmark.leaderboard.actions import BOARDS
from benchmark.leaderboard.reports.snapshot import board_marker
from benchmark.rubrics.models import default_rubric
from benchmark.scoring.models import ScoreSheet
from benchmark.scoring.reports.export import export_rows, export_types
from benchmark.scoring.reports.sheets import count_learned_sheets, counted_sheets
from cqa_site.people.models import Role
from cqa_site.rounds.lifecycle import close_round, find_violations
from cqa_site.runs import jobs
from tests.annotation.editing_cast import hand_in, make_answers, make_round, sheets_of
from tests.annotation.made_answers import make_answer, make_question, make_system
from tests.benchmark.made_scores import make_rater, make_scored_answers, make_sheets
from tests.cast import make_member, make_study, sign_in
from tests.runs.made_runs import make_endpoint
from tests.worlds import built_once
from ..made_judges import make_scoring_run
from ..made_rounds import make_round as make_scoring_round
from .made_scoring import begin, submit as submit_sheet


class Lab:
    """An open round whose two experts submitted a calibration answer and one of their own."""

    def __init__(self):
        self.study = make_study()
        self.boss = make_member(self.study, Role.RESEARCHER)
        make_answers(self.study)
        self.round = edited(self.study)


lab = built_once(Lab)


def edit(sheet, text, key="first"):
    sheet.refresh_from_db()
    return hand_in(sheet, text, sheet.version, key)


def edited(study, **fields):
    """An open round of two experts, each with one calibration answer and one of their own."""
    made = make_round(study, **fields)
    for sheet in sheets_of(made):
        edit(sheet, f"Tea, says {sheet.rater.user.pk} [1].")
    return made


def golds(study):
    return study.answers.filter(revision__isnull=False).order_by("pk")


@pytest.mark.long
def test_silver_becomes_gold_becomes_scored(lab):
    close_round(round_=lab.round, actor=lab.boss)
    system = System.objects.get(name="Experts")
    assert system.kind == System.Kind.HUMAN
    made = list(golds(lab.study).select_related("revision__sheet__answer__argument_list"))
    assert len(made) == 4
    for answer in made:
        before = answer.revision.sheet.answer
        assert answer.text == answer.revision.text != before.text
        assert (answer.system, answer.question) == (system, before.question)
        assert answer.argument_list == before.argument_list
        assert (answer.scenario, answer.condition.is_plain) == (0, True)
    twice = [answer for answer in made if answer.revision.sheet.is_calibration]
    assert sorted(answer.choice for answer in twice) == [1, 2]

    scored = make_scoring_round(lab.study, lab.boss, systems=(system,), overlap_share=1.0)
    client = sign_in(make_member(lab.study, Role.ANNOTATOR))
    for _turn in made:
        sheet = begin(client, lab.study, scored)
        page = client.get(reverse("score_sheet", args=[lab.study.public_id, sheet.public_id]))
        assert "Experts" not in page.text
        assert submit_sheet(client, lab.study, sheet).status_code == 200
    target = {"choice": "round", "scoring_round": scored.public_id, "canaries": 3, "swap": 0}
    run = make_scoring_run(lab.study, make_endpoint(lab.study, lab.boss), lab.boss, target=target)
    assert run.state == "done"

    sheets = counted_sheets(scored.rubric).filter(answer__system=system)
    assert sheets.filter(rater__kind="person").count() == 4
    assert set(sheets.filter(run=run).values_list("answer", flat=True)) == {
        answer.pk for answer in made
    }
    names = list(export_types(scored.rubric.rubric, with_texts=False))
    rows = export_rows(scored.rubric, only_counted=True, with_texts=False)
    lineage = {row[names.index("answer")]: row[names.index("edited_from")] for row in rows}
    assert lineage == {
        str(answer.public_id): str(answer.revision.sheet.answer.public_id) for answer in made
    }
    assert list(find_violations()) == []


def test_a_round_made_so_leaves_it_to_a_click(lab):
    EditingRound.objects.update(makes_answers=False)
    close_round(round_=lab.round, actor=lab.boss)
    assert not golds(lab.study).exists()
    client = sign_in(lab.boss)
    place = [lab.study.public_id, lab.round.public_id]
    page = client.get(reverse("editing_round", args=place)).text
    assert "4 submitted texts are not answers yet" in page
    client.post(reverse("editing_round_answers", args=place))
    assert golds(lab.study).count() == 4
    page = client.get(reverse("editing_round", args=place)).text
    assert "4 submitted texts are now expert answers" in page
    # The way on leads to a round that has them chosen.
    address = f"{reverse('scoring_round_new', args=[lab.study.public_id])}?systems="
    experts = golds(lab.study).first().system
    assert f'href="{address}{experts.public_id}"' in page
    form = client.get(f"{address}{experts.public_id}").context["form"]
    chosen = [each.data for each in form["systems"] if each.data["selected"]]
    assert [str(each["value"]) for each in chosen] == [str(experts.public_id)]
    assert client.get(f"{address}nobody").status_code == 200


def test_the_papers_table_has_what_experts_wrote_once(lab):
    make_expert_answers(editing_round=lab.round, actor=lab.boss)
    request_figures(study=lab.study, embedding="")
    jobs.drain()
    out = io.StringIO()
    call_command("reproduce", "relevance", "--study", lab.study.name, stdout=out)
    rows = out.getvalue().splitlines()
    assert len([line for line in rows if "edited by experts" in line]) == 1
    assert not [line for line in rows if line.startswith("Experts")]


def test_a_newer_revision_is_a_newer_answer_and_the_scored_one_stays(lab):
    make_expert_answers(editing_round=lab.round, actor=lab.boss)
    before = {answer.pk: answer.text for answer in golds(lab.study)}
    sheet = sheets_of(lab.round)[0]
    edit(sheet, "Coffee after all [2].", "second")
    assert make_expert_answers(editing_round=lab.round, actor=lab.boss) == 1
    assert dict(golds(lab.study).filter(pk__in=before).values_list("pk", "text")) == before
    newest = golds(lab.study).last()
    assert (newest.text, newest.revision.number) == ("Coffee after all [2].", 2)
    scored = make_scoring_round(lab.study, lab.boss, systems=(newest.system,))
    taken = set(scored.items.values_list("answer", flat=True))
    assert newest.pk in taken
    assert len(taken) == 4


def test_a_system_of_that_name_is_left_alone_and_a_renamed_one_is_found_again(lab):
    theirs = make_system(lab.study, "Experts", kind="imported")
    make_expert_answers(editing_round=lab.round, actor=lab.boss)
    ours = golds(lab.study).first().system
    assert (ours.name, theirs.answers.count()) == ("Experts · 2", 0)
    System.objects.filter(pk=ours.pk).update(name="Human")
    more = edited(lab.study, leave="answers")
    make_expert_answers(editing_round=more, actor=lab.boss)
    assert golds(lab.study).count() == 8
    assert set(golds(lab.study).values_list("system", flat=True)) == {ours.pk}


def test_what_was_special_about_the_silver_answer_stays_with_the_gold_one(lab):
    probe = condition(lab.study, scenario=4, filters={"relevance": "0-1", "favoured": "any"})
    Answer.objects.update(condition=probe)
    make_expert_answers(editing_round=lab.round, actor=lab.boss)
    (found,) = {answer.condition for answer in golds(lab.study)}
    assert (str(found), found.is_plain) == ("No scenario · labels 0–1", False)


def test_experts_neither_see_nor_edit_what_experts_made_and_a_changed_text_is_found(lab):
    make_expert_answers(editing_round=lab.round, actor=lab.boss)
    assert not visible_answers(lab.study, is_blind=True).filter(revision__isnull=False).exists()
    again = make_round(lab.study, leave="nothing", calibration=1)
    assert all(sheet.answer.revision_id is None for sheet in sheets_of(again))
    assert again.recipe["found"] == 6
    gold = golds(lab.study).first()
    Answer.objects.filter(pk=gold.pk).update(text_sha256="0" * 64)
    assert f"answer {gold.pk} does not match its revision" in list(find_violations())
    assert not ScoreSheet.objects.exists()
    assert make_answer(make_question(lab.study)).revision is None


@pytest.mark.long
def test_sheets_of_learned_questions_count_on_no_board(study):
    answers = make_scored_answers(study)
    make_sheets(study, answers, [make_rater(study, "Judge", "model")])
    rubric = study.rubric_versions.get()
    before = board_marker(rubric)
    assert counted_sheets(rubric).count() == 8
    alpha = System.objects.get(study=study, name="Alpha")
    learned = list(study.questions.all()[:3])
    mark_learned(
        system=alpha, questions=[question.public_id for question in learned], source="", actor=None
    )
    counted = counted_sheets(rubric)
    assert (counted.count(), count_learned_sheets(rubric)) == (5, 3)
    assert not counted.filter(answer__system=alpha, answer__question__in=learned).exists()
    assert board_marker(rubric) != before
    assert BOARDS.compute(rubric).recipe["learned_sheets"] == 3
    target = target_of(rubric)
    assert chosen_answers(study, target).count() == 5
    assert count_learned(study, target) == 3


@pytest.mark.long
def test_a_system_that_asks_for_the_same_model_has_learned_it_too(study):
    make_scored_answers(study, questions=2)
    System.objects.filter(study=study).update(model="adapter")
    other = System.objects.create(study=study, name="Tuned", model="adapter")
    mark_learned(
        system=other, questions=[study.questions.first().public_id], source="", actor=None
    )
    rubric = default_rubric(study)
    assert chosen_answers(study, target_of(rubric)).count() == 2
