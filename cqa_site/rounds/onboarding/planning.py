"""Pages on which researchers write onboardings, preview them, and see their results."""

import uuid
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.actions import rater_for
from cqa_site.people.models import Study
from cqa_site.tabular import csv_pieces
from cqa_site.web.pages import guarded
from ..kind import kind_of, kinds
from ..models import Onboarding, OnboardingVersion, Qualification, StepResult
from .actions import grant_qualification, save_version, withdraw_qualification
from .forms import STARTS, GrantForm, OnboardingForm, WithdrawForm, fields_of
from .pages import quiz_feedback
from .questions import QuestionsForm
from .reports import changed_fields, people_of, raters_of, step_counts, survey_rows
from .steps import FAILED, PASSED, READING, SCREENING, SURVEY, StepProgress

PER_PAGE = 50


def onboardings_of(study: Study) -> QuerySet[Onboarding]:
    """Return a study's onboardings with their newest version numbers and counts of rounds."""
    versions = OnboardingVersion.objects.filter(onboarding=OuterRef("pk")).order_by("-number")
    rows = Onboarding.objects.filter(study=study).order_by("name")
    return rows.annotate(
        number=Subquery(versions.values("number")[:1]), in_rounds=Count("versions__rounds")
    )


def onboarding_in(study: Study, onboarding_id: uuid.UUID) -> Onboarding:
    """Return an onboarding of the study; raises Http404."""
    rows = Onboarding.objects.filter(study=study).select_related("study")
    return get_object_or_404(rows, public_id=onboarding_id)


@study_page(*RESEARCHERS, only="GET")
def onboardings(request: StudyRequest, study: Study) -> HttpResponse:
    starts = [(name, start["title"]) for name, start in STARTS.items()]
    context = {"study": study, "onboardings": onboardings_of(study)[:200], "starts": starts}
    return render(request, "rounds/onboarding/list.html", context)


@study_page(*RESEARCHERS)
def onboarding_new(request: StudyRequest, study: Study) -> HttpResponse:
    """Create an onboarding with a first version, from a template text or from scratch."""
    initial = STARTS.get(request.GET.get("start", ""), {}).get("fields", {})
    form = OnboardingForm(request.POST or None, study=study, initial=initial)
    return _form_page(request, study, form, initial=initial)


@study_page(*RESEARCHERS)
def onboarding_edit(request: StudyRequest, study: Study, onboarding_id: uuid.UUID) -> HttpResponse:
    row = onboarding_in(study, onboarding_id)
    initial = fields_of(row.versions.select_related("onboarding")[0])
    form = OnboardingForm(request.POST or None, study=study, onboarding=row, initial=initial)
    return _form_page(request, study, form, initial=initial, onboarding=row)


def _form_page(
    request: StudyRequest, study: Study, form: OnboardingForm, **context: Any
) -> HttpResponse:
    if request.method == "POST" and form.is_valid():
        version = save_version(
            study=study,
            name=form.cleaned_data["name"],
            actor=request.user,
            onboarding=form.onboarding,
            **form.version_fields(),
        )
        messages.success(request, _("Version %d saved.") % version.number)
        return redirect("onboarding", study.public_id, version.onboarding.public_id)
    leave = reverse("onboardings", args=[study.public_id])
    if form.onboarding is not None:
        leave = reverse("onboarding", args=[study.public_id, form.onboarding.public_id])
    context |= {"study": study, "form": form, "leave": leave}
    context["trains"] = [kind for kind in kinds() if kind.can_train]
    status = 422 if form.errors else 200
    return render(request, "rounds/onboarding/form.html", context, status=status)


@study_page(*RESEARCHERS, only="GET")
def onboarding(request: StudyRequest, study: Study, onboarding_id: uuid.UUID) -> HttpResponse:
    """Show a version, by default the newest, with its rounds and results."""
    return _page(request, study, onboarding_in(study, onboarding_id))


def _page(
    request: StudyRequest, study: Study, row: Onboarding, form: GrantForm | None = None
) -> HttpResponse:
    versions = list(row.versions.select_related("onboarding__study").prefetch_related("rounds"))
    numbered = {candidate.number: candidate for candidate in versions}
    version = _named_version(request, versions)
    before = numbered.get(version.number - 1)
    page = Paginator(raters_of(row), PER_PAGE).get_page(request.GET.get("page"))
    for candidate in versions:
        rounds = [(round_, kind_of(round_).audit.round) for round_ in candidate.rounds.all()]
        vars(candidate)["used_in"] = rounds
    context = {
        "study": study,
        "onboarding": row,
        "version": version,
        "versions": versions,
        "before": before,
        "changes": changed_fields(before, version) if before else [],
        "labels": {name: field.label for name, field in OnboardingForm.base_fields.items()},
        "counts": step_counts(version),
        "page": page,
        "people": people_of(row, page.object_list),
        "form": form or GrantForm(study=study),
        "has_survey": any(candidate.step(SURVEY) for candidate in versions),
    }
    status = 422 if form else 200
    return render(request, "rounds/onboarding/onboarding.html", context, status=status)


