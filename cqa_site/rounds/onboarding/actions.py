"""Actions that change onboardings, results of steps, and qualifications."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from cqa_site.people.access import record
from cqa_site.people.models import Rater, Study, User
from ..kind import Exercise, kind_of
from ..models import (
    Onboarding,
    OnboardingVersion,
    Participant,
    Place,
    Qualification,
    StepResult,
    SurveyResponse,
)
from .questions import wrong_answers
from .steps import (
    ANSWERED,
    CONSENT,
    DECLINED,
    EXERCISES,
    FAILED,
    PASSED,
    QUALIFICATION,
    SURVEY,
    TRAINING,
    VALID,
    WITHDRAWN,
    StepProgress,
    add_qualification,
    prepare,
    results_of,
    state_of,
    step_progress,
    valid_qualification,
)


@transaction.atomic
def save_version(
    *, study: Study, name: str, actor: User, onboarding: Onboarding | None = None, **fields: Any
) -> OnboardingVersion:
    """Store the next version of an onboarding, or the first version of a new onboarding."""
    if onboarding is None:
        onboarding = Onboarding.objects.create(study=study, name=name)
    # The lock makes simultaneous saves wait for each other, so that version numbers have no gaps.
    stored = Onboarding.objects.select_for_update().get(pk=onboarding.pk)
    if stored.name != name:
        stored.name = name
        stored.save(update_fields=["name"])
    last = stored.versions.first()
    number = last.number + 1 if last else 1
    version = OnboardingVersion.objects.create(
        onboarding=stored, number=number, created_by=actor, **fields
    )
    record(study=study, actor=actor, verb="onboarding_version_saved", subject=str(version))
    return version


class NotNow(Exception):
    """The step is not the person's current step; the page shows the current step."""


@transaction.atomic
def take_step(
    *,
    round_: Any,
    place: Place,
    kind: str,
    answers: Mapping[str, Any],
    started_at: datetime | None,
) -> StepResult:
    """Store a person's result in their current step; raises NotNow.

    ``answers`` is the input from the step's form: agreement, choices, or an answer to one
    exercise.
    """
    # A second tab waits here, until its step is no longer current. The rater is locked because
    # rounds with the same onboarding share attempts.
    Rater.objects.select_for_update(no_key=True).get(pk=place.rater_id)
    stored = Place.objects.select_for_update().get(pk=place.pk)
    progress = step_progress(round_, stored)
    step = progress.step
    is_open = not (progress.is_over or progress.is_waiting or progress.is_done)
    if step is None or step["kind"] != kind or not is_open:
        raise NotNow
    result = StepResult(
        rater_id=stored.rater_id,
        round_id=round_.pk,
        version=round_.onboarding,
        step=kind,
        attempt=progress.attempts + 1,
        answers=dict(answers),
        started_at=started_at,
    )
    if kind in EXERCISES:
        _answer_exercise(round_, result, progress)
    else:
        result.outcome = _judge(step, answers)
        result.save()
    prepare(round_, stored, step_progress(round_, stored))
    return result


def _judge(step: Mapping[str, Any], answers: Mapping[str, Any]) -> str:
    if step["kind"] == CONSENT:
        return PASSED if answers["agrees"] else DECLINED
    return FAILED if wrong_answers(step["questions"], answers) else PASSED


def exercises_of_step(round_: Any, step: Mapping[str, Any]) -> list[Exercise]:
    """Return the items of a training or qualification step, excluding those of the other step."""
    exercises = kind_of(round_).exercises(round_)
    if step["kind"] == TRAINING:
        return exercises[: step["items"]]
    before = round_.onboarding.step(TRAINING) if round_.onboarding else None
    start = before["items"] if before else 0
    return exercises[start : start + step["items"]]


def answered_in(round_: Any, rater: int, step: str, attempt: int) -> list[StepResult]:
    return [
        result
        for result in results_of(round_, rater)
        if (result.step, result.attempt, result.outcome) == (step, attempt, ANSWERED)
    ]


def exercises_left(round_: Any, rater: int, progress: StepProgress) -> list[Exercise]:
    """Return the items of the current step that the person has yet to answer."""
    step: Any = progress.step
    before = answered_in(round_, rater, step["kind"], progress.attempts + 1)
    keys = {answer.answers["item"] for answer in before}
    return [item for item in exercises_of_step(round_, step) if item.key not in keys]


def _answer_exercise(round_: Any, result: StepResult, progress: StepProgress) -> None:
    """Store the answer to the next exercise and, after the last exercise, the step's outcome."""
    left = exercises_left(round_, result.rater_id, progress)
    if not left or left[0].key != result.answers["item"]:
        raise NotNow
    result.answers["is_right"] = result.answers["label"] == left[0].right
    result.outcome = ANSWERED
    result.save()
    if not left[1:]:
        _end_exercises(round_, result.rater_id, progress)


