"""Template tags for onboardings and their surveys."""

from typing import Any

from django import template

from cqa_site.people.models import User
from cqa_site.rounds.onboarding.actions import has_survey_left

register = template.Library()


@register.simple_tag
def survey_left(round_: Any, user: User) -> bool:
    """Whether a member can answer the round's survey; a participant's comes before the code."""
    return not user.is_participant and has_survey_left(round_, user)
