"""The steps that a person must pass before a round serves them work."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from ..kind import kind_of
from ..models import OnboardingVersion, Place, Qualification, StepResult

Step = Mapping[str, Any]
CONSENT, SCREENING, READING = "consent", "screening", "reading"
TRAINING, QUALIFICATION, SURVEY = "training", "qualification", "survey"
# Kinds of steps, in the order of a new version.
KINDS = (CONSENT, SCREENING, READING, TRAINING, QUALIFICATION, SURVEY)
# Steps that consist of items with known answers.
EXERCISES = (TRAINING, QUALIFICATION)
PASSED, FAILED = StepResult.Outcome.PASSED, StepResult.Outcome.FAILED
DECLINED, ANSWERED = StepResult.Outcome.DECLINED, StepResult.Outcome.ANSWERED
# The outcome of a crowd participation that ends because a step was not passed.
ENDS = {
    CONSENT: "declined",
    SCREENING: "screened_out",
    READING: "failed_check",
    QUALIFICATION: "not_qualified",
}
WITHDRAWN, VALID, EXPIRED = "withdrawn", "valid", "expired"


@dataclass(frozen=True)
class StepProgress:
    """A person's progress: the steps, the current step, and any reason why they cannot go on.

    ``end`` is empty, a value of `ENDS`, or ``withdrawn``; ``position`` is the number of steps if
    all are passed.
    """

    steps: Sequence[Step]
    position: int
    end: str = ""
    attempts: int = 0
    retry_at: datetime | None = None

    @property
    def is_done(self) -> bool:
        return not self.end and self.position >= len(self.steps)

    @property
    def step(self) -> Step | None:
        return self.steps[self.position] if self.position < len(self.steps) else None

    @property
    def is_waiting(self) -> bool:
        return self.retry_at is not None and self.retry_at > timezone.now()

    @property
    def is_over(self) -> bool:
        """Whether only a researcher can let the person continue."""
        return self.end not in ("", ENDS[CONSENT])


def is_prepared(round_: Any, place: Place) -> bool:
    """Whether the steps are known to have been passed; makes no query."""
    if round_.onboarding_id is None:
        # People who began before the round showed its guideline can continue.
        return not round_.shows_guideline or place.prepared_at is not None or place.served > 0
    if place.prepared_for_id != round_.onboarding_id:
        return False
    return place.prepared_until is None or place.prepared_until > timezone.now()


def may_work(round_: Any, place: Place) -> bool:
    """Whether the round may serve the rater; stored in the enrolment once all steps are passed."""
    return is_prepared(round_, place) or prepare(round_, place, step_progress(round_, place))


def prepare(round_: Any, place: Place, progress: StepProgress) -> bool:
    """Return whether all steps are passed; if they are, store this in the enrolment."""
    if not progress.is_done:
        return False
    version = round_.onboarding
    held = valid_qualification(version, place.rater_id) if version else None
    has_examples = version is not None and qualifies_on_sheets(round_)
    if has_examples and held is None and not place.is_decided_by_person:
        newest = newest_qualification(version, place.rater_id)
        if newest and version.step(QUALIFICATION):
            # The qualification has expired, so the examples must also be repeated.
            place.is_passed, place.score = False, None
    if version and held is None and (place.is_passed or not has_examples):
        held = add_qualification(version, place.rater_id)
    # A qualification also covers the examples, unless a researcher has decided otherwise.
    if held and has_examples and not place.is_decided_by_person:
        place.is_passed = True
    # Viewing the steps again does not change the start time.
    place.prepared_at = place.prepared_at if is_prepared(round_, place) else timezone.now()
    place.prepared_for = version
    place.prepared_until = held.expires_at if held else None
    fields = ["prepared_at", "prepared_for", "prepared_until", "is_passed", "score"]
    place.save(update_fields=fields)
    return True


def add_qualification(version: OnboardingVersion, rater: int, **more: Any) -> Qualification:
    """Qualify a person for a version, for the duration that the version sets."""
    days = version.valid_days
    until = timezone.now() + timedelta(days=days) if days else None
    return Qualification.objects.create(version=version, rater_id=rater, expires_at=until, **more)


def qualifies_on_sheets(round_: Any) -> bool:
    """Whether any step of the round's onboarding uses the round's examples."""
    if round_.onboarding_id is None or kind_of(round_).trains_on_pages:
        return False
    return any(step["kind"] in EXERCISES for step in round_.onboarding.steps)


def steps_of(round_: Any) -> list[Step]:
    """Return the steps that have pages, excluding those that use the round's examples."""
    kind = kind_of(round_)
    if round_.onboarding_id is not None:
        steps = [step for step in round_.onboarding.steps if step["kind"] != SURVEY]
        return [step for step in steps if kind.trains_on_pages or step["kind"] not in EXERCISES]
    usual: list[Step] = []
    if round_.shows_guideline and kind.has_guideline(round_):
        usual.append({"kind": READING, "questions": []})
    if round_.shows_guideline and (items := len(kind.exercises(round_))):
        usual.append({"kind": TRAINING, "items": items})
    return usual


