"""Rules of a round, the people who currently trigger them, and the resulting actions."""

from dataclasses import dataclass
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
from ..onboarding.steps import can_repeat, is_prepared, valid_qualification
from .measures import (
    AGREEMENT,
    CONTROLS,
    MOST_WINDOW,
    OF_CONTROLS,
    ControlAnswer,
    RecentAnswer,
    RuleFinding,
    find,
)
from .records import ControlRecord


class RuleAction(TextChoices):
    """The action that a rule applies to people who trigger it."""

    OFF = "off", lazy("Off")
    WARN = "warn", lazy("Show a warning on this page")
    RECHECK = "recheck", lazy("Ask the person to repeat the steps")
    PAUSE = "pause", lazy("Pause until a researcher decides")
    EXCLUDE = "exclude", lazy("Exclude from all results until a researcher decides")


def actions_of(round_: Any, measure: str = "") -> list[RuleAction]:
    """Return the possible actions of a rule; only the rule on control accuracy can exclude."""
    actions = [RuleAction.OFF, RuleAction.WARN]
    if can_repeat(round_.onboarding):
        actions.append(RuleAction.RECHECK)
    # Assigned work cannot go to other people, and there is no page for decisions about raters.
    if kind_of(round_).is_assigned:
        return actions
    return [*actions, RuleAction.PAUSE, *([RuleAction.EXCLUDE] if measure == CONTROLS else [])]


@transaction.atomic
def set_rules(*, round_: Any, actor: User, rules: dict[str, Any]) -> None:
    """Store the rules of a round, which also apply to earlier answers."""
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
    """Apply the rules to a person's last answers, unless a researcher has decided about them.

    Only the strongest action of the triggered rules is taken. Warnings only appear on the page.
    """
    is_decided = place.is_decided_by_person or place.is_excluded or place.is_stopped
    if is_decided or not is_prepared(round_, place):
        return
    answers = _last_answers(round_, rater=place.rater_id).get(place.rater_id, [])
    controls = _control_answers(round_, rater=place.rater_id).get(place.rater_id, [])
    findings = {finding.action: finding for finding in _find(round_, place, answers, controls)}
    for decision in (RuleAction.EXCLUDE, RuleAction.PAUSE):
        if finding := findings.get(decision):
            place.round, name, reason = round_, finding.measure.name, finding.sentence
            decide_rater(place=place, actor=None, decision=decision, reason=reason, rule=name)
            return
    if finding := findings.get(RuleAction.RECHECK):
        ask_again(round_, place, f"{round_.name}: {finding.sentence}")


def _last_answers(round_: Any, **where: Any) -> dict[int, list[RecentAnswer]]:
    # Answers to items that others have not decided yet do not count for agreement, so more answers
    # are loaded.
    with_majority = AGREEMENT in round_.rules
    windows = [rule["window"] for name, rule in round_.rules.items() if name not in OF_CONTROLS]
    if not windows:
        return {}
    most = MOST_WINDOW if with_majority else max(windows)
    return kind_of(round_).last_answers(round_, most, with_majority=with_majority, **where)


def _control_answers(round_: Any, **where: Any) -> dict[int, list[ControlAnswer]]:
    is_read = not round_.rules.keys().isdisjoint(OF_CONTROLS)
    return kind_of(round_).control_answers(round_, **where) if is_read else {}


def _find(
    round_: Any, place: Place, answers: list[RecentAnswer], controls: list[ControlAnswer]
) -> list[RuleFinding]:
    recent = [answer for answer in answers if is_recent(place, answer.at)]
    return find(round_.rules, recent, record_of(place, controls))


def is_recent(place: Place, at: Any) -> bool:
    """Whether a time is after the steps were last passed and after an action was last undone."""
    return all(start is None or at > start for start in (place.prepared_at, place.rules_since))


def record_of(place: Place, controls: list[ControlAnswer]) -> ControlRecord:
    """Return a person's record on control items, marking the start of the recent answers."""
    # An answer changed later counts as recent, whenever it was served.
    ordered = sorted(controls, key=lambda answer: is_recent(place, answer.at))
    start = sum(not is_recent(place, answer.at) for answer in controls)
    return ControlRecord(tuple(answer.is_right for answer in ordered), start)


def ask_again(round_: Any, place: Place, reason: str) -> bool:
    """Let a qualification expire, unless a researcher granted it; return whether it expired."""
    held = valid_qualification(round_.onboarding, place.rater_id) if round_.onboarding_id else None
    if held is None or held.granted_by_id is not None:
        return False
    return bool(
        withdraw_qualification(qualification=held, actor=None, reason=reason, can_repeat=True)
    )


@dataclass(frozen=True)
class RuleHit:
    """A person who currently triggers a rule."""

    place: Place
    finding: RuleFinding


def hits_of(round_: Any) -> list[RuleHit]:
    """Return people with the rules they trigger, in order of arrival.

    Takes a fixed number of queries.
    """
    if not round_.rules:
        return []
    answers, controls = _last_answers(round_), _control_answers(round_)
    places = Place.objects.filter(round=round_.pk, rater__in=answers.keys() | controls.keys())
    return [
        RuleHit(place, finding)
        for place in places.select_related("rater__user").order_by("pk")
        for finding in _find(
            round_, place, answers.get(place.rater_id, []), controls.get(place.rater_id, [])
        )
    ]