@transaction.atomic
def end_exercises(round_: Any, place: Place) -> bool:
    """End a step if all its existing items are answered; return whether it ended.

    Items disappear if their sentence is deleted or their label is removed from the scale. A
    qualification without any answer does not end.
    """
    Rater.objects.select_for_update(no_key=True).get(pk=place.rater_id)
    progress = step_progress(round_, place)
    is_exercise = progress.step is not None and progress.step["kind"] in EXERCISES
    if not is_exercise or progress.end or exercises_left(round_, place.rater_id, progress):
        return False
    return _end_exercises(round_, place.rater_id, progress)


def _end_exercises(round_: Any, rater: int, progress: StepProgress) -> bool:
    """Store whether the share of right answers is enough to pass the step."""
    step: Any = progress.step
    answers = answered_in(round_, rater, step["kind"], progress.attempts + 1)
    if step["kind"] == QUALIFICATION and not answers:
        return False
    right = sum(answer.answers["is_right"] for answer in answers)
    has_passed = right * step["items"] >= step.get("right", 0) * len(answers)
    StepResult.objects.create(
        rater_id=rater,
        round_id=round_.pk,
        version=round_.onboarding,
        step=step["kind"],
        attempt=progress.attempts + 1,
        outcome=PASSED if has_passed else FAILED,
        answers={"right": right, "of": len(answers)},
    )
    return True


@transaction.atomic
def grant_qualification(
    *, version: OnboardingVersion, rater: Rater, actor: User, reason: str
) -> Qualification | None:
    """Let a person work with consent as the only step; return None if already qualified."""
    if valid_qualification(version, rater.pk):
        return None
    qualification = add_qualification(version, rater.pk, granted_by=actor, reason=reason)
    _record(qualification, "qualification_granted", actor, reason)
    return qualification


@transaction.atomic
def withdraw_qualification(
    *, qualification: Qualification, actor: User | None, reason: str, can_repeat: bool = False
) -> Qualification | None:
    """End a person's qualification for this onboarding; return None if it has already ended.

    With ``can_repeat``, it only expires, and the person can pass all steps except consent again.
    Rules, which have no actor, always use ``can_repeat``. They skip enrolments decided by a
    researcher and qualifications that are being changed.
    """
    rows = Qualification.objects.filter(pk=qualification.pk)
    # A rule must not wait, because it holds a lock on an enrolment that the other change needs.
    stored = rows.select_for_update(skip_locked=actor is None).first()
    if stored is None:
        return None
    stored.version, stored.rater = qualification.version, qualification.rater
    state, onboarding = state_of(stored), stored.version.onboarding_id
    if state == WITHDRAWN or (can_repeat and state != VALID):
        return None
    # Qualifications for other versions end as well.
    own = Qualification.objects.filter(
        rater=stored.rater_id, version__onboarding=onboarding, withdrawn_at=None
    )
    places = Place.objects.filter(rater=stored.rater_id, prepared_for__onboarding=onboarding)
    if actor is None:
        places = places.filter(is_decided_by_person=False)
    now = timezone.now()
    if can_repeat:
        own.exclude(expires_at__lte=now).update(expires_at=now)
        places.filter(is_passed=True).update(is_decided_by_person=False)
    else:
        own.update(withdrawn_at=now, withdrawn_by=actor, withdrawal_reason=reason)
    places.update(prepared_for=None, prepared_until=None)
    verb = "qualification_to_repeat" if can_repeat else "qualification_withdrawn"
    _record(stored, verb, actor, reason)
    return stored


def _record(qualification: Qualification, verb: str, actor: User | None, reason: str) -> None:
    version = qualification.version
    record(
        study=version.onboarding.study,
        actor=actor,
        verb=verb,
        subject=f"{version}: {qualification.rater.pseudonym}",
        reason=reason,
    )


# The survey after the work.


def survey_of(round_: Any) -> list[dict[str, Any]]:
    step = round_.onboarding.step(SURVEY) if round_.onboarding_id else None
    return step["questions"] if step else []


def has_survey_left(round_: Any, user: User) -> bool:
    own = SurveyResponse.objects.filter(round=round_.pk, rater__user=user)
    return bool(survey_of(round_)) and not own.exists()


def save_survey(*, round_: Any, rater: Rater, answers: Mapping[str, Any]) -> None:
    """Store a person's survey answers; a second submission changes nothing."""
    SurveyResponse.objects.get_or_create(
        round_id=round_.pk,
        rater=rater,
        defaults={"version": round_.onboarding, "answers": dict(answers)},
    )


def end_of(progress: StepProgress) -> str:
    """Return the outcome of a crowd participation that a step has ended; otherwise empty."""
    outcomes = Participant.Outcome
    if progress.end == WITHDRAWN:
        return outcomes.NOT_QUALIFIED
    return progress.end