def equal_versions(version: OnboardingVersion) -> list[int]:
    """Return the ids of the version and of earlier versions that differ from it only slightly."""
    rows = OnboardingVersion.objects.filter(
        onboarding=version.onboarding_id, number__lte=version.number
    )
    keys = []
    for pk, keeps in rows.order_by("-number").values_list("pk", "keeps_qualifications"):
        keys.append(pk)
        if not keeps:
            break
    return keys


def valid_qualification(version: OnboardingVersion, rater: int) -> Qualification | None:
    """Return the newest qualification, unless it has expired or been withdrawn."""
    newest = newest_qualification(version, rater)
    return newest if newest and state_of(newest) == VALID else None


def state_of(qualification: Qualification) -> str:
    """Return the state of a qualification: ``valid``, ``expired`` or ``withdrawn``."""
    if qualification.withdrawn_at:
        return WITHDRAWN
    until = qualification.expires_at
    return EXPIRED if until and until <= timezone.now() else VALID


def newest_qualification(version: OnboardingVersion, rater: int) -> Qualification | None:
    """Return the newest applicable qualification; a withdrawal applies to every version."""
    own = Qualification.objects.filter(version__onboarding=version.onboarding_id, rater=rater)
    rows = list(own.order_by("-pk"))
    if rows and rows[0].withdrawn_at:
        return rows[0]
    equal = equal_versions(version) if rows else ()
    return next((row for row in rows if row.version_id in equal), None)


def step_progress(round_: Any, place: Place) -> StepProgress:
    steps, version = steps_of(round_), round_.onboarding
    newest = newest_qualification(version, place.rater_id) if version else None
    state = state_of(newest) if newest else ""
    if state == WITHDRAWN:
        return StepProgress(steps, 0, WITHDRAWN)
    results = results_of(round_, place.rater_id)
    if state == VALID:
        steps = [step for step in steps if step["kind"] == CONSENT]
    if newest and newest.expires_at and state == EXPIRED:
        # Consent remains valid; all other steps must be passed again.
        results = [
            result for result in results if result.step == CONSENT or result.at > newest.expires_at
        ]
    return progress_from(steps, results)


def results_of(round_: Any, rater: int) -> list[StepResult]:
    """Return a person's results that count in the round, oldest first."""
    rows = StepResult.objects.filter(rater=rater).order_by("pk")
    if round_.onboarding is None:
        return list(rows.filter(round=round_.pk, version=None))
    return list(rows.filter(version__in=equal_versions(round_.onboarding)))


