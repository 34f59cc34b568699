"""One study with everything in it, for the tests that walk through all addresses.

`fill` makes its rows; what a walk alone needs (frozen boards, runs under way) it adds itself.
"""

from dataclasses import asdict
from datetime import timedelta
from types import SimpleNamespace

from django.utils import timezone

from annotation.consensus.actions import consensus, decisions
from annotation.consensus.models import Adoption
from annotation.editing.actions.rounds import add_comment
from annotation.exports import actions as exports
from annotation.figures.actions import LABEL_ROUNDS
from annotation.judges.models import JudgeLabel, TrainedJudge
from annotation.labelling.actions import serving, votes
from annotation.labelling.models import Exclusion, Item, LabelRound
from annotation.retrieval.actions.arguments import set_service
from argsum.analysis.actions.analyses import FOLLOW
from argsum.auditing.actions import AuditContent
from argsum.leaderboard.actions import KEY_POINTS
from argsum.leaderboard.reports.board import board_choice
from argsum.prose.actions.runs import CHECK
from argsum.prose.models import ProseSummary
from benchmark.leaderboard.actions import BOARDS
from benchmark.rubrics.models import default_rubric
from benchmark.scoring.actions import ScoreContent
from benchmark.scoring.models import ScoreSheet
from cqa_site.files.actions.exports import ExportOptions
from cqa_site.files.models import ImportBatch, ImportFile, ImportMatch, ImportProblem
from cqa_site.people.actions import create_invitation
from cqa_site.people.models import Rater, Role
from cqa_site.results import snapshots
from cqa_site.rounds.controls import set_control
from cqa_site.rounds.crowd.participants import PlatformIds, create_link, note_fault, take_part
from cqa_site.rounds.crowd.submissions import SubmissionRow, store_submissions
from cqa_site.rounds.drafts import DraftSubmission, submit_sheet
from cqa_site.rounds.lifecycle import close_round, open_round
from cqa_site.rounds.models import CrowdPayment
from cqa_site.rounds.onboarding.actions import grant_qualification
from cqa_site.rounds.queue import hold_slot, next_sheet, place_for
from cqa_site.runs import jobs
from cqa_site.runs.models import Job
from tests.annotation.editing_cast import hand_in as hand_in_edit, make_round, sheets_of
from tests.annotation.faithfulness.made_faithfulness import (
    compute,
    hand_in,
    make_closed_round,
    make_coherence,
)
from tests.annotation.made_answers import make_answer, make_list, make_question
from tests.annotation.made_generations import make_generation, make_launch
from tests.annotation.retrieval.made_retrieval import make_cam_request, make_corpus
from tests.annotation.voting import vote
from tests.argsum.analysis.made_comments import say, write_analysis
from tests.argsum.auditing.made_auditing import open_audit
from tests.argsum.coding.made_coding import (
    assignment_plan,
    assigns,
    list_of,
    proposal_plan,
    sign,
)
from tests.argsum.counting.made_counting import make_counting_run
from tests.argsum.made_cells import (
    duplicate_all,
    make_argsum,
    make_comments,
    make_dataset,
    make_learning_dataset,
    make_scorer,
    make_system_run,
)
from tests.argsum.prose.made_prose import plan_for as prose_plan, writes
from tests.argsum.surveys.made_surveys import make_survey
from tests.benchmark.made_judges import make_scoring_run
from tests.benchmark.made_rounds import make_round as make_scoring_round
from tests.benchmark.made_scores import make_scored_answers
from tests.benchmark.preferences.made_judges import make_preferring_run
from tests.benchmark.preferences.made_preferences import make_pairs_round
from tests.cast import make_label_round, make_member, make_study
from tests.rounds.onboarding.made_steps import make_version
from tests.runs.judging import answer_by_text
from tests.runs.made_runs import carry_run, make_endpoint, make_prompt, make_run

# Systems whose answers people and judges compare.
COMPARED = ("Alpha", "Beta", "Gamma")
# States in which a program may find a run.
UNDER_WAY = ("checked", "running", "paused")


