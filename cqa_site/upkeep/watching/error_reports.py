"""Error reports to the Sentry server in SENTRY_DSN, which contain no more than the log.

Every error is logged with a traceback, so only the log is used, and the library's integrations
with requests, tasks and clients are disabled.
"""

from typing import Any

import sentry_sdk
from django.conf import settings
from sentry_sdk.integrations.atexit import AtexitIntegration
from sentry_sdk.integrations.dedupe import DedupeIntegration
from sentry_sdk.integrations.excepthook import ExcepthookIntegration
from sentry_sdk.integrations.logging import LoggingIntegration

import cqa_site
from cqa_site.web.logging import PLACE, hide, known

Event = dict[str, Any]
SENT = ("event_id", "timestamp", "level", "platform", "release", "environment", "logger", "sdk")
KEPT_OF_FRAMES = (
    "filename", "function", "module", "lineno", "in_app", "context_line", "pre_context",
    "post_context",
)  # fmt: skip


def report_errors() -> None:
    sentry_sdk.init(
        dsn=settings.SENTRY_DSN,
        release=cqa_site.__version__,
        default_integrations=False,
        auto_enabling_integrations=False,
        integrations=[
            LoggingIntegration(level=None),
            DedupeIntegration(),
            ExcepthookIntegration(),
            AtexitIntegration(callback=lambda *_: None),
        ],
        send_default_pii=False,
        include_local_variables=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        auto_session_tracking=False,
        before_send=only_what_logs_hold,
    )


def only_what_logs_hold(event: Event, hint: Event) -> Event:
    """Copy only the allowed parts of an event, so that new library versions send no other data."""
    logs_hold = {name: event[name] for name in SENT if name in event}
    logs_hold["tags"] = {name: value for name, value in known().items() if name != PLACE}
    if words := (event.get("logentry") or {}).get("message"):
        # The message as written in the code, without the inserted values.
        logs_hold["logentry"] = {"message": hide(str(words))}
    if values := (event.get("exception") or {}).get("values"):
        logs_hold["exception"] = {"values": [_exception(value) for value in values]}
    return logs_hold


def _exception(value: Event) -> Event:
    kind = str(value.get("type"))
    words = hide(f"{kind}: {value.get('value')}")
    frames = (value.get("stacktrace") or {}).get("frames") or []
    return {
        "type": kind,
        "module": value.get("module"),
        "value": words.removeprefix(kind).removeprefix(": "),
        "stacktrace": {"frames": [_frame(frame) for frame in frames]},
    }


def _frame(frame: Event) -> Event:
    return {name: frame[name] for name in KEPT_OF_FRAMES if name in frame}