def progress_from(steps: Sequence[Step], results: Iterable[StepResult]) -> StepProgress:
    """Return the progress up to the first step not passed, and whether this step may be tried."""
    own: dict[str, list[StepResult]] = {}
    for result in results:
        own.setdefault(result.step, []).append(result)
    for position, step in enumerate(steps):
        tried = own.get(step["kind"], [])
        if not any(result.outcome == PASSED for result in tried):
            return _current(steps, position, tried)
    return StepProgress(steps, len(steps))


def _current(steps: Sequence[Step], position: int, tried: list[StepResult]) -> StepProgress:
    step = steps[position]
    if any(result.outcome == DECLINED for result in tried):
        return StepProgress(steps, position, ENDS[CONSENT])
    failed = [result for result in tried if result.outcome == FAILED]
    if not failed:
        return StepProgress(steps, position)
    if len(failed) >= step.get("attempts", 1):
        return StepProgress(steps, position, ENDS[step["kind"]], len(failed))
    retry_at = failed[-1].at + timedelta(minutes=step.get("retry_minutes", 0))
    return StepProgress(steps, position, "", len(failed), retry_at)


def can_repeat(version: OnboardingVersion | None) -> bool:
    """Whether a version has steps that a person can repeat."""
    steps = version.steps if version else ()
    return any(step["kind"] not in (CONSENT, SURVEY) for step in steps)


def exercises_wanted(version: OnboardingVersion | None) -> int:
    """Return the number of items with known answers that the steps of a version need."""
    steps = version.steps if version else ()
    return sum(step["items"] for step in steps if step["kind"] in EXERCISES)


# Kinds with sheets use the examples of the round: the first examples are for training, and the
# others for the qualification. Each further attempt uses new sheets for the same examples.


@dataclass(frozen=True)
class ExampleAttempt:
    """The next attempt at a round's examples, numbered from 0, and the pass mark.

    The first ``trained`` examples are only for training. In the others, the person must match the
    share ``needed`` of the known answers. Only ``number`` includes attempts made before the last
    qualification expired.
    """

    needed: float
    number: int = 0
    # The allowed and failed attempts, and the score of the last failed attempt.
    allowed: int = 1
    failed: int = 0
    last_score: float | None = None
    trained: int = 0
    is_last: bool = True
    retry_at: datetime | None = None
    is_step: bool = False

    @property
    def is_waiting(self) -> bool:
        return self.retry_at is not None and self.retry_at > timezone.now()


def needed_share(round_: Any) -> float:
    """Return the share of known answers that a person must match before the work."""
    if round_.onboarding_id is None:
        return float(round_.pass_mark)
    training, step = (round_.onboarding.step(kind) for kind in EXERCISES)
    if step is not None:
        return float(step["right"] / step["items"])
    return 0 if training else float(round_.pass_mark)


def example_attempt(round_: Any, rater: int) -> ExampleAttempt:
    """Return a person's next attempt at the examples; no query if no step uses them."""
    needed = needed_share(round_)
    if round_.onboarding_id is None:
        return ExampleAttempt(needed)
    training, step = (round_.onboarding.step(kind) for kind in EXERCISES)
    if step is None:
        return ExampleAttempt(needed)
    before = [
        result
        for result in results_of(round_, rater)
        if result.step == QUALIFICATION and result.round_id == round_.pk
    ]
    newest = newest_qualification(round_.onboarding, rater)
    since = newest.expires_at if newest else None
    failed = [
        result
        for result in before
        if result.outcome == FAILED and (since is None or result.at > since)
    ]
    left = step["attempts"] - len(failed)
    return ExampleAttempt(
        needed=needed,
        # After the last attempt, no further examples are served.
        number=len(before) if left > 0 else len(before) - 1,
        allowed=step["attempts"],
        failed=len(failed),
        last_score=failed[-1].answers.get("score") if failed else None,
        trained=training["items"] if training else 0,
        is_last=left <= 1,
        retry_at=failed[-1].at + timedelta(minutes=step["retry_minutes"]) if failed else None,
        is_step=True,
    )
