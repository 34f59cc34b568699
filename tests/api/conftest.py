"""One study with everything in it, a foreign one, and a client for every kind of caller."""

import pickle
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import transaction
from django.test import override_settings
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.consensus.actions import adjudication, consensus
from annotation.consensus.models import Adoption
from annotation.editing.actions.discussion import add_comment
from annotation.exports.actions import exports
from annotation.faithfulness.actions import faithfulness
from annotation.figures.actions import CAMPAIGNS
from annotation.judges.actions import trained_judge
from annotation.judges.models import JudgeLabel, TrainedJudge
from annotation.labelling.actions import answering, serving
from annotation.labelling.models.campaigns import Campaign, Exclusion, Item
from annotation.retrieval.actions.cam import set_service
from argsum.leaderboard.actions import KEY_POINTS
from argsum.leaderboard.reports.choice import board_choice
from benchmark.leaderboard.actions import BOARDS
from benchmark.rubrics.actions import default_rubric
from cqa_site.files.actions.exports import Options
from cqa_site.files.models import ImportBatch, ImportFile, ImportMatch, ImportProblem
from cqa_site.people.actions.invitations import create_invitation
from cqa_site.people.models import AuditEvent, Rater, Role, User
from cqa_site.people.tokens import create_token
from cqa_site.results import keeping
from cqa_site.rounds.crowd.participants import PlatformIds, create_link, note_fault, take_part
from cqa_site.rounds.opening import close_round, open_round
from cqa_site.rounds.serving import next_sheet
from cqa_site.runs import jobs
from cqa_site.web.rest.throttle import CourtesyThrottle
from tests.annotation.editing_cast import hand_in as hand_in_edit
from tests.annotation.editing_cast import make_round, sheets_of
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
from tests.argsum.counting.made_counting_runs import make_counting_run
from tests.argsum.made_cells import (
    make_argsum,
    make_comments,
    make_dataset,
    make_learning_dataset,
    make_scorer,
    make_system_run,
)
from tests.benchmark.made_judges import make_scoring_run
from tests.benchmark.made_rounds import make_round as make_scoring_round
from tests.benchmark.made_scores import make_scored_answers
from tests.benchmark.preferences.made_judges import make_preferring_run
from tests.benchmark.preferences.made_preferences import make_pairs_round
from tests.cast import make_campaign, make_member, make_study
from tests.runs.judging import answer_by_text
from tests.runs.made_runs import make_endpoint, make_prompt, make_run

from .routes import COMPARED, EVERY

UNDER_WAY = ("checked", "running", "paused")


@pytest.fixture(autouse=True)
def _no_throttle(monkeypatch):
    monkeypatch.setattr(CourtesyThrottle, "rate", None)


@pytest.fixture(scope="package")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@pytest.fixture(autouse=True)
def _own_files(settings, folder):
    settings.MEDIA_ROOT = folder


def client_of(user, scope="write", **settings):
    token, secret = create_token(user=user, name="test", scope=scope)
    client = APIClient(**settings)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    client.token, client.secret = token, secret
    return client


def label_some(campaign, people, per_person=6):
    for number, user in enumerate(people):
        membership = campaign.study.memberships.get(user=user)
        place = serving.member_place(campaign=campaign, membership=membership)
        for turn in range(per_person):
            todo = serving.next_work(campaign=campaign, place=place).assignments
            if not todo:
                break
            given = answering.Answer(
                client_key=f"{number}-{turn}", label=(number + turn) % 4, active_ms=900 + turn
            )
            answering.answer(rater=place.rater, assignment=todo[0], given=given)


def label_as_expert(campaign, rater, label=1):
    """An imported campaign in which one expert labelled the same sentences."""
    batch = Campaign.objects.create(
        study=campaign.study, name="Experts", guideline=campaign.guideline, origin="imported"
    )
    for item in campaign.items.all():
        copied = Item(campaign=batch, argument=item.argument, external_id=item.external_id)
        copied.save()
        vote(copied, rater, label)
    return batch


