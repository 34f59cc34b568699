"""People's progress in the steps, and their survey answers."""

import difflib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from cqa_site.people.models import Rater

from ..models import Onboarding, OnboardingVersion, Qualification, StepResult, SurveyResponse
from .forms import fields_of
from .questions import spoken
from .steps import ANSWERED, PASSED, SURVEY, state_of


@dataclass(frozen=True)
class StepCount:
    """Number of people who did a step of a version, by outcome."""

    step: str
    people: int
    passed: int
    not_passed: int


@dataclass
class OnboardingPerson:
    """One person: the newest outcome by step, and the newest qualification."""

    rater: Rater
    steps: dict[str, StepResult] = field(default_factory=dict)
    qualification: Qualification | None = None

    @property
    def state(self) -> str:
        """Whether the qualification is valid, expired or withdrawn; empty without one."""
        return state_of(self.qualification) if self.qualification else ""


def step_counts(version: OnboardingVersion) -> list[StepCount]:
    """Count people by step; those who passed in the end count as passed."""
    rows = StepResult.objects.filter(version=version).exclude(outcome=ANSWERED).order_by("pk")
    passed: dict[tuple[str, int], bool] = {}
    for step, rater, outcome in rows.values_list("step", "rater", "outcome"):
        passed[step, rater] = passed.get((step, rater), False) or outcome == PASSED
    people = Counter(step for step, _rater in passed)
    good = Counter(step for (step, _rater), is_good in passed.items() if is_good)
    kinds = [step["kind"] for step in version.steps if step["kind"] != SURVEY]
    return [StepCount(kind, people[kind], good[kind], people[kind] - good[kind]) for kind in kinds]


def people_of(onboarding: Onboarding) -> list[OnboardingPerson]:
    """Return everybody who did a step or holds a qualification, in order of arrival."""
    people: dict[int, OnboardingPerson] = {}
    results = StepResult.objects.filter(version__onboarding=onboarding).exclude(outcome=ANSWERED)
    for result in results.select_related("rater__user", "version").order_by("pk"):
        person = people.setdefault(result.rater_id, OnboardingPerson(result.rater))
        person.steps[result.step] = result
    held = Qualification.objects.filter(version__onboarding=onboarding)
    for row in held.select_related("rater__user", "version", "granted_by").order_by("pk"):
        person = people.setdefault(row.rater_id, OnboardingPerson(row.rater))
        person.qualification = row
    return list(people.values())


@dataclass(frozen=True)
class ChangedField:
    """A field that differs between two versions, line by line: sign and text."""

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
    """Yield the header, then a row for each person's answers, without any judgement."""
    responses = SurveyResponse.objects.filter(version__onboarding=onboarding).order_by("pk")
    rows = list(responses.select_related("round", "rater", "version"))
    asked_questions: dict[str, None] = {}
    for row in rows:
        step = row.version.step(SURVEY) or {"questions": []}
        asked_questions |= dict.fromkeys(question["text"] for question in step["questions"])
    yield ["person", "round", "version", "at", *asked_questions]
    for row in rows:
        step = row.version.step(SURVEY) or {"questions": []}
        answers = {
            question["text"]: spoken(question, row.answers.get(f"q{number}"))
            for number, question in enumerate(step["questions"])
        }
        about = [row.rater.pseudonym, row.round.name, row.version.number, row.at.isoformat()]
        yield [*about, *(answers.get(text, "") for text in asked_questions)]
