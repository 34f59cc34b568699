"""The signed message that tells another program that a run ended."""

import asyncio
import hashlib
import hmac
import json
import time

from django.conf import settings

from . import keys
from .jobs import JobRefused
from .models import Run
from .progress import progress_of

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
    from cqa_site.judging.egress import EgressRefused, parse_allowed, post

    body = payload(run)
    headers = {
        "Content-Type": "application/json",
        HEADER: signature(keys.unseal(run.webhook_ciphertext), int(time.time()), body),
    }
    for wait in (*WAITS, None):
        try:
            answer = asyncio.run(
                post(
                    run.webhook_url,
                    body,
                    headers=headers,
                    allowed=parse_allowed(settings.EGRESS_ALLOW),
                )
            )
        except EgressRefused as refusal:
            raise JobRefused(str(refusal)) from None
        except OSError:
            answer = None
        if answer is not None and 200 <= answer.status < 300:
            return
        if wait is not None:
            time.sleep(wait)
    raise JobRefused("The address did not accept the message.")