def let_in(campaign, admin):
    """A crowd link by which one person came in."""
    link, _secret = create_link(
        round_=campaign,
        actor=admin,
        completed_code="DONE",
        screened_out_code="OUT",
        no_work_code="NONE",
        fault_code="FAULT",
        expires_at=timezone.now() + timedelta(days=1),
    )
    person = take_part(link=link, ids=PlatformIds("PLATFORM-ID"), browser="browser")
    note_fault(participant=person, comment="The keys do nothing")
    return link


def answer_all_but_one(request):
    """Labels for every sentence but the third one."""
    is_third = "in point 2." in request.messages[-1]["content"]
    return "I cannot say." if is_third else answer_by_text(request)


def judge(campaign, actor):
    """Runs in every state a program may find one in; the first one really ran."""
    endpoint = make_endpoint(campaign.study, actor)
    run = make_run(campaign, endpoint, actor, answer_all_but_one, preflight="off", cap_micro=10**9)
    rows = {
        "endpoint": endpoint,
        "spare_endpoint": make_endpoint(campaign.study, actor, "Spare"),
        "run": run,
        "other_run": make_run(campaign, endpoint, actor, preflight="off", seed=2, reuse=False),
        "call": run.calls.get(state="unscored"),
    }
    for seed, state in enumerate(UNDER_WAY, start=3):
        rows[f"{state}_run"] = make_run(campaign, endpoint, actor, seed=seed)
    return rows | {"prompt": make_prompt(campaign.study, actor)}


def reopen_runs(world):
    """Some runs are under way again; making another run would carry them to their end."""
    for state in UNDER_WAY:
        rows = world.study.runs.filter(pk=getattr(world, f"{state}_run").pk)
        # Whatever is paused here can be corrected, too.
        refused = "parameter: temperature: refused" if state == "paused" else ""
        rows.update(state=state, ended_at=None, pause_reason=refused)


def train(campaign):
    """A version of the trained judge with a label for each sentence, written directly."""
    rater = Rater.objects.create(study=campaign.study, kind="classifier", name="Trained judge")
    version = TrainedJudge.objects.create(campaign=campaign, rater=rater, number=1)
    for item in campaign.items.select_related("argument"):
        JudgeLabel.objects.create(
            campaign=campaign,
            argument=item.argument,
            trained=version,
            label=1,
            is_out_of_fold=True,
        )
    return version


def ask_for_training(world):
    """A training waits for the draft; making another study would carry it to its end."""
    trained_judge.request_training(campaign=world.training, actor=world.people.researcher)


def retrieve(comparison, actor):
    """Sentences to be found, a file of some more, and an answer of a CAM service."""
    set_service(study=comparison.study, address="https://cam.example/cam", actor=actor)
    return {
        "corpus": make_corpus(comparison.study),
        "checked_corpus": make_corpus(comparison.study, name="Reviews", state="checked"),
        "cam_request": make_cam_request(comparison, actor),
    }


def answer_something(study):
    """An imported answer that may cite three sentences."""
    question = make_question(study)
    answer = make_answer(question, listed=make_list(question))
    return {"question": question, "system": answer.system, "answer": answer}


def edit_something(study, people):
    """Rounds in every state; in the open one the expert submitted a version and said a word."""
    wanted = {"people": [people.expert], "individual": 0, "leave": "nothing"}
    rounds = {
        "editing_round": make_round(study, **wanted),
        "closed_round": make_round(study, **wanted),
        "draft_round": make_round(study, is_open=False, **wanted),
    }
    close_round(round_=rounds["closed_round"], actor=people.admin)
    (sheet,) = sheets_of(rounds["editing_round"])
    revision = hand_in_edit(
        sheet, "Tea is warm [2].", reasons=("citation",), comment="Another one says it."
    )
    comment = add_comment(
        editing_round=sheet.round, answer=sheet.answer, author=people.expert, text="Odd."
    )
    return rounds | {"editing_task": sheet, "revision": revision, "round_comment": comment}


