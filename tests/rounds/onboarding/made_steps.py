"""Onboardings for tests, with a step of every kind."""

from typing import Any

from cqa_site.rounds.models import OnboardingVersion
from cqa_site.rounds.onboarding.actions import save_version
from cqa_site.rounds.onboarding.forms import OnboardingForm
from cqa_site.rounds.queue import place_for

FIELDS = {
    "name": "Main",
    "text": "Read GUIDELINE-TEXT before you begin.",
    "consent": "We store your answers. Write to the lab.",
    "screening": "Do you read English?\n+ Every day\n- Hardly ever",
    "reads": "on",
    "quiz": "What counts?\n- My opinion\n+ The text alone\n= EXPLANATION-1\n@ PLACE-1",
    "quiz_attempts": 2,
    "quiz_minutes": 0,
    "training": 0,
    "qualification": 0,
    "qualification_right": 0,
    "qualification_attempts": 1,
    "qualification_minutes": 0,
    "survey": "How old are you? [number]\n\nWhat else?",
}
# The right answer to each question of those.
RIGHT: dict[str, dict[str, Any]] = {
    "consent": {"agrees": True},
    "screening": {"q0": "0"},
    "reading": {"q0": "1"},
}
NONE = {"consent": "", "screening": "", "quiz": "", "survey": "", "reads": ""}


def make_version(study, actor, *, onboarding=None, **fields: Any) -> OnboardingVersion:
    """The next version, written as the form writes it."""
    form = OnboardingForm(FIELDS | fields, study=study, onboarding=onboarding)
    assert form.is_valid(), form.errors
    name = form.cleaned_data["name"]
    version = form.version_fields()
    return save_version(study=study, name=name, actor=actor, onboarding=onboarding, **version)


def attach(round_, version) -> Any:
    """The round, with this version before its work."""
    type(round_).objects.filter(pk=round_.pk).update(onboarding=version)
    round_.refresh_from_db()
    return round_


def place_of(world, person: int = 0) -> Any:
    """Somebody's enrolment in the world's round."""
    round_ = world.kind.Round.objects.get(pk=world.round.pk)
    return place_for(round_=round_, rater=world.raters[person])
