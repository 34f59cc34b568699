"""The demo study with comparisons, simulated annotators and an editing round."""

import json
import random
import secrets
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from annotation.answers.actions import argument_list
from annotation.answers.models import Answer, System
from annotation.consensus.actions.consensus import recompute_final_labels
from annotation.corpus.models import Argument, Comparison, Question
from annotation.editing.actions.rounds import EditingPlan, plan_round
from annotation.editing.models import EditingRound
from annotation.figures.actions import LABEL_ROUNDS
from annotation.generation.actions.answer_runs import condition
from annotation.labelling.actions import rounds as label_rounds, serving, votes
from annotation.labelling.actions.blocks import free_slots
from annotation.labelling.actions.exercises import USUAL
from annotation.labelling.actions.rounds import default_guideline
from annotation.labelling.models import Assignment, Item, LabelRound
from cqa_site.pay.stand_in import HOOK_SECRET, STUDY, TOKEN, PlatformStandIn
from cqa_site.people.actions import rater_for
from cqa_site.people.models import Membership, Rater, Role, Study, User
from cqa_site.results import snapshots
from cqa_site.rounds.crowd.participants import close_link, create_link
from cqa_site.rounds.crowd.platform import connect_link
from cqa_site.rounds.lifecycle import close_round, correct_round, open_round
from cqa_site.rounds.models import ParticipantLink
from cqa_site.rounds.onboarding.actions import grant_qualification, save_version
from cqa_site.rounds.onboarding.forms import STARTS, OnboardingForm
from cqa_site.rounds.queue import place_for
from cqa_site.runs.actions.endpoints import embedded_endpoint
from cqa_site.tabular.cells import text_key

CODES = {
    "completed_code": "DEMO-DONE",
    "screened_out_code": "DEMO-SCREENED",
    "no_work_code": "DEMO-FULL",
    "fault_code": "DEMO-FAULT",
}
PARTICIPANTS, ITEMS, DAYS = 12, 5, 30


def connect_stand_in(platform: PlatformStandIn, site: str) -> ParticipantLink | None:
    """Create a link for platform participants to the demo's first open label round.

    Links from earlier starts are closed, because their secrets are not stored. Nobody can take
    part twice. If no round is open, no link is created.
    """
    study = Study.objects.get(is_demo=True)
    actor = study.memberships.filter(role=Role.RESEARCHER).select_related("user")[0].user
    earlier = list(ParticipantLink.objects.filter(platform_study=STUDY, study=study))
    for old_link in earlier:
        close_link(link=old_link, actor=actor)
    rounds = LabelRound.objects.filter(study=study, state=LabelRound.State.OPEN)
    label_round = rounds.order_by("pk").first()
    if label_round is None:
        return None
    link, secret = create_link(
        round_=label_round,
        actor=actor,
        entry=ParticipantLink.Entry.SIGNED,
        required_items=ITEMS,
        max_participants=PARTICIPANTS,
        expires_at=timezone.now() + timedelta(days=DAYS),
        return_url=f"{platform.address}/complete?cc={{code}}&participant={{participant}}",
        reward=Decimal("1.50"),
        item_bonus=Decimal("0.05"),
        hourly_floor=Decimal("9.00"),
        outcome_pay={"screened_out": "0.40", "failed_check": "0.40"},
        **CODES,
    )
    connect_link(
        link=link, actor=actor, platform_study=STUDY, hook_secret=HOOK_SECRET, api_token=TOKEN
    )
    platform.invent(PARTICIPANTS, first=PARTICIPANTS * len(earlier))
    platform.entry = site + reverse("join", args=[secret])
    platform.hook = site + reverse("platform_hook", args=[link.public_id])
    return link


SEED = 7
TEXTS: dict[str, Any] = json.loads(Path(__file__).with_name("texts.json").read_text("utf-8"))
SYSTEMS: list[str] = TEXTS["systems"]


def demo_round(*, study: Study, expert: User, researcher: User) -> EditingRound:
    """Open a round with all answers from the scenario with arguments and a structure."""
    plan = EditingPlan(
        name=_("Gold answers"),
        seed=SEED,
        experts=(expert,),
        calibration=study.answers.filter(scenario=Answer.Scenario.FULL).count(),
        individual=0,
        scenario=Answer.Scenario.FULL,
        instructions=_(
            "Keep what is right and say it clearly. Every claim cites the argument it rests "
            "on; remove unsupported claims."
        ),
    )
    planned = plan_round(study=study, plan=plan, actor=researcher)
    open_round(round_=planned, actor=researcher)
    return planned


# An invented study for trying out all functions
#
# No content comes from a dataset. The votes are drawn by a seeded simulation that uses the same
# actions as real annotators.

