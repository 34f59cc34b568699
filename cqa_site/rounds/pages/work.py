"""The work page, which shows one sheet after another and saves drafts.

Sheets are sent by a plain form or by a script. The same code reads both, and the Accept header
decides between a redirect and JSON. A kind provides its templates, its form, and the data that the
page may contain.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path, reverse

from cqa_site.people.access import StudyRequest, study_page
from cqa_site.people.models import Role, Study
from cqa_site.web.pages import wants_json
from ..access import (
    WORKERS,
    count_examples,
    is_before_steps,
    next_work,
    opened_round,
    own_rater,
    own_sheet,
    participant_of,
    shown_sheets,
    shows_key,
)
from ..drafts import (
    SAVED_FIELDS,
    DraftSubmission,
    RoundNotOpen,
    StaleDraft,
    content_of,
    is_changeable,
    resolve_conflict,
    save_draft,
    submit_sheet,
)
from ..examples import WHERE, AnswerPart, examples_of, parts_of
from ..forms import SaveForm
from ..kind import SheetKind, SheetNotValid, sheet_kind_of
from ..models import Round, Sheet
from ..onboarding.steps import QUALIFICATION, example_attempt
from ..progress import TaskProgress, how_far
from ..queue import own_sheets, place_for
from .replies import (
    brought,
    closed_reply,
    conflict_reply,
    errors_of,
    is_unread,
    kept_offline,
    not_valid_json,
    see_other,
    submitted_reply,
    to_steps,
    unread_notice,
    wants_page,
    ways_of,
)

LISTED = 200


@dataclass(frozen=True)
class TaskPages:
    """The parts of the work pages that differ by kind.

    ``form`` reads the request's fields for a sheet. ``shown`` returns the only data that the page
    gets about a sheet and its content, and ``stored`` returns the data that scripts
    get about a stored draft besides its version. ``said`` returns the parts of the content as
    text, and ``answers`` the answer to an example beside the known answer.
    """

    kind: SheetKind
    form: Callable[[Any, Any], SaveForm]
    shown: Callable[[Any, Any], dict[str, Any]]
    said: Callable[[Any, Any], dict[str, str]]
    # The subject and the answer of a sheet, for the list of a person's own sheets.
    told: Callable[[Any], tuple[Any, Any]]
    # Prefix of the template ``<templates>.html``, which extends ``rounds/work_pages/sheet.html``.
    templates: str
    stored: Callable[[Any], dict[str, Any]] = lambda sheet: {}
    answers: Callable[[Any, Any], list[AnswerPart]] = parts_of
    # Compares content that was set aside with the form, if comparing the parts is not enough, and
    # the template for the differences.
    differences: Callable[[Any, Any, Any], Any] | None = None
    conflicts_template: str = "rounds/work_pages/_conflicts.html"
    # Returns the sheet to show after a submission, if it is not the next sheet.
    after: Callable[[HttpRequest, Any], Any] | None = None
    # Handles the choice between a draft set aside and the stored draft, if two buttons are not
    # enough.
    settle: Callable[[HttpRequest, Any, Any], HttpResponse] | None = None
    # The URL name of the study's page with a person's own sheets, if the kind has such a page.
    own_page: str = ""
    roles: tuple[Role, ...] = WORKERS


def work_urls(pages: TaskPages, rounds: str, sheets: str, conflicts: str) -> list[URLPattern]:
    """Return the URLs of a kind's work pages; the three routes contain the ids."""
    kind, name = pages.kind, pages.kind.work_page

    @study_page(*pages.roles, only="GET")
    def work(request: StudyRequest, study: Study, **ids: uuid.UUID) -> HttpResponse:
        (round_id,) = ids.values()
        return _work(request, opened_round(kind, request, study, round_id))

    @study_page(*pages.roles, only="GET")
    def own(request: StudyRequest, study: Study, **ids: uuid.UUID) -> HttpResponse:
        """List those of the person's sheets in a round that are still visible to them."""
        (round_id,) = ids.values()
        round_ = opened_round(kind, request, study, round_id)
        if pages.own_page:
            return redirect(pages.own_page, study.public_id)
        return _own(pages, request, round_)

    @study_page(*pages.roles, only="GET")
    def form(request: StudyRequest, study: Study, **ids: uuid.UUID) -> HttpResponse:
        """Show one of the person's sheets as a form, or a submitted example with its key."""
        (sheet_id,) = ids.values()
        sheet = own_sheet(kind, request, study, sheet_id)
        if is_before_steps(sheet):
            return to_steps(sheet.round)
        return show_sheet(pages, request, sheet)

    @study_page(*pages.roles, in_archive=True, only="POST")
    def save(request: StudyRequest, study: Study, **ids: uuid.UUID) -> HttpResponse:
        """Store the form's content; set late content aside."""
        (sheet_id,) = ids.values()
        sheet = own_sheet(kind, request, study, sheet_id)
        return (
            to_steps(sheet.round) if is_before_steps(sheet) else take_save(pages, request, sheet)
        )

    @study_page(*pages.roles, in_archive=True, only="POST")
    def submit(request: StudyRequest, study: Study, **ids: uuid.UUID) -> HttpResponse:
        (sheet_id,) = ids.values()
        sheet = own_sheet(kind, request, study, sheet_id)
        if is_before_steps(sheet):
            return to_steps(sheet.round)
        return take_submit(pages, request, sheet)

    @study_page(*pages.roles, in_archive=True, only="POST")
    def settle(request: StudyRequest, study: Study, **ids: uuid.UUID) -> HttpResponse:
        sheet_id, conflict_id = ids.values()
        sheet = own_sheet(kind, request, study, sheet_id)
        version = get_object_or_404(sheet.conflicts, public_id=conflict_id)
        return (pages.settle or _settle)(request, sheet, version)

    return [
        path(rounds, work, name=name),
        path(f"{rounds}own/", own, name=f"{name}_own"),
        path(sheets, form, name=f"{name}_form"),
        path(f"{sheets}save/", save, name=f"{name}_save"),
        path(f"{sheets}submit/", submit, name=f"{name}_submit"),
        path(f"{sheets}{conflicts}", settle, name=f"{name}_settle"),
    ]