def make_everything(name: str) -> SimpleNamespace:
    """A study of that name with one of everything, and a member of each role."""
    parts = (
        add_corpora, add_editing, add_faithfulness, add_generations, add_scores, add_summaries,
        add_preferences,
    )  # fmt: skip
    return add_all(make_much(name), *parts)


def make_much(name: str) -> SimpleNamespace:
    """A study with people, labels, files, answers and runs."""
    world = SimpleNamespace(study=make_study(name))
    return add_all(world, add_people, add_labels, add_files, add_answers, add_runs)


def add_all(world, *parts):
    """The world with all parts added."""
    for add in parts:
        add(world)
    return world


def add_people(world):
    """A member of each role, an open round and two drafts, an invitation and a crowd link."""
    study = world.study
    people = {str(role): make_member(study, role) for role in Role.values}
    # The first of the crowd is the annotator, who has begun a sheet of each kind.
    crowd = [people["annotator"], *(make_member(study, Role.ANNOTATOR) for _ in range(2))]
    world.people = SimpleNamespace(**people, crowd=crowd)
    world.member = world.people.annotator
    world.boss = world.people.researcher
    rules = {"fast": {"action": "warn", "window": 5, "threshold": 3.0}}
    world.label_round = make_label_round(study, ordinary=8, controls=2, rules=rules)
    open_round(round_=world.label_round, actor=world.boss)
    world.label_round.refresh_from_db()
    world.draft = make_label_round(study, name="Draft", ordinary=3, controls=1)
    world.spare = make_label_round(study, name="Spare", ordinary=1, controls=0)
    world.closed = make_label_round(study, name="Closed", ordinary=1, state="closed")
    world.training = world.draft
    world.invitation, _secret = create_invitation(
        study=study, role="expert", note="a colleague", days=3, actor=world.people.admin
    )
    world.crowd_link = let_in(world.label_round, world.people.admin)
    world.participant = world.crowd_link.participants.get().user
    add_onboarding(world)


def add_onboarding(world):
    """An onboarding that nobody has to pass, and somebody who is qualified for it."""
    version = make_version(world.study, world.boss)
    world.onboarding = version.onboarding
    rater = serving.rater_for(membership=world.study.memberships.get(user=world.member))
    world.qualification = grant_qualification(
        version=version, rater=rater, actor=world.boss, reason="Known"
    )
    world.label_round.step_results.create(
        rater=rater, version=version, step="consent", outcome="passed", answers={"agrees": True}
    )
    world.label_round.typed_texts.create(
        rater=rater, typed=9, pasted=8, inserted=7, pastes=6, typing_ms=5
    )
    world.label_round.survey_responses.create(
        rater=rater, version=version, answers={"q1": "PRIVATE-ANSWER-SURVEY"}
    )


def let_in(label_round, admin):
    """A crowd link by which one person came in."""
    link, _secret = create_link(
        round_=label_round,
        actor=admin,
        completed_code="DONE",
        screened_out_code="OUT",
        no_work_code="NONE",
        fault_code="FAULT",
        expires_at=timezone.now() + timedelta(days=1),
    )
    person = take_part(link=link, ids=PlatformIds("PLATFORM-ID"), browser="browser")
    note_fault(participant=person, comment="The keys do nothing")
    rows = [SubmissionRow("PRIVATE-SUBMISSION", "PRIVATE-PAYEE", "APPROVED", "PRIVATE-CODE")]
    store_submissions(link=link, rows=rows, actor=admin)
    CrowdPayment.objects.create(
        study=link.study,
        link=link,
        participant=person,
        submission="",
        payee="PLATFORM-ID",
        kind="bonus",
        amount="0.20",
        reason="2 items answered",
        confirmed_by=admin,
    )
    return link


