"""Pages for a crowd link's pay, submissions and payments."""

import uuid
from collections import defaultdict
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

from django.contrib import messages
from django.db.models import Count, Max
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.utils.translation import gettext as _, ngettext
from django.views.decorators.http import require_POST

from cqa_site.files.actions.recognition import copied
from cqa_site.people.access import StudyRequest
from cqa_site.results.figures import figure_file
from cqa_site.rounds.crowd.participants import link_page
from cqa_site.rounds.crowd.pay import PaySummary, earnings_of
from cqa_site.rounds.crowd.payments import (
    KINDS,
    NotChecked,
    confirm_payments,
    due_payments,
    hand_out,
    payment_states,
    settle_payments,
    take_back,
)
from cqa_site.rounds.crowd.submissions import differences, reclaim_items, store_submissions
from cqa_site.rounds.kind import round_head
from cqa_site.rounds.models import ParticipantLink
from cqa_site.tabular import UnreadableFile
from cqa_site.web.pages import as_file
from .forms import PayTermsForm, SubmissionsForm
from .jobs import FETCH_JOB, SEND_JOB, last_fetch, last_job, start_job
from .reading import read_export
from .tables import pay_figures

FILE_NAMES: dict[str, str] = {KINDS.BONUS: "bonuses", KINDS.OUTCOME: "outcome-pay"}
# Maximum number of table rows on the page, and of rows sent with one form.
MOST_SHOWN = 500


@link_page
def crowd_pay(request: StudyRequest, link: ParticipantLink) -> HttpResponse:
    """Show people's earnings through a link; a POST stores the pay terms."""
    form = PayTermsForm(request.POST or None, link=link)
    if request.method == "POST" and form.store(request.user):
        messages.success(request, _("Pay saved."))
        return redirect("crowd_pay", *_ids(link))
    summary = PaySummary(link, earnings_of(link.round, link=link))
    context = round_head(link.round) | {"link": link, "form": form, "summary": summary}
    context["cards"] = pay_figures(summary, _ids(link))
    status = 422 if form.errors else 200
    return render(request, "rounds/crowd/pay.html", context, status=status)


@link_page
def crowd_pay_figure(
    request: StudyRequest, link: ParticipantLink, figure: str, format: str
) -> HttpResponse:
    """Return a pay table as CSV, LaTeX or Markdown."""
    summary = PaySummary(link, earnings_of(link.round, link=link))
    figures = pay_figures(summary, _ids(link))
    return figure_file(request, figures, figure, format)


@link_page
def crowd_submissions(request: StudyRequest, link: ParticipantLink) -> HttpResponse:
    """Compare the platform's list with the site's records, and list payments.

    A POST imports an exported file.
    """
    form = SubmissionsForm(request.POST or None, request.FILES or None)
    problems: list[Any] = []
    if request.method == "POST" and form.is_valid():
        problems = _take_export(request, link, form.cleaned_data["file"])
        if not problems:
            return _back(link)
    status = 422 if form.errors or problems else 200
    due = due_payments(link)
    rows, states = differences(link), payment_states(link, last_fetch(link))
    context = round_head(link.round) | {
        "link": link,
        "form": form,
        "problems": problems[:MOST_SHOWN],
        "problem_count": len(problems),
        "listed": link.submissions.aggregate(count=Count("pk"), at=Max("seen_at")),
        "differences": rows[:MOST_SHOWN],
        "difference_count": len(rows),
        "reclaimable": sum(row.problem == "ended_there" for row in rows),
        "due": due,
        "due_rows": due.payments[:MOST_SHOWN],
        "payments": link.payments.select_related("participant__user")[:MOST_SHOWN],
        "states": states,
        "payment_count": sum(state["count"] for state in states),
        "fetching": last_job(FETCH_JOB, link),
        "sending": last_job(SEND_JOB, link),
    }
    return render(request, "rounds/crowd/submissions.html", context, status=status)