def generate(world):
    """Two runs in which a model answered the questions of the study."""
    for number, name in ((4, "writing_run"), (3, "other_writing_run")):
        run = make_generation(
            world.study, world.endpoint, world.people.researcher, number=number, replicates=2
        )
        setattr(world, name, run)
    world.launch = make_launch(world.study, [world.endpoint], world.people.researcher)


def fill(study):
    """An open campaign with votes, labels, a decision, figures, an export, an import and runs."""
    people = SimpleNamespace(
        **{role: make_member(study, role) for role in Role.values},
        crowd=[make_member(study, Role.ANNOTATOR) for _ in range(3)],
    )
    campaign = make_campaign(study, ordinary=8, controls=2)
    open_round(round_=campaign, actor=people.researcher)
    campaign.refresh_from_db()
    label_some(campaign, people.crowd)
    consensus.recompute_final_labels(campaign)
    argument = campaign.items.filter(control_label=None).first().argument
    membership = study.memberships.get(user=people.expert)
    rater = serving.rater_for(membership=membership)
    adjudication.adjudicate(campaign=campaign, argument=argument, rater=rater, label=2)
    experts = label_as_expert(campaign, rater)
    invitation, _secret = create_invitation(
        study=study, role="expert", note="a colleague", days=3, actor=people.admin
    )
    snapshot = keeping.refresh(CAMPAIGNS, campaign)
    (export,) = exports.request_exports(
        campaign=campaign,
        snapshot=snapshot,
        contents=["votes"],
        format="csv",
        options=Options(),
        actor=people.researcher,
    )
    import_batch = ImportBatch.objects.create(study=study, kind="table")
    imported = ImportFile.objects.create(
        study=study,
        batch=import_batch,
        kind="table",
        name="t.csv",
        sha256="0" * 64,
        size=1,
        stored_as="x",
        state=ImportFile.State.CHECKED,
    )
    ImportProblem.objects.create(import_file=imported, row=2, column="label", reason="no label")
    answered = answer_something(study)
    ImportMatch.objects.create(
        import_file=imported, row=3, about="Tea or coffee", given="Te", found="Tea",
        known=answered["answer"].public_id, likeness=0.95,
    )  # fmt: skip
    draft = make_campaign(study, name="Draft", ordinary=3, controls=1)
    jobs.drain()
    export.refresh_from_db()
    return SimpleNamespace(
        study=study,
        people=people,
        campaign=campaign,
        draft=draft,
        spare=make_campaign(study, name="Spare", ordinary=1, controls=0),
        argument=argument,
        control=campaign.items.filter(control_label=3).first().argument,
        experts=experts,
        expert_rater=rater,
        # Of a campaign without labels, so that it decides nothing.
        exclusion=Exclusion.objects.create(campaign=campaign, below=0, rule="accuracy"),
        adoption=Adoption.objects.create(campaign=campaign, source=draft, rater=rater),
        invitation=invitation,
        crowd_link=(link := let_in(campaign, people.admin)),
        participant=link.participants.get().user,
        member=people.annotator,
        rater=campaign.assignments.filter(state="answered").first().rater,
        vote=campaign.assignments.filter(state="answered").first(),
        snapshot=snapshot,
        export=export,
        imported=imported,
        import_batch=import_batch,
        job=study.jobs.first(),
        **judge(campaign, people.researcher),
        trained_judge=train(campaign),
        training=draft,
        **answered,
        **retrieve(argument.comparison, people.researcher),
        **edit_something(study, people),
    )


def keep_faith(world):
    """An expert's version of the answer, figures of both texts, verdicts on their citations."""
    expert, boss = make_member(world.study, Role.EXPERT), world.people.researcher
    world.faithful_round = make_closed_round(world.study, [expert], boss)
    sheet = world.faithful_round.sheets.select_related("answer").get()
    world.faithful_revision = hand_in(sheet, f"{sheet.answer.text} It is cheap, too [2].")
    compute(world.study)
    world.judging_run = make_coherence(world.study, world.endpoint, boss, target={"texts": "both"})


def score(world):
    """A judge's sheets for the answers of the study."""
    boss = world.people.researcher
    world.rubric = default_rubric(world.study)
    world.scoring_run = make_scoring_run(
        world.study,
        world.endpoint,
        boss,
        replicates=2,
        params={
            "temperature": 1,
            "max_tokens": 900,
        },
    )
    world.judged_sheet = world.scoring_run.score_sheets.first()


