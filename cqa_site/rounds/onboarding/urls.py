"""URLs for the steps before work, the survey, and the researchers' pages."""

from django.urls import path

from . import pages, planning

ROUND = "s/<uuid:study_id>/rounds/<uuid:any_round_id>/"
ALL = "s/<uuid:study_id>/onboarding/"
ROW = f"{ALL}<uuid:onboarding_id>/"
PREVIEW = f"{ROW}versions/<int:number>/preview/<int:step>/"
WITHDRAW = f"{ROW}qualifications/<uuid:qualification_id>/withdraw/"

urlpatterns = [
    path(f"{ROUND}steps/", pages.round_steps, name="round_steps"),
    path(f"{ROUND}survey/", pages.round_survey, name="round_survey"),
    path(ALL, planning.onboardings, name="onboardings"),
    path(f"{ALL}new/", planning.onboarding_new, name="onboarding_new"),
    path(ROW, planning.onboarding, name="onboarding"),
    path(f"{ROW}edit/", planning.onboarding_edit, name="onboarding_edit"),
    path(f"{ROW}survey.csv", planning.onboarding_survey, name="onboarding_survey"),
    path(f"{ROW}qualifications/", planning.onboarding_grant, name="onboarding_grant"),
    path(WITHDRAW, planning.onboarding_withdraw, name="onboarding_withdraw"),
    path(PREVIEW, planning.onboarding_preview, name="onboarding_preview"),
]
