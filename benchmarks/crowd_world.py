"""Fill a throw-away site with a crowd's label round, and report its contents afterwards.

    python -m benchmarks.crowd_world make '{"items": 2000, …}'
    python -m benchmarks.crowd_world facts

``make`` prints the secret of the link and the URLs of work, steps and survey; ``facts`` prints a
dictionary of counts, and the outcome of each participant.
"""

import json
import sys
from collections import Counter
from datetime import timedelta
from typing import Any
from zlib import crc32

LEVELS = 4
SCREENING = "Do you read English well?\n+ Yes\n- No"
QUIZ = (
    "What decides about the label?\n- Your own opinion\n+ The sentence\n- Its style\n\n"
    "What do you do with a sentence that you cannot read?\n- Guess\n- Leave\n+ Skip it"
)
# Choices that pass screening or are right.
RIGHT = ("Yes", "The sentence", "Skip it")
QUALIFICATION, NEEDED = 10, 7
PASSED_BY = 0.7


def truth(number: int) -> int:
    """Return the right label of sentence ``number``."""
    return crc32(str(number).encode()) % LEVELS


def make(wanted: dict[str, Any]) -> list[str]:
    from django.urls import reverse
    from django.utils import timezone

    from annotation.labelling.models import LabelRound
    from benchmarks import made_rounds
    from cqa_site.people.models import Study, User
    from cqa_site.rounds.crowd.participants import create_link
    from cqa_site.rounds.lifecycle import open_round

    study = Study.objects.create(name="Simulated crowd")
    boss = User.objects.create_user("boss@bench.example", "benchmark password")
    label_round = made_rounds.label(wanted, study, boss, [])
    _known_labels(label_round)
    _exercises(label_round, wanted["items"] + wanted["controls"])
    label_round.onboarding = _onboarding(study, boss)
    label_round.min_control_accuracy = PASSED_BY
    label_round.low_accuracy = LabelRound.LowAccuracy.EXCLUDE
    label_round.on_fall = LabelRound.OnFall.PAUSE
    label_round.controls_per_block = 2
    label_round.lease_minutes = 1
    label_round.rules = {"one_value": {"action": "pause", "window": 30, "threshold": 1.0}}
    label_round.save()
    open_round(round_=label_round, actor=boss)
    codes = ("completed", "screened_out", "no_work", "fault", "stopped", "declined")
    fields = {f"{name}_code": name for name in (*codes, "failed_check", "not_qualified")}
    _link, secret = create_link(
        round_=label_round,
        actor=boss,
        required_items=wanted["each"],
        max_participants=wanted["people"],
        expires_at=timezone.now() + timedelta(days=1),
        **fields,
    )
    ids = [str(study.public_id), str(label_round.public_id)]
    pages = ("label", "round_steps", "round_survey")
    return [secret, *(reverse(page, args=ids) for page in pages)]


def _known_labels(label_round: Any) -> None:
    controls = list(
        label_round.items.filter(control_label__isnull=False).select_related("argument")
    )
    for item in controls:
        item.control_label = truth(number_of(item.argument.text))
    label_round.items.bulk_update(controls, ["control_label"], batch_size=500)


def number_of(text: str) -> int:
    """Return the number at the end of an invented sentence."""
    return int("".join(filter(str.isdigit, text.rpartition("case")[2])))


def _exercises(label_round: Any, taken: int) -> None:
    """Create sentences outside the round for training and qualification."""
    from annotation.corpus.models import Argument
    from annotation.labelling.actions.exercises import TRAINING
    from cqa_site.tabular.cells import text_key

    pair = label_round.study.comparisons.first()
    texts = {
        taken + n: f"The {pair.object1} is lighter than the {pair.object2} in case {taken + n}."
        for n in range(QUALIFICATION + 3)
    }
    rows = Argument.objects.bulk_create(
        Argument(study=label_round.study, comparison=pair, text=text, text_sha256=text_key(text))
        for text in texts.values()
    )
    pairs = [[str(row.public_id), truth(n)] for n, row in zip(texts, rows, strict=True)]
    label_round.recipe[TRAINING] = pairs


def _onboarding(study: Any, boss: Any) -> Any:
    from cqa_site.rounds.onboarding.actions import save_version
    from cqa_site.rounds.onboarding.forms import OnboardingForm

    fields = {
        "name": "Crowd",
        "text": "Judge the sentence alone.",
        "consent": "You can stop at any time.",
        "screening": SCREENING,
        "quiz": QUIZ,
        "quiz_attempts": 2,
        "quiz_minutes": 0,
        "training": 3,
        "qualification": QUALIFICATION,
        "qualification_right": NEEDED,
        "qualification_attempts": 1,
        "qualification_minutes": 0,
        "survey": "How clear was the guideline?\n- Clear\n- Not clear",
    }
    form = OnboardingForm(fields, study=study)
    if not form.is_valid():
        raise ValueError(form.errors)
    return save_version(study=study, name="Crowd", actor=boss, **form.version_fields())


def facts() -> dict[str, Any]:
    """Return counts of the stored answers, votes and outcomes."""
    from django.db.models import Count, F, OuterRef, Q, Subquery

    from annotation.labelling.models import Assignment, Item, LabelRound
    from cqa_site.rounds.models import Participant, Place, Qualification

    label_round = LabelRound.objects.get()
    counted = Q(
        assignments__state="answered",
        assignments__is_extra=False,
        assignments__slot__isnull=False,
    )
    votes = Counter(
        Item.objects.filter(Item.ORDINARY)
        .annotate(votes=Count("assignments", filter=counted))
        .values_list("votes", flat=True)
    )
    qualified = Qualification.objects.filter(rater=OuterRef("rater")).order_by("pk")
    early = (
        Assignment.objects.annotate(since=Subquery(qualified.values("granted_at")[:1]))
        .filter(Q(since=None) | Q(served_at__lt=F("since")))
        .count()
    )
    places = {place.rater.user_id: place for place in Place.objects.select_related("rater")}
    people = {}
    for person in Participant.objects.all():
        place = places.get(person.user_id)
        people[person.participant_id] = {
            "outcome": person.outcome,
            "is_ended": person.ended_at is not None,
            "excluded": bool(place and place.is_excluded),
            "stopped_by": place.stopped_by or "fall" if place and place.is_stopped else "",
        }
    wanted = label_round.votes_per_item
    return {
        "answers": Assignment.objects.filter(state="answered").count(),
        "before qualification": early,
        "items": sum(votes.values()),
        "overfilled": sum(number for count, number in votes.items() if count > wanted),
        "underfilled": sum(number for count, number in votes.items() if count < wanted),
        "people": people,
    }


if __name__ == "__main__":
    import django

    django.setup()
    if sys.argv[1] == "make":
        from django.core.management import call_command

        from cqa_site.preparing import make_tables

        make_tables()
        call_command("createcachetable", verbosity=0)
        print(json.dumps(make(json.loads(sys.argv[2]))))
    else:
        print(json.dumps(facts()))