def summarize(world):
    """Debate arguments, sets of key points and people's counts; see `make_argsum`."""
    rater = serving.rater_for(membership=world.study.memberships.get(user=world.people.annotator))
    for name, row in vars(make_argsum(world.study, rater)).items():
        setattr(world, name, row)
    world.counting_run = make_counting_run(
        world.study, world.endpoint, world.people.researcher, target={"systems": ["MCArgSum 1"]}
    )
    world.spare_dataset = make_dataset(world.study, name="Spare")
    begun = {"match_scorer": world.scorer, "number": 2, "label": "Begun", "state": "writing"}
    world.waiting_system_run = make_system_run(world.dataset, **begun)
    begun |= {"number": 3, "state": "cancelled"}
    world.stopped_system_run = make_system_run(world.dataset, **begun)
    world.learning_dataset = make_learning_dataset(world.study)
    usual = {"trained_on": world.learning_dataset}
    world.training_scorer = make_scorer(world.study, name="Busy", state="training", **usual)
    world.stopped_scorer = make_scorer(world.study, name="Stopped", state="cancelled", **usual)
    world.counter = rater
    world.commented = make_comments(world.study)
    # A comment that says what was said before.
    say(world.cell, world.placed.text)
    begun = {"number": 2, "state": "waiting"}
    world.waiting_analysis = write_analysis(world.study, world.cell, **begun)
    begun = {"number": 3, "state": "cancelled"}
    world.stopped_analysis = write_analysis(world.study, world.cell, **begun)
    world.analysis.refresh_from_db()


def score_by_people(world):
    """Scoring rounds in every state; in the open one the annotator has begun."""
    boss = world.people.researcher
    world.open_scoring = make_scoring_round(world.study, boss)
    world.draft_scoring = make_scoring_round(world.study, boss, opens=False, name="Draft")
    world.closed_scoring = make_scoring_round(world.study, boss, name="Closed")
    close_round(round_=world.closed_scoring, actor=boss)
    membership = world.study.memberships.get(user=world.people.annotator)
    world.scoring_rater = serving.rater_for(membership=membership)
    next_sheet(round_=world.open_scoring, rater=world.scoring_rater)


def prefer(world):
    """Preference rounds in every state; in the open one the annotator began, a judge is over."""
    boss = world.people.researcher
    make_scored_answers(world.study, systems=COMPARED, questions=4)
    systems = tuple(world.study.systems.filter(name__in=COMPARED))
    usual = {"systems": systems, "size": 2, "leave_out_used": False}
    world.open_preferring = make_pairs_round(world.study, boss, name="Open", **usual)
    world.draft_preferring = make_pairs_round(
        world.study, boss, opens=False, name="Draft", **usual
    )
    world.closed_preferring = make_pairs_round(world.study, boss, name="Closed", **usual)
    close_round(round_=world.closed_preferring, actor=boss)
    next_sheet(round_=world.open_preferring, rater=world.scoring_rater)
    world.preferring_run = make_preferring_run(world.study, world.endpoint, boss)
    world.preference_sheet = world.preferring_run.preference_sheets.first()


def freeze_a_board(world):
    """A frozen board, and the live one after it."""
    keeping.refresh(BOARDS, world.rubric)
    world.frozen_board = keeping.freeze(
        BOARDS, owner=world.study, number=1, note="", actor=world.people.researcher
    )
    world.live_board = keeping.store_live(BOARDS, world.rubric, BOARDS.compute(world.rubric))


def freeze_key_points(world):
    """Frozen key points, and the live ones after them."""
    choice = board_choice(world.study, {})
    keeping.refresh(KEY_POINTS, choice)
    world.frozen_key_points = keeping.freeze(
        KEY_POINTS, owner=world.study, number=1, note="", actor=world.people.researcher
    )
    computed = KEY_POINTS.compute(choice)
    world.live_key_points = keeping.store_live(KEY_POINTS, choice, computed)