def _named_version(request: StudyRequest, versions: list[OnboardingVersion]) -> OnboardingVersion:
    number = request.GET.get("version", "")
    return next((row for row in versions if str(row.number) == number), versions[0])


@study_page(*RESEARCHERS, only="POST")
def onboarding_grant(
    request: StudyRequest, study: Study, onboarding_id: uuid.UUID
) -> HttpResponse:
    """Let a person work without the steps of the version shown on the page."""
    row = onboarding_in(study, onboarding_id)
    form = GrantForm(request.POST, study=study)
    if not form.is_valid():
        return _page(request, study, row, form)
    version = _named_version(request, list(row.versions.select_related("onboarding__study")))
    membership = study.memberships.get(user=form.cleaned_data["person"])
    rater, reason = rater_for(membership=membership), form.cleaned_data["reason"]
    if grant_qualification(version=version, rater=rater, actor=request.user, reason=reason):
        done = _("%(person)s can work without the steps of version %(number)d.")
        about = {"person": membership.user, "number": version.number}
        messages.success(request, done % about)
    else:
        messages.info(request, _("%s is already qualified.") % membership.user)
    page = reverse("onboarding", args=[study.public_id, onboarding_id])
    return redirect(f"{page}?version={version.number}")


@study_page(*RESEARCHERS, only="POST")
def onboarding_withdraw(
    request: StudyRequest, study: Study, onboarding_id: uuid.UUID, qualification_id: uuid.UUID
) -> HttpResponse:
    """Withdraw a qualification, permanently or until the person passes the steps again."""
    row = onboarding_in(study, onboarding_id)
    held = Qualification.objects.select_related("version__onboarding__study", "rater")
    qualification = get_object_or_404(held, version__onboarding=row, public_id=qualification_id)
    form = WithdrawForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Give a reason for the withdrawal."))
    elif withdraw_qualification(
        qualification=qualification, actor=request.user, **form.cleaned_data
    ):
        done = _("Qualification withdrawn.")
        if form.cleaned_data["can_repeat"]:
            done = _("The person must repeat the steps before the next item.")
        messages.success(request, done)
    else:
        messages.info(request, _("This qualification has already ended."))
    return redirect("onboarding", study.public_id, onboarding_id)


@study_page(*RESEARCHERS, only="GET")
def onboarding_survey(
    request: StudyRequest, study: Study, onboarding_id: uuid.UUID
) -> StreamingHttpResponse:
    rows = survey_rows(onboarding_in(study, onboarding_id))
    header = next(rows)
    reply = StreamingHttpResponse(csv_pieces(header, rows), content_type="text/csv; charset=utf-8")
    reply["Content-Disposition"] = 'attachment; filename="survey.csv"'
    return guarded(reply)


# Preview of every step, without storing anything.


@study_page(*RESEARCHERS)
def onboarding_preview(
    request: StudyRequest, study: Study, onboarding_id: uuid.UUID, number: int, step: int
) -> HttpResponse:
    """Show a step of a version; a POST shows the feedback on quiz answers."""
    row = onboarding_in(study, onboarding_id)
    version = get_object_or_404(row.versions.select_related("onboarding"), number=number)
    if not 1 <= step <= len(version.steps):
        raise Http404
    current = version.steps[step - 1]
    context: dict[str, Any] = {
        "study": study,
        "version": version,
        "step": current,
        "progress": StepProgress(version.steps, step - 1),
        "number": step,
        "count": sum(planned["kind"] != SURVEY for planned in version.steps),
        "is_member": True,
        "preview": {
            "before": _preview(row, number, step - 1) if step > 1 else "",
            "after": _preview(row, number, step + 1) if step < len(version.steps) else "",
            "out": reverse("onboarding", args=[study.public_id, onboarding_id]),
        },
    }
    if current["kind"] not in (SCREENING, READING, SURVEY):
        return render(request, "rounds/onboarding/step.html", context)
    is_survey = current["kind"] == SURVEY
    form = QuestionsForm(
        current["questions"],
        request.POST or None,
        rater=None if is_survey else 0,
        is_required=not is_survey,
    )
    if request.method == "POST" and request.POST.get("then") != "back" and form.is_valid():
        return _judged(request, context, form)
    context |= {"form": form, "is_missing": bool(form.errors)}
    page = "survey" if is_survey else "step"
    status = 422 if form.errors else 200
    return render(request, f"rounds/onboarding/{page}.html", context, status=status)


def _preview(row: Onboarding, number: int, step: int) -> str:
    return reverse("onboarding_preview", args=[row.study.public_id, row.public_id, number, step])


def _judged(request: StudyRequest, context: dict[str, Any], form: QuestionsForm) -> HttpResponse:
    preview = context["preview"]
    if context["step"]["kind"] != READING or not form.questions:
        return redirect(preview["after"] or preview["out"])
    outcome = FAILED if form.wrong else PASSED
    context |= {
        "result": StepResult(step=READING, outcome=outcome),
        "attempts_left": context["step"]["attempts"] - 1,
        "feedback": quiz_feedback(form.questions, form.answers),
        "shows_key": not form.wrong,
        "goes_on": request.path if form.wrong else preview["after"] or preview["out"],
    }
    return render(request, "rounds/onboarding/after.html", context)