def _work(request: Any, round_: Any) -> HttpResponse:
    rater = own_rater(request)
    work = next_work(request, round_, rater)
    if work.sheet is not None:
        return redirect(address_of(work.sheet))
    if work.reason == "ended":
        return redirect("participation_end")
    if work.reason == "steps":
        return to_steps(round_)
    context = _around(request, round_, rater)
    # This person gets no more items, even if some are free.
    far = TaskProgress(context["far"].done, 0)
    context |= {"far": far, "reason": work.reason, "place": place_for(round_=round_, rater=rater)}
    return render(request, "rounds/work_pages/state.html", context)


def _own(pages: TaskPages, request: Any, round_: Any) -> HttpResponse:
    rater = own_rater(request)
    sheets = shown_sheets(round_, rater)[:LISTED]
    context = _around(request, round_, rater) | {
        "told": [(sheet, *pages.told(sheet)) for sheet in sheets],
        "is_open": round_.state == Round.State.OPEN,
        "hides_earlier": round_.repeat_share > 0,
    }
    return render(request, "rounds/work_pages/own.html", context)


def take_save(pages: TaskPages, request: Any, sheet: Any) -> HttpResponse:
    """Store a draft even if part of the form is invalid; report the save and the invalid parts."""
    form = pages.form(request.POST, sheet)
    if not form.is_valid():
        return _not_valid(pages, request, sheet, form, errors_of(form))
    try:
        saved = save_draft(sheet=sheet, sent=form.sent())
    except StaleDraft:
        return _stale(pages, request, sheet)
    except RoundNotOpen:
        return closed_reply(request, address_of(sheet))
    about = {"version": saved.version, "saved_at": saved.saved_at, "is_draft": is_draft(saved)}
    stored = {**about, **pages.stored(saved)}
    if form.unready:
        return _not_valid(pages, request, saved, form, form.unready, stored=stored)
    return JsonResponse(stored) if wants_json(request) else see_other(address_of(sheet))


