"""People's progress in the steps, and their survey answers."""

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from cqa_site.people.models import Rater
from ..models import Onboarding, OnboardingVersion, Qualification, StepResult, SurveyResponse
from .forms import fields_of
from .questions import spoken
from .steps import ANSWERED, PASSED, SURVEY, state_of

# Number of survey responses read in one query.
PIECE = 1_000


@dataclass(frozen=True)
class StepCount:
    """The number of people who did a step of a version, by outcome."""

    step: str
    people: int
    passed: int
    not_passed: int


@dataclass
class OnboardingPerson:
    """A person with the newest result in each step and the newest qualification."""

    rater: Rater
    steps: dict[str, StepResult] = field(default_factory=dict)
    qualification: Qualification | None = None

    @property
    def state(self) -> str:
        """The state of the qualification: valid, expired or withdrawn; empty if there is none."""
        return state_of(self.qualification) if self.qualification else ""


def step_counts(version: OnboardingVersion) -> list[StepCount]:
    """Count people by step; any passed attempt, or an answered survey, counts as passed."""
    rows = StepResult.objects.filter(version=version).exclude(outcome=ANSWERED).order_by("pk")
    passed: dict[tuple[str, int], bool] = {}
    for step, rater, outcome in rows.values_list("step", "rater", "outcome"):
        passed[step, rater] = passed.get((step, rater), False) or outcome == PASSED
    people = Counter(step for step, _rater in passed)
    good = Counter(step for (step, _rater), is_good in passed.items() if is_good)
    kinds = [step["kind"] for step in version.steps]
    people[SURVEY] = good[SURVEY] = version.responses.count() if SURVEY in kinds else 0
    return [StepCount(kind, people[kind], good[kind], people[kind] - good[kind]) for kind in kinds]


def raters_of(onboarding: Onboarding) -> QuerySet[Rater]:
    """Return all raters who did a step or have a qualification, in order of arrival."""
    own = {"rater": OuterRef("pk"), "version__onboarding": onboarding}
    results = StepResult.objects.filter(**own).exclude(outcome=ANSWERED)
    did_something = Exists(results) | Exists(Qualification.objects.filter(**own))
    raters = Rater.objects.filter(did_something, study=onboarding.study_id)
    return raters.select_related("user").order_by("pk")


def people_of(onboarding: Onboarding, raters: Iterable[Rater]) -> list[OnboardingPerson]:
    """Return the steps and qualifications of raters from `raters_of`, in two queries."""
    people = {rater.pk: OnboardingPerson(rater) for rater in raters}
    own = {"version__onboarding": onboarding, "rater__in": list(people)}
    results = StepResult.objects.filter(**own).exclude(outcome=ANSWERED)
    for result in results.select_related("version").order_by("pk"):
        people[result.rater_id].steps[result.step] = result
    held = Qualification.objects.filter(**own).select_related("version", "granted_by")
    for row in held.order_by("pk"):
        people[row.rater_id].qualification = row
    return list(people.values())


@dataclass(frozen=True)
class ChangedField:
    """A field that differs between two versions, with a sign and a text for each line."""

    name: str
    lines: list[tuple[str, str]]


def changed_fields(before: OnboardingVersion, after: OnboardingVersion) -> list[ChangedField]:
    old, new = fields_of(before), fields_of(after)
    names = [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]
    return [ChangedField(name, _lines(old.get(name), new.get(name))) for name in names]


def _lines(old: Any, new: Any) -> list[tuple[str, str]]:
    texts = ["" if value is None else str(value) for value in (old, new)]
    diff = difflib.ndiff(texts[0].splitlines(), texts[1].splitlines())
    return [(line[0], line[2:]) for line in diff if line[0] != "?"]


def survey_rows(onboarding: Onboarding) -> Iterator[list[Any]]:
    """Yield the header, then one row per response, reading responses in batches."""
    versions = onboarding.versions.filter(responses__isnull=False).order_by("number").distinct()
    surveys = {row.pk: row.step(SURVEY) for row in versions}
    asked = {version: survey["questions"] for version, survey in surveys.items() if survey}
    texts = dict.fromkeys(question["text"] for row in asked.values() for question in row)
    yield ["person", "round", "version", "at", *texts]
    responses = SurveyResponse.objects.filter(version__in=list(asked)).order_by("pk")
    responses = responses.select_related("round", "rater", "version")
    last = 0
    while piece := list(responses.filter(pk__gt=last)[:PIECE]):
        last = piece[-1].pk
        for row in piece:
            answers = {
                question["text"]: spoken(question, row.answers.get(f"q{number}"))
                for number, question in enumerate(asked[row.version_id])
            }
            about = [row.rater.pseudonym, row.round.name, row.version.number, row.at.isoformat()]
            yield [*about, *(answers.get(text, "") for text in texts)]
