"""Template tags for onboardings and their surveys."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.urls import reverse

from cqa_site.people.models import User
from cqa_site.rounds.models import Place
from cqa_site.rounds.onboarding.actions import has_survey_left
from cqa_site.rounds.onboarding.steps import needed_share, qualifies_on_sheets, steps_of
from cqa_site.rounds.typing_signals import has_agreed, records_typing

register = template.Library()
for step_filter in (needed_share, qualifies_on_sheets, steps_of):
    register.filter(step_filter)


@register.simple_tag
def survey_left(round_: Any, user: User) -> bool:
    """Whether a member can still answer the survey; participants see it before their code."""
    return not user.is_participant and has_survey_left(round_, user)


@register.simple_tag(takes_context=True)
def typing_address(context: Mapping[str, Any], round_: Any) -> str:
    """Return the URL to which a work page sends typing counts; empty if consent is missing."""
    if context.get("trial") or not records_typing(round_):
        return ""
    place = Place.objects.filter(round=round_.pk, rater__user=context["user"]).first()
    if not has_agreed(round_, place):
        return ""
    return reverse("typing_record", args=[round_.study.public_id, round_.public_id])