def add_labels(world):
    """Votes, an expert's labels and last word, an adoption, a trained judge and their figures."""
    label_round = world.label_round
    label_some(label_round, world.people.crowd)
    consensus.recompute_final_labels(label_round)
    world.argument = label_round.items.filter(control_label=None).first().argument
    world.control = label_round.items.filter(control_label=3).first().argument
    expert = world.study.memberships.get(user=world.people.expert)
    world.expert_rater = serving.rater_for(membership=expert)
    decisions.adjudicate(
        label_round=label_round, argument=world.argument, rater=world.expert_rater, label=2
    )
    world.experts = label_as_expert(label_round, world.expert_rater)
    world.vote = label_round.assignments.filter(state="answered").first()
    world.rater = world.vote.rater
    # Of a round without labels, so that it decides nothing.
    world.exclusion = Exclusion.objects.create(label_round=label_round, below=0, rule="accuracy")
    world.adoption = Adoption.objects.create(
        label_round=label_round, source=world.draft, rater=world.expert_rater
    )
    world.trained_judge = train(label_round)
    world.snapshot = snapshots.refresh(LABEL_ROUNDS, label_round)


def label_some(label_round, people, per_person=6):
    """Some votes of each person, one after the other."""
    for number, user in enumerate(people):
        membership = label_round.study.memberships.get(user=user)
        place = serving.member_place(label_round=label_round, membership=membership)
        for turn in range(per_person):
            todo = serving.next_work(label_round=label_round, place=place).assignments
            if not todo:
                break
            given = votes.SubmittedLabel(
                client_key=f"{number}-{turn}", label=(number + turn) % 4, active_ms=900 + turn
            )
            votes.answer(rater=place.rater, assignment=todo[0], given=given)


def label_as_expert(label_round, rater, label=1):
    """An imported round in which one expert labelled the same sentences."""
    batch = LabelRound.objects.create(
        study=label_round.study, name="Experts", guideline=label_round.guideline, origin="imported"
    )
    for item in label_round.items.all():
        copied = Item(round=batch, argument=item.argument, external_id=item.external_id)
        copied.save()
        vote(copied, rater, label)
    return batch


def train(label_round):
    """A version of the trained judge with a label for each sentence, written directly."""
    rater = Rater.objects.create(study=label_round.study, kind="classifier", name="Trained judge")
    version = TrainedJudge.objects.create(
        label_round=label_round, rater=rater, number=1, figures=FIGURES_OF_NOTHING
    )
    JudgeLabel.objects.bulk_create(
        JudgeLabel(
            label_round=label_round, argument=item.argument, trained=version, label=1,
            is_out_of_fold=True,
        )
        for item in label_round.items.select_related("argument")
    )  # fmt: skip
    return version


UNDEFINED = {
    "statistic": "alpha", "recipe": "none", "value": None, "low": None, "high": None,
    "reason": "there are no ratings", "n_items": 0, "n_pairable_items": 0, "n_raters": 0,
    "n_values": 0,
}  # fmt: skip
FIGURES_OF_NOTHING = {
    "n": 0, "pairs": 0, "folds": 0, "predicted": 0, "per_label": [], "exact": None, "bias": None,
    "ordinal": UNDEFINED, "interval": UNDEFINED,
}  # fmt: skip


def add_files(world):
    """An export that is written, an import with a problem, and files of every kind."""
    study = world.study
    (world.export,) = exports.request_exports(
        label_round=world.label_round,
        snapshot=world.snapshot,
        contents=["votes"],
        format="csv",
        options=ExportOptions(),
        actor=world.boss,
    )
    jobs.drain()
    world.export.refresh_from_db()
    world.job = study.jobs.first()
    world.import_batch = ImportBatch.objects.create(study=study, kind="table")
    world.imported = stored(study, "table", batch=world.import_batch, state="checked")
    ImportProblem.objects.create(
        import_file=world.imported, row=2, column="label", reason="no label"
    )
    kinds = ("judged", "argument_list", "count_sheets", "metric_scores", "rated_arguments",
             "system_points")  # fmt: skip
    world.files = {kind: stored(study, kind) for kind in kinds}