@pytest.fixture(scope="package")
def both(django_db_setup, django_db_blocker, folder):
    """Two filled studies, made once in a transaction that is rolled back after the last test."""
    with django_db_blocker.unblock(), override_settings(MEDIA_ROOT=folder), transaction.atomic():
        worlds = fill(make_study("Study A")), fill(make_study("Study B"))
        for world in worlds:
            keep_faith(world)
        for world in worlds:
            generate(world)
        for world in worlds:
            score(world)
            score_by_people(world)
            summarize(world)
            prefer(world)
            freeze_a_board(world)
            freeze_key_points(world)
        for world in worlds:
            reopen_runs(world)
            ask_for_training(world)
            faithfulness.request_figures(study=world.study, embedding="")
        yield worlds
        transaction.set_rollback(True)


@pytest.fixture(scope="package")
def kept(both):
    """Both, as bytes: reading them takes a fraction of what a deep copy does."""
    return [pickle.dumps(world) for world in both]


@pytest.fixture
def world(kept, db):
    """Study A; a copy of the rows in memory, so that no test sees another one's changes."""
    return pickle.loads(kept[0])


@pytest.fixture
def foreign(kept, db):
    return pickle.loads(kept[1])


@pytest.fixture
def researcher(world):
    return client_of(world.people.researcher)


@pytest.fixture
def site_admin(world):
    return client_of(site_administrator(world))


@pytest.fixture
def callers(world):
    return callers_of(world)


def site_administrator(world):
    """Somebody who may open studies and is an admin of this one."""
    user = make_member(world.study, Role.ADMIN)
    user.is_staff = True
    user.save()
    return user


def callers_of(world, **settings):
    """Who may use an address, by the name its route gives."""
    people = {
        "researcher": world.people.researcher,
        "admin": world.people.admin,
        "site_admin": site_administrator(world),
    }
    return {name: client_of(user, **settings) for name, user in people.items()}


@pytest.fixture(scope="package")
def answers(both, folder):
    """What whoever may gets at every address, asked once for all tests that look at it.

    A response has its `body` and the `events` that the request wrote into the log; a view that
    raised is answered with a 500 that has `exc_info`.
    """
    with pytest.MonkeyPatch.context() as patch, override_settings(MEDIA_ROOT=folder):
        patch.setattr(CourtesyThrottle, "rate", None)
        with transaction.atomic():
            callers = callers_of(both[0], raise_request_exception=False)
            found = {route: answer_of(route, both[0], callers) for route in EVERY}
            transaction.set_rollback(True)
    return found


def answer_of(route, world, callers):
    """The answer to one request, which is undone."""
    with transaction.atomic():
        known = set(AuditEvent.objects.values_list("pk", flat=True))
        response = route.send(callers[route.caller], world)
        response.body = b"".join(response) if response.streaming else response.content
        response.events = list(AuditEvent.objects.exclude(pk__in=known).values())
        transaction.set_rollback(True)
    return response


@pytest.fixture
def clients(world, foreign):
    """Everybody who may knock at study A."""
    closed = {name: client_of(world.people.researcher) for name in ("revoked", "expired")}
    closed["revoked"].token.revoked_at = timezone.now()
    closed["expired"].token.expires_at = timezone.now()
    for client in closed.values():
        client.token.save()
    left = make_member(world.study, Role.RESEARCHER)
    deactivated = client_of(left)
    left.is_active = False
    left.save()
    gone = make_member(world.study, Role.RESEARCHER)
    gone.memberships.update(is_active=False)
    return {
        "anonymous": APIClient(),
        "annotator": client_of(world.people.annotator),
        "expert": client_of(world.people.expert),
        "researcher": client_of(world.people.researcher),
        "admin": client_of(world.people.admin),
        "read_token": client_of(world.people.admin, "read"),
        "outside_site_admin": client_of(
            User.objects.create_superuser("boss@site.example", "a long password")
        ),
        "foreign": client_of(foreign.people.researcher),
        "former_member": client_of(gone),
        "deactivated": deactivated,
        **closed,
    }
