"""Annotators' pages for the steps before work and the survey after it."""

import uuid
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from cqa_site.people.access import StudyRequest, study_page
from cqa_site.people.models import Study
from ..access import WORKERS, opened_round, own_rater, participant_of
from ..crowd.participants import end_participation
from ..crowd.participation import finish_participation
from ..kind import kind_of
from ..models import Participant, Place, Round, StepResult, SurveyResponse
from ..queue import place_for
from .actions import (
    NotNow,
    end_exercises,
    end_of,
    exercises_left,
    exercises_of_step,
    save_survey,
    survey_of,
    take_step,
)
from .questions import QuestionsForm, spoken, wrong_answers
from .steps import (
    ANSWERED,
    CONSENT,
    EXERCISES,
    FAILED,
    PASSED,
    QUALIFICATION,
    READING,
    SCREENING,
    TRAINING,
    StepProgress,
    prepare,
    results_of,
    step_progress,
    steps_of,
)


@study_page(*WORKERS)
def round_steps(request: StudyRequest, study: Study, any_round_id: uuid.UUID) -> HttpResponse:
    """Show the current step, an earlier step, or the last attempt; a POST submits the step."""
    round_ = _round(request, study, any_round_id)
    participant = participant_of(request)
    is_over = participant is not None and participant.outcome != Participant.Outcome.RUNNING
    # The result of the last attempt is shown before the code, even after a double click.
    if is_over and request.method == "POST":
        return _after(round_, request.POST.get("step", ""))
    if is_over and "after" not in request.GET:
        return redirect("participation_end")
    place = place_for(round_=round_, rater=own_rater(request))
    if request.method == "POST":
        return _take(request, round_, place)
    progress = step_progress(round_, place)
    if "after" in request.GET:
        return _after_page(request, round_, place, progress)
    number = request.GET.get("step", "")
    if number.isdecimal() and 1 <= int(number[:3]) <= progress.position:
        return _earlier_page(request, round_, place, progress, int(number[:3]))
    if participant and end_of(progress) and finish_participation(participant=participant):
        return redirect("participation_end")
    if prepare(round_, place, progress):
        return redirect(kind_of(round_).work_page, study.public_id, round_.public_id)
    return _step_page(request, round_, place, progress)


def _round(request: StudyRequest, study: Study, any_round_id: uuid.UUID) -> Any:
    plain = get_object_or_404(Round, study=study, public_id=any_round_id)
    return opened_round(kind_of(plain), request, study, any_round_id, "onboarding")


def _steps(round_: Any, query: str = "") -> HttpResponse:
    response = redirect("round_steps", round_.study.public_id, round_.public_id)
    response["Location"] += query
    response.status_code = 303
    return response


# Submission of a step.


def _take(request: StudyRequest, round_: Any, place: Place) -> HttpResponse:
    progress, kind = step_progress(round_, place), request.POST.get("step", "")
    step = progress.step
    if step is None or step["kind"] != kind or progress.is_over or progress.is_waiting:
        return _after(round_, kind)
    if request.POST.get("version", _version_id(round_)) != _version_id(round_):
        messages.info(request, _("The steps have changed in the meantime. Here is the new text."))
        return _steps(round_)
    if request.POST.get("then") == "back":
        _keep_draft(request, round_, kind)
        return _steps(round_, f"?step={max(1, progress.position)}")
    form = _form(step, place, request.POST)
    answers = _answers(request, round_, place, progress, form)
    if answers is None:
        return _step_page(request, round_, place, progress, form, status=422)
    try:
        result = _store(request, round_, place, kind, answers)
    except NotNow:
        return _after(round_, kind)
    request.session.pop(_draft_key(round_, kind), None)
    if kind == QUALIFICATION and results_of(round_, place.rater_id)[-1].pk != result.pk:
        return _steps(round_, f"?after={kind}")
    return _after(round_, kind)


def _after(round_: Any, kind: str) -> HttpResponse:
    """Redirect to the steps, or to the result if the step shows it at once."""
    return _steps(round_, f"?after={kind}" if kind in (READING, TRAINING) else "")