def _take_export(request: StudyRequest, link: ParticipantLink, upload: Any) -> list[Any]:
    """Store all rows of a file, or none if there are problems; return the problems."""
    try:
        with copied(upload) as path:
            rows, problems = read_export(path, upload.name)
    except UnreadableFile as problem:
        return [problem]
    if not problems:
        new = store_submissions(link=link, rows=rows, actor=request.user)
        text = _("%(rows)d submissions read, %(new)d of them new. No participation changed.")
        messages.success(request, text % {"rows": len(rows), "new": new})
    return problems


@link_page
@require_POST
def crowd_money(request: StudyRequest, link: ParticipantLink, act: str) -> HttpResponse:
    """Perform the action of a button on the page (see `ACTS`).

    An action that returns 0 has changed nothing.
    """
    if act not in ACTS:
        raise Http404
    result = ACTS[act](request, link)
    if result == 0:
        text = _("Nothing was changed, because the payments were no longer in this state.")
        messages.warning(request, text)
    return result if isinstance(result, HttpResponse) else _back(link)


def _start(request: StudyRequest, link: ParticipantLink, *, job: str) -> None:
    start_job(job, link=link, actor=request.user)


def _reclaim(request: StudyRequest, link: ParticipantLink) -> None:
    count = reclaim_items(link=link, actor=request.user)
    text = ngettext(
        "Participation ended for %(n)d person. The reserved items go to other people.",
        "Participation ended for %(n)d people. The reserved items go to other people.",
        count,
    )
    messages.success(request, text % {"n": count})


def _confirm(request: StudyRequest, link: ParticipantLink) -> None:
    """Confirm the selected payments with the amounts shown on the page."""
    keys = set(request.POST.getlist("payment"))
    count = confirm_payments(link=link, keys=keys, actor=request.user)
    text = ngettext("%(n)d payment confirmed.", "%(n)d payments confirmed.", count)
    messages.success(request, text % {"n": count})
    if count < len(keys):
        text = _("Some selected payments have changed and were not confirmed. Check the list.")
        messages.warning(request, text)


def _export(request: StudyRequest, link: ParticipantLink) -> HttpResponse | int:
    """Return confirmed payments in the platform's format for bulk bonuses."""
    batch, rows = hand_out(link=link, actor=request.user)
    if not rows:
        return 0
    amounts: dict[str, Decimal] = defaultdict(Decimal)
    for row in rows:
        amounts[row.payee] += row.amount
    text = "".join(f"{payee},{amount:.2f}\n" for payee, amount in amounts.items())
    contents = "-".join(FILE_NAMES[kind] for kind in sorted({row.kind for row in rows}))
    name = f"{contents}-{slugify(link.round.name)[:60] or 'round'}-{batch}.csv"
    return as_file(text, name=name, content_type="text/csv; charset=utf-8")


def _withdraw(request: StudyRequest, link: ParticipantLink) -> int:
    return take_back(link=link, actor=request.user)


def _settle(request: StudyRequest, link: ParticipantLink, *, was_paid: bool) -> int | None:
    """Store a person's report on whether an order was paid."""
    try:
        return settle_payments(
            link=link,
            was_paid=was_paid,
            actor=request.user,
            seen_at=last_fetch(link),
            has_looked="looked" in request.POST,
            batch=request.POST.get("batch", ""),
        )
    except NotChecked:
        text = _(
            "Nothing was changed. The payment may still be under way. Check the order on the "
            "platform and tick the box, or fetch the list first."
        )
        messages.error(request, text)
    return None


ACTS: dict[str, Callable[[StudyRequest, ParticipantLink], HttpResponse | int | None]] = {
    "fetch": partial(_start, job=FETCH_JOB),
    "reclaim": _reclaim,
    "confirm": _confirm,
    "export": _export,
    "send": partial(_start, job=SEND_JOB),
    "withdraw": _withdraw,
    "paid": partial(_settle, was_paid=True),
    "unpaid": partial(_settle, was_paid=False),
}


def _back(link: ParticipantLink) -> HttpResponse:
    return redirect("crowd_submissions", *_ids(link))


def _ids(link: ParticipantLink) -> tuple[uuid.UUID, ...]:
    return link.study.public_id, link.round.public_id, link.public_id