def stored(study, kind, **fields):
    """The row of a file that was uploaded; nothing lies behind it."""
    usual = {"name": f"{kind}.csv", "sha256": "0" * 64, "size": 1, "stored_as": "none"}
    return ImportFile.objects.create(study=study, kind=kind, **usual | fields)


def add_answers(world):
    """An imported answer that may cite three sentences, and one in a file that is nearly it."""
    world.question = make_question(world.study)
    world.answer = make_answer(world.question, listed=make_list(world.question))
    world.system = world.answer.system
    ImportMatch.objects.create(
        import_file=world.imported, row=3, about="Tea or coffee", given="Te", found="Tea",
        known=world.answer.public_id, likeness=0.95,
    )  # fmt: skip


def answer_all_but_one(request):
    """Labels for every sentence but the third one."""
    is_third = "in point 2." in request.messages[-1]["content"]
    return "I cannot say." if is_third else answer_by_text(request)


def add_runs(world):
    """Runs of judges, of which the first really ran, and what they need."""
    label_round, boss = world.label_round, world.boss
    world.endpoint = make_endpoint(world.study, boss)
    world.spare_endpoint = make_endpoint(world.study, boss, "Spare")
    world.prompt = make_prompt(world.study, boss)
    usual = {"preflight": "off", "cap_micro": 10**9}
    world.run = make_run(label_round, world.endpoint, boss, answer_all_but_one, **usual)
    again = {"preflight": "off", "seed": 2, "reuse": False}
    world.other_run = make_run(label_round, world.endpoint, boss, **again)
    world.call = world.run.calls.get(state="unscored")
    for seed, state in enumerate(UNDER_WAY, start=3):
        setattr(world, f"{state}_run", make_run(label_round, world.endpoint, boss, seed=seed))


def add_corpora(world):
    """Sentences to be found, a file of some more, and an answer of a CAM service."""
    set_service(study=world.study, address="https://cam.example/cam", actor=world.boss)
    world.corpus = make_corpus(world.study)
    world.checked_corpus = make_corpus(world.study, name="Reviews", state="checked")
    world.cam_request = make_cam_request(world.argument.comparison, world.boss)


def add_editing(world):
    """Rounds in every state; in the open one the expert submitted a version and said a word."""
    wanted = {"people": [world.people.expert], "individual": 0, "leave": "nothing"}
    world.editing_round = make_round(world.study, **wanted)
    world.closed_round = make_round(world.study, **wanted)
    world.draft_round = make_round(world.study, is_open=False, **wanted)
    close_round(round_=world.closed_round, actor=world.people.admin)
    (world.editing_task,) = sheets_of(world.editing_round)
    world.revision = hand_in_edit(
        world.editing_task, "Tea is warm [2].", reasons=("citation",), comment="As [1] says."
    )
    world.round_comment = add_comment(
        editing_round=world.editing_round, answer=world.answer, author=world.people.expert,
        text="Odd.",
    )  # fmt: skip
    # Another one, in which the expert has yet to begin, with a text that two windows wrote.
    world.desk_round = make_round(world.study, **wanted)
    (world.desk_sheet,) = sheets_of(world.desk_round)
    world.text_conflict = world.desk_sheet.conflicts.create(base_version=0, content={"text": "x"})


def add_faithfulness(world):
    """An expert's version of the answer, figures of both texts, verdicts on their citations."""
    world.faithful_round = make_closed_round(world.study, [world.people.expert], world.boss)
    sheet = world.faithful_round.sheets.select_related("answer").get()
    world.faithful_revision = hand_in(sheet, f"{sheet.answer.text} It is cheap, too [2].")
    compute(world.study)
    world.judging_run = make_coherence(
        world.study, world.endpoint, world.boss, target={"texts": "both"}
    )


def add_generations(world):
    """Two runs in which a model answered the questions of the study, and a launch of more."""
    for number, name in ((4, "writing_run"), (3, "other_writing_run")):
        run = make_generation(world.study, world.endpoint, world.boss, number=number, replicates=2)
        setattr(world, name, run)
    world.launch = make_launch(world.study, [world.endpoint], world.boss)