@transaction.atomic
def _store(
    request: StudyRequest, round_: Any, place: Place, kind: str, answers: dict[str, Any]
) -> StepResult:
    """Store the step; if it ends a crowd participation, record the outcome as well."""
    started = parse_datetime(request.session.pop(_start_key(round_, kind), "") or "")
    result = take_step(round_=round_, place=place, kind=kind, answers=answers, started_at=started)
    # A form sent twice counts as one attempt: the second form has an earlier attempt's number.
    if request.POST.get("attempt", str(result.attempt)) != str(result.attempt):
        raise NotNow
    participant, end = participant_of(request), end_of(step_progress(round_, place))
    if participant and end:
        end_participation(participant=participant, outcome=end, step=kind)
    return result


def _answers(
    request: StudyRequest,
    round_: Any,
    place: Place,
    progress: StepProgress,
    form: QuestionsForm | None,
) -> dict[str, Any] | None:
    """Return the input from the step's form; None if something is missing."""
    step: Any = progress.step
    if step["kind"] == CONSENT:
        choice = request.POST.get("then")
        return {"agrees": choice == "agree"} if choice in ("agree", "decline") else None
    if step["kind"] in EXERCISES:
        exercise = next(iter(exercises_left(round_, place.rater_id, progress)), None)
        label = request.POST.get("label", "")
        is_known = exercise is not None and label in dict(exercise.choices)
        return {"item": request.POST.get("item", ""), "label": label} if is_known else None
    return form.answers if form is not None and form.is_valid() else None


def _form(step: Any, place: Place, data: Any = None, **more: Any) -> QuestionsForm | None:
    if step["kind"] not in (SCREENING, READING):
        return None
    return QuestionsForm(step["questions"], data, rater=place.rater_id, **more)


def _draft_key(round_: Any, kind: str) -> str:
    return f"step-{kind}-{round_.public_id}"


def _start_key(round_: Any, kind: str) -> str:
    return f"start-{kind}-{round_.public_id}"


def _keep_draft(request: StudyRequest, round_: Any, kind: str) -> None:
    """Store the choices, so that the person can return to them from an earlier step."""
    chosen = {name: value[:9] for name, value in request.POST.items() if name[:1] == "q"}
    request.session[_draft_key(round_, kind)] = dict(list(chosen.items())[:50])


# Display of a step.


def _version_id(round_: Any) -> str:
    """Return the id of the round's onboarding version; empty if it has no onboarding."""
    return str(round_.onboarding.public_id) if round_.onboarding else ""


def _around(round_: Any, progress: StepProgress, position: int | None = None) -> dict[str, Any]:
    position = progress.position if position is None else position
    kind = kind_of(round_)
    return {
        "study": round_.study,
        "round": round_,
        "kind": kind,
        "version": round_.onboarding,
        "progress": progress,
        "number": min(position + 1, len(progress.steps)),
        "count": len(progress.steps),
    }


def _step_page(
    request: StudyRequest,
    round_: Any,
    place: Place,
    progress: StepProgress,
    form: QuestionsForm | None = None,
    status: int = 200,
) -> HttpResponse:
    step: Any = progress.step
    context = _around(round_, progress) | {"step": step, "is_member": not participant_of(request)}
    context |= {"is_missing": status == 422, "has_begun": place.served > 0}
    if step is not None and not (progress.is_over or progress.is_waiting):
        now = timezone.now().isoformat()
        request.session.setdefault(_start_key(round_, step["kind"]), now)
        draft = request.session.get(_draft_key(round_, step["kind"]))
        context["form"] = form or _form(step, place, initial=draft)
        if step["kind"] in EXERCISES:
            left = exercises_left(round_, place.rater_id, progress)
            if not left and end_exercises(round_, place):
                return _steps(round_)
            items = len(exercises_of_step(round_, step))
            context |= {"exercise": next(iter(left), None), "items": items}
            context["item"] = items - len(left) + 1
    return render(request, "rounds/onboarding/step.html", context, status=status)