PEOPLE = [
    ("admin@counterpoint.example", Role.ADMIN, "Admin"),
    ("researcher@counterpoint.example", Role.RESEARCHER, "Researcher"),
    ("expert@counterpoint.example", Role.EXPERT, "Expert"),
    ("annotator@counterpoint.example", Role.ANNOTATOR, "Annotator"),
]
# Probability that each simulated annotator gives the intended label; the last annotator guesses.
SKILLS = [0.9, 0.85, 0.8, 0.8, 0.75, 0.7, 0.6, 0.25]
# Parts added by other apps, as dotted paths: ``part(study=…, users=…)`` with people by role.
PARTS: list[str] = []


def add_part(path: str) -> None:
    """Register a part of the demo from another app; parts run in registration order."""
    if path not in PARTS:
        PARTS.append(path)


def demo_exists() -> bool:
    """Whether this installation already has the demo study."""
    return Study.objects.filter(is_demo=True).exists()


@transaction.atomic
def new_password() -> str:
    """Set and return a new password for the people in the demo."""
    password = secrets.token_urlsafe(12)
    emails = [email for email, _role, _name in PEOPLE]
    people = User.objects.filter(email__in=emails, memberships__study__is_demo=True)
    User.objects.filter(pk__in=people.values("pk")).update(password=make_password(password))
    return password


@transaction.atomic
def build_demo() -> str:
    """Create the study, its people and two rounds; return the generated password."""
    password = secrets.token_urlsafe(12)
    study = Study.objects.create(
        name=_("Everyday choices (demo)"),
        description=_(
            "An invented study for trying out Counterpoint. None of its sentences or votes are "
            "real."
        ),
        is_demo=True,
    )
    # Hashing takes a quarter of a second; a common hash only reveals that the password is shared.
    hashed = make_password(password)
    users = {role: _person(study, email, role, name, hashed) for email, role, name in PEOPLE}
    study.created_by = users[Role.ADMIN]
    study.save()
    labels = _arguments(study)
    guideline = default_guideline(study, actor=users[Role.ADMIN])
    ids = list(labels)
    pilot = _label_round(study, guideline, _("Pilot round"), labels, ids, controls=8)
    _simulate(pilot, labels, users[Role.RESEARCHER], rounds=None)
    close_round(round_=pilot, actor=users[Role.RESEARCHER])
    # People train on these control items of the pilot, so the main round does not include them.
    known = pilot.items.filter(control_label__isnull=False)
    trained = set(known.order_by("pk").values_list("argument", flat=True)[:USUAL])
    left = [pk for pk in ids[::-1] if pk not in trained]
    running = _label_round(study, guideline, _("Main round"), labels, left, controls=10)
    _simulate(running, labels, users[Role.RESEARCHER], rounds=4)
    _onboarding(running, users)
    for label_round in (pilot, running):
        recompute_final_labels(label_round)
        snapshots.refresh(LABEL_ROUNDS, label_round)
    _answers(study)
    embedded_endpoint(study=study, actor=users[Role.RESEARCHER])
    demo_round(study=study, expert=users[Role.EXPERT], researcher=users[Role.RESEARCHER])
    for part in PARTS:
        import_string(part)(study=study, users=users)
    return password


def _person(study: Study, email: str, role: str, name: str, hashed: str) -> User:
    is_admin = role == Role.ADMIN
    user = User.objects.create(
        email=email, password=hashed, name=name, is_staff=is_admin, is_superuser=is_admin
    )
    Membership.objects.create(study=study, user=user, role=role)
    return user


def _arguments(study: Study) -> dict[int, int]:
    """Create every sentence; map each argument to its intended label."""
    labels: dict[int, int] = {}
    for pair in TEXTS["comparisons"]:
        object1, object2 = pair["objects"]
        comparison = Comparison.objects.create(study=study, object1=object1, object2=object2)
        for text, label in pair["sentences"]:
            argument = Argument.objects.create(
                study=study, comparison=comparison, text=text, text_sha256=text_key(text)
            )
            labels[argument.pk] = label
    return labels


def _onboarding(label_round: LabelRound, users: dict[Role, User]) -> None:
    """Add quiz and training before the round; the people in the demo have already passed them."""
    actor, study = users[Role.RESEARCHER], label_round.study
    usual = OnboardingForm.base_fields.items()
    fields = {name: field.initial for name, field in usual} | STARTS["relevance"]["fields"]
    form = OnboardingForm(fields, study=study)
    form.full_clean()
    version = save_version(
        study=study, name=form.cleaned_data["name"], actor=actor, **form.version_fields()
    )
    correct_round(round_=label_round, actor=actor, values={"onboarding": version})
    for role in (Role.ANNOTATOR, Role.EXPERT):
        rater = rater_for(membership=study.memberships.get(user=users[role]))
        reason = _("Trained in the pilot round")
        grant_qualification(version=version, rater=rater, actor=actor, reason=reason)


