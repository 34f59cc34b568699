"""The signed message that tells another program that a run ended."""

import asyncio
import hashlib
import hmac
import json
import time

from django.conf import settings

from cqa_site.judging.chat import Failure

from .. import keys
from ..jobs import JobRefused
from ..models import Run
from ..progress import progress_of

WAITS = (1, 5, 15)
HEADER = "X-Counterpoint-Signature"


def payload(run: Run) -> bytes:
    """What is sent: numbers and ids, no judged text."""
    progress = progress_of(run)
    return json.dumps(
        {
            "event": "run_ended",
            "study": str(run.study.public_id),
            "run": str(run.public_id),
            "number": run.number,
            "state": run.state,
            "planned": progress.planned,
            "done": progress.done,
            "unscored": progress.unscored,
            "cancelled": progress.cancelled,
            "spent_micro": progress.spent_micro,
        }
    ).encode()


def signature(secret: str, at: int, body: bytes) -> str:
    """``t=<unix seconds>,v1=<hex>``: HMAC-SHA256 over ``<seconds>.<body>``."""
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


def send(run: Run) -> None:
    """Post the message through the guarded transport; raises JobRefused after four tries."""
    body = payload(run)
    try:
        secret = keys.unseal(run.webhook_ciphertext)
    except keys.KeyUnreadable as reason:
        raise JobRefused(str(reason)) from None
    for wait in (*WAITS, None):
        # Signed anew, because receivers refuse an old time.
        headers = {
            "Content-Type": "application/json",
            HEADER: signature(secret, int(time.time()), body),
        }
        if _is_accepted(run.webhook_url, body, headers):
            return
        if wait is not None:
            time.sleep(wait)
    raise JobRefused("The address did not accept the message.")


def _is_accepted(url: str, body: bytes, headers: dict[str, str]) -> bool:
    from cqa_site.judging.transport.egress import EgressFailed, fetch, parse_allowed

    allowed = parse_allowed(settings.EGRESS_ALLOW)
    try:
        answer = asyncio.run(
            fetch(url, method="POST", body=body, headers=headers, allowed=allowed)
        )
    except EgressFailed as failure:
        if failure.kind in (Failure.BLOCKED, Failure.CERTIFICATE):
            raise JobRefused(str(failure)) from None
        return False
    return 200 <= answer.status < 300
