"""REST API URLs for onboardings."""

from cqa_site.api.base import CREATE, LIST, ROW, S, address
from . import api

ALL = S + "onboardings/"
PART = ALL + "<uuid:onboarding_id>/"
TYPING = S + "rounds/<uuid:any_round_id>/typing/"
HELD = PART + "qualifications/"

urlpatterns = [
    address(ALL, "onboardings", api.OnboardingViews, **CREATE),
    address(f"{ALL}<uuid:public_id>/", "onboarding", api.OnboardingViews, **ROW),
    address(f"{PART}versions/", "onboarding_versions", api.OnboardingVersionViews, **CREATE),
    address(f"{PART}steps/", "onboarding_steps", api.OnboardingStepViews, **LIST),
    address(f"{PART}people/", "onboarding_people", api.OnboardingPeopleViews, **LIST),
    address(TYPING, "round_typing", api.TypingViews, **LIST),
    address(HELD, "qualifications", api.QualificationViews, **CREATE),
    address(
        f"{HELD}<uuid:public_id>/withdraw/",
        "qualification_withdraw",
        api.QualificationViews,
        post="withdraw",
    ),
]