def _answers(study: Study) -> None:
    """Create answers by two invented systems for three of the comparisons."""
    systems = {
        name: System.objects.create(study=study, name=name, kind=System.Kind.MODEL)
        for name in SYSTEMS
    }
    comparisons = {(row.object1, row.object2): row for row in study.comparisons.all()}
    for position, written in enumerate(TEXTS["answers"], start=1):
        comparison, scenario = comparisons[tuple(written["objects"])], written["scenario"]
        question, _made = Question.objects.get_or_create(study=study, comparison=comparison)
        sentences = comparison.arguments.order_by("pk")
        numbered = list(enumerate(sentences, start=1))
        listed = argument_list(question, numbered, {"source": "demo"})
        cites = scenario in (Answer.Scenario.ARGUMENTS, Answer.Scenario.FULL)
        Answer.objects.create(
            study=study,
            question=question,
            system=systems[written["system"]],
            scenario=scenario,
            condition=condition(study, scenario=scenario),
            argument_list=listed if cites else None,
            text=written["text"],
            source="demo",
            position=position,
        )


def _label_round(study, guideline, name, labels, ids, *, controls: int) -> LabelRound:
    label_round = LabelRound.objects.create(
        study=study,
        name=name,
        guideline=guideline,
        min_control_accuracy=0.5,
        **LabelRound.USUAL | {"seed": SEED},
    )
    label_rounds.add_items(label_round=label_round, argument_ids=ids)
    for item in label_round.items.order_by("pk")[: controls * 3 : 3]:
        Item.objects.filter(pk=item.pk).update(
            control_label=labels[item.argument_id], imported_control_label=labels[item.argument_id]
        )
    return label_round


def _simulate(
    label_round: LabelRound, labels: dict[int, int], actor: User, rounds: int | None
) -> None:
    """Let the simulated annotators label ``rounds`` blocks each, or all remaining items."""
    open_round(round_=label_round, actor=actor)
    label_round.refresh_from_db()
    rng = random.Random(SEED)  # noqa: S311  a simulation, not a secret
    places = [_simulated_place(label_round, number) for number in range(1, len(SKILLS) + 1)]
    pairs = list(zip(places, SKILLS, strict=True))
    working = True
    while working and (rounds is None or rounds > 0):
        # A list, not a generator, so that every annotator gets a turn in each pass.
        working = any([_block(label_round, *pair, labels, rng) for pair in pairs])  # noqa: C419
        rounds = None if rounds is None else rounds - 1
    # Release the items reserved ahead for people who try the demo.
    left = label_round.assignments.exclude(state=Assignment.State.ANSWERED)
    free_slots(left)
    left.delete()
    _spread_in_time(label_round, rng)


def _simulated_place(label_round: LabelRound, number: int):
    name = _("Simulated annotator %d") % number
    rater, _created = Rater.objects.get_or_create(
        study=label_round.study, external_id=f"simulated-{number}", defaults={"name": name}
    )
    return place_for(round_=label_round, rater=rater)


def _block(label_round, place, skill: float, labels: dict[int, int], rng: random.Random) -> bool:
    """Answer one block of reserved items; return False if no items were left."""
    work = serving.next_work(label_round=label_round, place=place)
    todo = work.assignments[: label_round.block_size]
    for row in todo:
        label = votes.SubmittedLabel(
            client_key=secrets.token_hex(8),
            label=_drawn(labels[row.item.argument_id], skill, rng),
            active_ms=int(rng.lognormvariate(8.9, 0.5)),
        )
        votes.answer(rater=place.rater, assignment=row, given=label)
    return bool(todo)


def _drawn(intended: int, skill: float, rng: random.Random) -> int:
    """Return the intended label with probability ``skill``, otherwise mostly an adjacent label."""
    if rng.random() < skill:
        return intended
    if rng.random() < skill:
        return min(3, max(0, intended + rng.choice((-1, 1))))
    return rng.randrange(4)


def _spread_in_time(label_round: LabelRound, rng: random.Random) -> None:
    """Spread the simulated answers over the last three days, for realistic charts."""
    start = timezone.now() - timedelta(days=3)
    rows = list(label_round.assignments.filter(state="answered").order_by("pk"))
    for count, row in enumerate(rows):
        row.answered_at = start + timedelta(days=3 * count / len(rows), seconds=rng.random() * 60)
        row.shown_at = row.served_at = row.answered_at - timedelta(milliseconds=row.active_ms or 0)
    # All rows exist, but `bulk_update` would write a condition for each row and field.
    times = ["answered_at", "shown_at", "served_at"]
    Assignment.objects.bulk_create(
        rows, update_conflicts=True, update_fields=times, unique_fields=["pk"]
    )