def take_submit(pages: TaskPages, request: Any, sheet: Any) -> HttpResponse:
    untouched = pages.kind.Sheet._default_manager.filter(pk=sheet.pk, version=0)
    if ways_of(sheet).trial is None and is_unread(request, untouched, "served_at"):
        return show_sheet(pages, request, sheet, error=unread_notice(), status=409)
    form = pages.form(request.POST, sheet)
    if not form.is_valid() or form.unready:
        problem = f"{errors_of(form)} {form.unready}".strip()
        return _not_valid(pages, request, sheet, form, problem)
    try:
        key = form.cleaned_data["client_key"] or uuid.uuid4().hex
        submitted = submit_sheet(sheet=sheet, sent=form.sent(), key=key)
    except StaleDraft:
        return _stale(pages, request, sheet)
    except RoundNotOpen:
        return closed_reply(request, address_of(sheet))
    except SheetNotValid as reason:
        # The draft was stored, and the page continues from it.
        sheet.refresh_from_db(fields=("draft", *SAVED_FIELDS))
        return _not_valid(pages, request, sheet, form, str(reason), reason.missing)
    if ways_of(sheet).trial:
        submitted.ways = ways_of(sheet)
        # A trial stores nothing, so the key must be shown in this response.
        shows_page = wants_page(request) or not wants_json(request)
        if not (shows_page and _is_seen_example(submitted)):
            return submitted_reply(request, ways_of(sheet).work)
        return brought(show_sheet(pages, request, submitted), address_of(sheet))
    following = (pages.after or _after)(request, submitted)
    if following is None:
        return submitted_reply(request, ways_of(submitted).work)
    if wants_page(request) and not _is_seen_example(following):
        return brought(show_sheet(pages, request, _read(pages, following)), address_of(following))
    return submitted_reply(request, address_of(following))


def _read(pages: TaskPages, sheet: Any) -> Any:
    """Reload the sheet with its subject, keeping the loaded round and rater."""
    read: Any = pages.kind.sheets("slot").get(pk=sheet.pk)
    read.round, read.rater = sheet.round, sheet.rater
    return read


def _settle(request: Any, sheet: Any, version: Any) -> HttpResponse:
    choice = request.POST.get("choice")
    address = address_of(sheet)
    # Any other value changes neither version.
    if choice not in ("mine", "stored"):
        return see_other(address)
    try:
        stored = resolve_conflict(sheet=sheet, conflict=version, is_wanted=choice == "mine")
        if choice == "mine" and sheet_kind_of(sheet).submits_at_once:
            sent = DraftSubmission(content_of(stored), stored.version)
            submit_sheet(sheet=stored, sent=sent, key=uuid.uuid4().hex)
    except RoundNotOpen:
        return closed_reply(request, address)
    except SheetNotValid:
        return see_other(address)
    return see_other(address)


def show_sheet(
    pages: TaskPages,
    request: Any,
    sheet: Any,
    form: SaveForm | None = None,
    error: str = "",
    missing: list[str] | None = None,
    status: int = 200,
) -> HttpResponse:
    """Show the form, with the submitted content after errors."""
    content = form.content if form else content_of(sheet)
    context = _around(request, sheet.round, sheet.rater) | {
        "sheet": sheet,
        "is_open": is_changeable(sheet),
        "hides_key": sheet.is_example and not shows_key(sheet),
        "feedback": _feedback(pages, sheet) if _is_seen_example(sheet) else None,
        "conflicts": _conflicts(pages, sheet),
        "before": _before(pages, sheet),
        "error": error,
        "missing": missing or [],
        "client_key": uuid.uuid4().hex,
        "page": page_data(sheet),
        "page_name": f"{pages.kind.work_page}-page",
        "ways": ways_of(sheet),
        **pages.shown(sheet, content),
    }
    template, trial = f"{pages.templates}.html", ways_of(sheet).trial
    if trial is None:
        context |= _qualification(sheet, context)
    else:
        context |= {"trial": trial, "far": trial.far}
        return render(request, template, context, status=status)
    return kept_offline(render(request, template, context, status=status), request)


def _qualification(sheet: Any, context: dict[str, Any]) -> dict[str, Any]:
    """Return the attempt for an example or, for the first sheet after the examples, the score."""
    if context["hides_key"]:
        return {"attempt": example_attempt(sheet.round, sheet.rater_id)}
    version = None if sheet.is_example or sheet.submitted_at else sheet.round.onboarding
    if version is None or version.step(QUALIFICATION) is None:
        return {}
    before = own_sheets(round_=sheet.round, rater=sheet.rater).filter(place__lt=sheet.place)
    if before.values_list("is_example", flat=True).last() is False:
        return {}
    place = place_for(round_=sheet.round, rater=sheet.rater)
    has_passed = place.is_passed and not place.is_decided_by_person
    return {"passed_share": place.score if has_passed else None}