def _earlier_page(
    request: StudyRequest, round_: Any, place: Place, progress: StepProgress, number: int
) -> HttpResponse:
    step = progress.steps[number - 1]
    done = _last(round_, place, step["kind"], PASSED)
    rows = [
        {"question": question, "answer": spoken(question, done.answers.get(f"q{index}"))}
        for index, question in enumerate(step.get("questions", ()))
        if done is not None
    ]
    context = _around(round_, progress, number - 1)
    context |= {"step": step, "rows": rows, "is_earlier": True}
    return render(request, "rounds/onboarding/step.html", context)


def _after_page(
    request: StudyRequest, round_: Any, place: Place, progress: StepProgress
) -> HttpResponse:
    """Show the result of the last attempt at a step, or of the last training answer."""
    kind = request.GET["after"]
    outcomes = (ANSWERED,) if kind == TRAINING else (PASSED, FAILED)
    result = _last(round_, place, kind, *outcomes)
    # The progress of a person who has passed all steps may no longer contain this step.
    steps = steps_of(round_)
    position = next((index for index, step in enumerate(steps) if step["kind"] == kind), None)
    if result is None or position is None or kind not in (READING, TRAINING, QUALIFICATION):
        return _steps(round_)
    step = steps[position]
    if kind == READING and not step["questions"]:
        return _steps(round_)
    context = _around(round_, progress) | {"step": step, "result": result}
    context |= {"number": position + 1, "count": len(steps)}
    context["attempts_left"] = 0 if progress.is_over else step.get("attempts", 1) - result.attempt
    if kind == TRAINING:
        exercises = {exercise.key: exercise for exercise in exercises_of_step(round_, step)}
        exercise = exercises.get(result.answers["item"])
        if exercise is None:
            return _steps(round_)
        names = dict(exercise.choices)
        context |= {"exercise": exercise, "right": names[exercise.right]}
        context["answer"] = names.get(result.answers["label"], "")
    elif kind == READING:
        context["feedback"] = quiz_feedback(step["questions"], result.answers)
        context["shows_key"] = result.outcome == PASSED or progress.is_over
    return render(request, "rounds/onboarding/after.html", context)


def quiz_feedback(questions: Any, answers: Any) -> list[dict[str, Any]]:
    """Return each question with the given answer, whether it is right, and the right answer."""
    wrong = wrong_answers(questions, answers)
    return [
        {
            "question": question,
            "answer": spoken(question, answers.get(f"q{number}")),
            "right": question["choices"][question["right"][0]] if question["right"] else "",
            "is_right": number not in wrong,
        }
        for number, question in enumerate(questions)
    ]


def _last(round_: Any, place: Place, kind: str, *outcomes: str) -> StepResult | None:
    results = [
        result
        for result in results_of(round_, place.rater_id)
        if result.step == kind and result.outcome in outcomes
    ]
    return results[-1] if results else None


@study_page(*WORKERS)
def round_survey(request: StudyRequest, study: Study, any_round_id: uuid.UUID) -> HttpResponse:
    """Show the survey once, after the work; all questions are optional."""
    round_ = _round(request, study, any_round_id)
    questions = survey_of(round_)
    if not questions:
        raise Http404
    participant = participant_of(request)
    # That page shows the remaining work, or redirects to the survey.
    if participant and participant.outcome != Participant.Outcome.COMPLETED:
        return redirect("participation_end")
    rater = own_rater(request)
    is_new = not SurveyResponse.objects.filter(round=round_.pk, rater=rater).exists()
    form = QuestionsForm(questions, request.POST or None, is_required=False)
    if request.method == "POST" and form.is_valid():
        save_survey(round_=round_, rater=rater, answers=form.answers)
        is_new = False
        if not participant:
            messages.success(request, _("Thank you. Your answers are saved."))
    if not is_new:
        if participant:
            return redirect("participation_end")
        return redirect("study", study.public_id)
    context = {"study": study, "round": round_, "form": form, "kind": kind_of(round_)}
    context["version"] = round_.onboarding
    context["is_member"] = not participant
    status = 422 if form.errors else 200
    return render(request, "rounds/onboarding/survey.html", context, status=status)