def add_scores(world):
    """A judge's sheets for all answers, rounds in every state, and a sheet that was begun."""
    study, boss = world.study, world.boss
    world.rubric = default_rubric(study)
    params = {"temperature": 1, "max_tokens": 900}
    world.scoring_run = make_scoring_run(study, world.endpoint, boss, replicates=2, params=params)
    world.judged_sheet = world.scoring_run.score_sheets.first()
    world.open_scoring = make_scoring_round(study, boss)
    examples = (study.answers.order_by("pk").last(),)
    draft = {"examples": examples, "opens": False, "name": "Draft"}
    world.draft_scoring = make_scoring_round(study, boss, **draft)
    world.closed_scoring = make_scoring_round(study, boss, name="Closed", overlap_share=1.0)
    add_control_item(world)
    close_round(round_=world.closed_scoring, actor=boss)
    world.scoring_rater = world.rater
    world.begun_scores = next_sheet(round_=world.open_scoring, rater=world.rater).sheet
    world.score_conflict = world.begun_scores.conflicts.create(
        base_version=0, content={"points": {"C1": 1}}
    )


def add_control_item(world):
    """A control item that a person answered, and equal points of two people in another round."""
    controlled, other = world.open_scoring, world.closed_scoring
    known = dict.fromkeys(controlled.rubric.rubric.keys, 0)
    item = controlled.items.latest("pk")
    set_control(round_=controlled, item=item, known=known, actor=world.boss)
    controlled.refresh_from_db()
    raters = (world.rater, world.expert_rater)
    for rater in raters:
        place_for(round_=controlled, rater=rater)
    agreed = [(other, rater, other.items.earliest("pk").answer, None) for rater in raters]
    for round_, rater, answer, key in [*agreed, (controlled, raters[1], item.answer, known)]:
        sheet = ScoreSheet.objects.create(
            study=world.study, round=round_, rater=rater, answer=answer, rubric=round_.rubric,
            maximum=19, points=known, total=0, known=key, state="submitted",
            submitted_at=timezone.now(), is_extra=False, place=1,
        )  # fmt: skip
        sheet.events.create(client_key="made", content=asdict(ScoreContent(known)))
        if key is None:
            place_for(round_=round_, rater=rater)
            hold_slot(sheet)
            sheet.save()
            world.agreed_scores = world.closed_scoring.sheets.earliest("pk")


def add_summaries(world):
    """Debate arguments, comments, sets of key points and people's counts; see `make_argsum`."""
    study = world.study
    vars(world).update(vars(make_argsum(study, world.rater)))
    world.counter = world.rater
    world.counting_run = make_counting_run(
        study, world.endpoint, world.boss, target={"systems": ["MCArgSum 1"]}
    )
    world.spare_dataset = make_dataset(study, name="Spare")
    begun = {"match_scorer": world.scorer, "label": "Begun"}
    for number, name, state in ((2, "waiting", "writing"), (3, "stopped", "cancelled")):
        run = make_system_run(world.dataset, number=number, state=state, **begun)
        setattr(world, f"{name}_system_run", run)
    world.learning_dataset = make_learning_dataset(study)
    usual = {"trained_on": world.learning_dataset}
    world.training_scorer = make_scorer(study, name="Busy", state="training", **usual)
    world.stopped_scorer = make_scorer(study, name="Stopped", state="cancelled", **usual)
    world.commented = make_comments(study)
    world.duplicates = duplicate_all(world.commented)
    world.survey = make_survey(study, world.learning_dataset)
    world.spare_survey = make_survey(study, name="Spare")
    # A comment that says what was said before.
    say(world.cell, world.placed.text)
    for number, name, state in ((2, "waiting", "waiting"), (3, "stopped", "cancelled")):
        analysis = write_analysis(study, world.cell, number=number, state=state)
        setattr(world, f"{name}_analysis", analysis)
    world.analysis.refresh_from_db()
    add_audits(world)
    add_prose(world)
    snapshots.refresh(KEY_POINTS, board_choice(study, {}))


