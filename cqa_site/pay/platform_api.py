"""The crowd platform's API: its list of submissions, and payment orders."""

import asyncio
import json
from collections.abc import Collection
from decimal import Decimal
from typing import Any
from urllib.parse import quote, urlencode

from django.conf import settings

from cqa_site.rounds.crowd.submissions import SubmissionRow
from cqa_site.rounds.crowd.tokens import PLATFORM_ID
from cqa_site.rounds.models import CrowdPayment, ParticipantLink
from cqa_site.sealing import KeyUnreadable, unseal
from .reading import read_listed

DEADLINE_SECONDS, MAX_BYTES = 60.0, 16 * 1024 * 1024
PAGE_SIZE, MOST_PAGES = 200, 500
# Statuses which mean that the platform understood the request and did not carry it out.
REFUSALS = (400, 401, 403, 404, 405, 422)


class PlatformRefused(Exception):
    """The request was refused by the platform, or was not sent; the message says why."""


class PlatformUnclear(Exception):
    """It is unknown whether the platform carried out the request."""


def list_submissions(link: ParticipantLink) -> list[SubmissionRow]:
    """Fetch all submissions of the link's study; raises PlatformRefused, PlatformUnclear."""
    rows: dict[str, SubmissionRow] = {}
    for page in range(1, MOST_PAGES + 1):
        query = {"study": link.platform_study, "page": page, "page_size": PAGE_SIZE}
        document = _ask(link, "GET", f"/api/v1/submissions/?{urlencode(query)}")
        listed = document.get("results") if isinstance(document, dict) else None
        if not isinstance(listed, list):
            raise PlatformUnclear("The response does not contain a list of submissions.")
        try:
            read = {row.submission: row for row in read_listed(listed)}
        except ValueError as problem:
            raise PlatformUnclear(f"The response cannot be read: {problem}.") from None
        # Without new submissions there are no more pages, or the platform ignores page numbers.
        if not read.keys() - rows.keys():
            break
        rows |= read
    return list(rows.values())


def create_order(link: ParticipantLink, payments: Collection[CrowdPayment]) -> str:
    """Create a payment order, which moves no money; return its ID on the platform.

    Each line identifies a submission, not a person. Raises PlatformRefused, PlatformUnclear.
    """
    lines = "\n".join(f"{payment.submission},{payment.amount:.2f}" for payment in payments)
    body = {"study_id": link.platform_study, "csv_bonuses": lines}
    document = _ask(link, "POST", "/api/v1/submissions/bonus-payments/", body)
    order = document.get("id") if isinstance(document, dict) else None
    if not isinstance(order, str) or not PLATFORM_ID.fullmatch(order):
        raise PlatformUnclear("The response does not contain an order ID.")
    amount, total = document.get("amount"), sum((row.amount for row in payments), Decimal())
    if isinstance(amount, (int, float)) and round(amount) != 100 * total:
        raise PlatformRefused(
            f"The order on the platform has the wrong total: {amount / 100:.2f}."
        )
    return order


def pay_order(link: ParticipantLink, order: str) -> None:
    """Ask the platform to pay an order; two requests pay it twice.

    Raises the same errors as `create_order`.
    """
    _ask(link, "POST", f"/api/v1/bulk-bonus-payments/{quote(order, safe='')}/pay/", {})


def _ask(link: ParticipantLink, method: str, path: str, body: Any = None) -> Any:
    """Send one request with the link's token; return the decoded reply.

    Returns None if the reply is not JSON.
    """
    from cqa_site.judging.chat import decode
    from cqa_site.judging.transport.egress import EgressFailed, fetch, parse_allowed

    if not link.api_ciphertext or not link.platform_study:
        raise PlatformRefused("The link has no API token or no study ID on the platform.")
    try:
        token = unseal(link.api_ciphertext)
    except KeyUnreadable as problem:
        raise PlatformRefused(str(problem)) from None
    headers = {"Accept": "application/json", "Authorization": f"Token {token}"}
    if body is not None:
        headers["Content-Type"] = "application/json"
    request = fetch(
        settings.CROWD_API_URL.rstrip("/") + path,
        method=method,
        headers=headers,
        body=b"" if body is None else json.dumps(body).encode(),
        allowed=parse_allowed(settings.EGRESS_ALLOW),
        deadline=DEADLINE_SECONDS,
        max_bytes=MAX_BYTES,
    )
    try:
        reply = asyncio.run(request)
    except EgressFailed as problem:
        raise PlatformUnclear(f"The platform did not answer: {problem}.") from None
    if reply.status in REFUSALS:
        raise PlatformRefused(f"The platform refused the request ({reply.status}).")
    if reply.status >= 300:
        raise PlatformUnclear(f"The platform returned status {reply.status}.")
    return decode(reply.body)
