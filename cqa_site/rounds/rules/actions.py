"""Rules of a round: who triggers them now, and what they do."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as lazy

from cqa_site.people.access import record
from cqa_site.people.models import User

from ..access import decide_rater
from ..kind import kind_of
from ..models import Place, Round
from ..onboarding.actions import withdraw_qualification
from ..onboarding.steps import CONSENT, SURVEY, is_prepared, valid_qualification
from .measures import AGREEMENT, RecentAnswer, RuleFinding, answers_needed, find


class RuleAction(TextChoices):
    """What a rule does about people who trigger it."""

    OFF = "off", lazy("Off")
    WARN = "warn", lazy("Show a warning on this page")
    RECHECK = "recheck", lazy("Ask the person to repeat the steps")
    PAUSE = "pause", lazy("Stop serving items until a researcher decides")


def actions_of(round_: Any) -> list[RuleAction]:
    """Return the actions that rules of the round can have."""
    actions = [RuleAction.OFF, RuleAction.WARN]
    steps = round_.onboarding.steps if round_.onboarding_id else ()
    if any(step["kind"] not in (CONSENT, SURVEY) for step in steps):
        actions.append(RuleAction.RECHECK)
    # Assigned work goes to nobody else, and no page decides about its people.
    return actions if kind_of(round_).is_assigned else [*actions, RuleAction.PAUSE]


@transaction.atomic
def set_rules(*, round_: Any, actor: User, rules: dict[str, Any]) -> None:
    """Store the rules of a round; they also check earlier answers."""
    stored = Round.objects.select_for_update(of=("self",), no_key=True).get(pk=round_.pk)
    if stored.rules == rules:
        return
    record(
        study=round_.study,
        actor=actor,
        verb="rules_changed",
        subject=round_.name,
        before=stored.rules,
        after=rules,
    )
    Round.objects.filter(pk=round_.pk).update(rules=rules)
    round_.rules = rules


def check_rules(round_: Any, place: Place) -> None:
    """Act on a person's last answers; ignores people about whom a person decided.

    Takes the strongest action of the triggered rules; a warning only appears on the page.
    """
    if place.is_decided_by_person or place.is_excluded or place.is_stopped:
        return
    if not is_prepared(round_, place):
        return
    place.round = round_
    findings = {finding.action: finding for finding in _findings(round_, place)}
    if finding := findings.get(RuleAction.PAUSE):
        decide_rater(
            place=place,
            actor=None,
            decision="pause",
            reason=finding.sentence,
            facts=finding.facts,
        )
    elif finding := findings.get(RuleAction.RECHECK):
        _ask_again(round_, place, finding)


def _findings(round_: Any, place: Place) -> list[RuleFinding]:
    answers = _last_answers(round_, rater=place.rater_id)
    return find(round_.rules, _since(place, answers.get(place.rater_id, [])))


def _last_answers(round_: Any, **where: Any) -> dict[int, list[RecentAnswer]]:
    needed = answers_needed(round_.rules)
    return kind_of(round_).last_answers(
        round_, needed, with_majority=AGREEMENT in round_.rules, **where
    )


def _since(place: Place, answers: list[RecentAnswer]) -> list[RecentAnswer]:
    """Leave out answers before the steps were last passed, or before an action was taken back."""
    times = [at for at in (place.prepared_at, place.rules_since) if at is not None]
    start: datetime | None = max(times, default=None)
    return answers if start is None else [answer for answer in answers if answer.at > start]


def _ask_again(round_: Any, place: Place, finding: RuleFinding) -> None:
    """Let a qualification expire; one that a person granted stands."""
    held = valid_qualification(round_.onboarding, place.rater_id) if round_.onboarding_id else None
    if held is not None and held.granted_by_id is None:
        withdraw_qualification(
            qualification=held,
            actor=None,
            reason=finding.sentence,
            can_repeat=True,
            facts=finding.facts | {"round": round_.name},
        )


@dataclass(frozen=True)
class RuleHit:
    """Somebody who triggers a rule now."""

    place: Place
    finding: RuleFinding


def hits_of(round_: Any) -> list[RuleHit]:
    """Return people and the rules they trigger, in order of arrival; a fixed number of queries."""
    if not round_.rules:
        return []
    answers = _last_answers(round_)
    places = Place.objects.filter(round=round_.pk, rater__in=answers.keys())
    return [
        RuleHit(place, finding)
        for place in places.select_related("rater__user").order_by("pk")
        for finding in find(round_.rules, _since(place, answers[place.rater_id]))
    ]