def add_coding(world, analysis):
    """Runs of a language model that proposes key points, and assigns statements to them."""
    answer = list_of(("Taste", "The dishes are too salty.", [1, 2]))
    plan = proposal_plan(analysis, world.endpoint, world.boss)
    world.proposal_run = carry_run(world.study, world.boss, lambda _request: answer, plan)
    Job.objects.filter(kind=FOLLOW).delete()
    sign(analysis, world.boss)
    plan = assignment_plan(analysis, world.endpoint, world.boss)
    world.assignment_run = carry_run(world.study, world.boss, assigns, plan)
    Job.objects.filter(kind=FOLLOW).delete()
    # As if match scores had been compared, which takes a model.
    world.assignment_run.coded_statements.update(nearest="K1", agrees=False)
    # A sign-off that no longer holds.
    analysis.points.filter(position=1).update(theme="Taste")


def add_prose(world):
    """A summary in prose of which one sentence is printed, and one is not."""
    answer = writes(("A sentence with support.", [1]), ("One without.", [1]))
    plan = prose_plan(world.analysis, world.endpoint, world.boss)
    world.prose_run = carry_run(world.study, world.boss, lambda _request: answer, plan)
    # As if the sentences had been compared, which takes a model.
    Job.objects.filter(kind=CHECK).delete()
    outcomes = [{"verdict": "supported", "cites": [1]}, {"verdict": "unsupported"}]
    paragraphs = world.prose_run.prose_paragraphs
    paragraphs.update(outcomes=outcomes)
    ProseSummary.objects.filter(run=world.prose_run).update(
        printed=paragraphs.count(), left_out=paragraphs.count(), checked_at=timezone.now()
    )


def add_audits(world):
    """An analysis of comments, with an audit in every state and an answer."""
    texts = [f"Dish number {number} was too salty." for number in range(20)]
    cell = make_comments(world.study, *texts, name="Audited comments")
    audited = write_analysis(world.study, cell, number=4)
    for name, opens in (("open", True), ("closed", True), ("draft", False)):
        made = open_audit(
            world.study, world.boss, analysis=audited, name=name, size=10, opens=opens
        )
        setattr(world, f"{name}_audit", made)
    close_round(round_=world.closed_audit, actor=world.boss)
    world.audited_analysis = audited
    add_coding(world, audited)
    world.auditor = world.rater
    first = next_sheet(round_=world.open_audit, rater=world.rater).sheet
    sent = DraftSubmission(AuditContent("makes"), 0)
    world.audit_sheet = submit_sheet(sheet=first, sent=sent, key="checked")
    world.begun_check = next_sheet(round_=world.open_audit, rater=world.rater).sheet
    world.check_conflict = world.begun_check.conflicts.create(
        base_version=0, content={"answer": "partly"}
    )


def add_preferences(world):
    """Rounds over pairs in every state, a sheet that was begun, a judge who is done."""
    study, boss = world.study, world.boss
    make_scored_answers(study, systems=COMPARED, questions=4)
    systems = tuple(study.systems.filter(name__in=COMPARED))
    usual = {"systems": systems, "size": 2, "leave_out_used": False}
    world.open_preferring = make_pairs_round(study, boss, name="Open", **usual)
    world.draft_preferring = make_pairs_round(study, boss, opens=False, name="Draft", **usual)
    world.closed_preferring = make_pairs_round(study, boss, name="Closed", **usual)
    close_round(round_=world.closed_preferring, actor=boss)
    world.begun_pair = next_sheet(round_=world.open_preferring, rater=world.rater).sheet
    world.pair_conflict = world.begun_pair.conflicts.create(
        base_version=0, content={"verdict": "tie"}
    )
    world.preferring_run = make_preferring_run(study, world.endpoint, boss)
    world.preference_sheet = world.preferring_run.preference_sheets.first()
    world.board = snapshots.refresh(BOARDS, world.rubric)