def _feedback(pages: TaskPages, sheet: Any) -> dict[str, Any]:
    """Return the feedback on an example: the person's answer, the known answer, and reasons."""
    subject, kind = f"{pages.kind.subject}_id", pages.kind
    item = examples_of(sheet.round).get(**{subject: getattr(sheet, subject)})
    own = own_sheets(round_=sheet.round, rater=sheet.rater).filter(is_example=True)
    parts = pages.answers(sheet, item)
    return {
        "parts": parts,
        "where": item.key_notes.get(WHERE, ""),
        "is_right": kind.is_right(sheet.round, sheet, item.key_points),
        "is_exact": all(part.is_met for part in parts),
        "tolerance": kind.tolerance_in(sheet.round),
        "number": own.filter(place__lte=sheet.place).count(),
        "examples": count_examples(sheet.round),
        "place": place_for(round_=sheet.round, rater=sheet.rater),
    }


def page_data(sheet: Any) -> dict[str, object]:
    """Return the initial data for the script; every loaded page is a separate client."""
    return {
        "user": str(sheet.rater.public_id),
        "sheet": str(sheet.public_id),
        "version": sheet.version,
        "client": uuid.uuid4().hex,
        "saved_at": sheet.saved_at.isoformat() if sheet.saved_at else None,
        "is_draft": is_draft(sheet),
    }


def is_draft(sheet: Any) -> bool:
    return sheet.draft is not None or sheet.submitted_at is None


def _around(request: Any, round_: Any, rater: Any) -> dict[str, Any]:
    participant = participant_of(request)
    # The number of items required by a crowd link; None for members.
    required_items = participant.link.required_items if participant else None
    return {
        "study": round_.study,
        "round": round_,
        "kind": sheet_kind_of(round_),
        "far": how_far(round_, rater, required_items),
        "asked": required_items,
    }


def _before(pages: TaskPages, sheet: Any) -> str:
    """Return the URL of the previous sheet while it can change; otherwise empty.

    It is also empty for assigned sheets, which have a list.
    """
    if pages.kind.is_assigned or ways_of(sheet).trial or not is_changeable(sheet):
        return ""
    mine = shown_sheets(sheet.round, sheet.rater).filter(is_example=False)
    before = mine.filter(place__lt=sheet.place, state=Sheet.State.SUBMITTED)
    public_id = before.values_list("public_id", flat=True).first()
    ids = [sheet.round.study.public_id, public_id]
    return reverse(pages.kind.sheet_page, args=ids) if public_id else ""


def _conflicts(pages: TaskPages, sheet: Any) -> list[dict[str, Any]]:
    """Return the drafts set aside, newest first, with the parts that differ."""
    stored = content_of(sheet)
    compare = pages.differences or partial(_differing, pages)
    return [
        {
            "conflict": version,
            "rows": compare(sheet, pages.kind.Content(**version.content), stored),
        }
        for version in sheet.conflicts.all()
    ]


def _differing(pages: TaskPages, sheet: Any, mine: Any, stored: Any) -> list[dict[str, str]]:
    texts, other = pages.said(sheet, mine), pages.said(sheet, stored)
    rows = [
        {"name": name, "mine": texts.get(name, ""), "stored": other.get(name, "")}
        for name in dict.fromkeys([*texts, *other])
    ]
    return [row for row in rows if row["mine"] != row["stored"]]


def _stale(pages: TaskPages, request: Any, sheet: Any) -> HttpResponse:
    stored: Any = pages.kind.sheets().get(pk=sheet.pk)
    context = {
        "study": stored.round.study,
        "kind": pages.kind,
        "sheet": stored,
        "conflicts": _conflicts(pages, stored),
    }
    return conflict_reply(request, address_of(stored), pages.conflicts_template, context)


def _not_valid(
    pages: TaskPages,
    request: Any,
    sheet: Any,
    form: SaveForm,
    detail: str,
    missing: list[str] | None = None,
    stored: dict[str, Any] | None = None,
) -> HttpResponse:
    """Report missing and invalid parts; without JavaScript, return the content as well.

    ``stored`` tells the script that the draft was stored anyway.
    """
    if not wants_json(request):
        return show_sheet(pages, request, sheet, form, detail, missing, status=422)
    return not_valid_json(detail, missing, stored)


def _after(request: StudyRequest, sheet: Any) -> Any | None:
    """Return the sheet itself if it is an example with a key to show, otherwise the next sheet."""
    return sheet if _is_seen_example(sheet) else next_work(request, sheet.round, sheet.rater).sheet


def _is_seen_example(sheet: Any) -> bool:
    """Whether the sheet is shown beside its key instead of as a form."""
    is_submitted = sheet.is_example and sheet.state == Sheet.State.SUBMITTED
    return bool(is_submitted and shows_key(sheet))


def address_of(sheet: Any) -> str:
    return ways_of(sheet).form
