"""Log lines as JSON for machines or plain text for people, with fields from their context.

A line never contains bodies, texts, labels, prompts, keys, headers, e-mail addresses, whole IP
addresses or paths (some links contain a secret in their path). This file does not need Django,
because the web server's own process also uses it.
"""

import json
import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

Value = str | Callable[[], str]
# Fields of each line inside, by name; a function is called when a line is written.
_AROUND: ContextVar[Mapping[str, Value]] = ContextVar("around", default=MappingProxyType({}))
# Other context managers around a piece of work, called with (name, fields), such as trace spans.
SPANS: list[Callable[[str, Mapping[str, str]], Any]] = []
# Only lines of the security log contain a person's network.
SECURITY, PLACE = "counterpoint.security", "network"
LONGEST_MESSAGE = 2_000
# Patterns of secrets and personal data in text from other sources.
HIDDEN = (
    # Errors whose message is the invalid value.
    (
        re.compile(
            r"(?ms)^((?:\w+\.)*\w*(?:ValueError|KeyError|IndexError|DecodeError|EncodeError"
            r"|DataError|ValidationError)): .*?(?=\n\nDuring |\n\nThe above |\Z)"
        ),
        r"\1",
    ),
    # PostgreSQL's quotes from a statement or a row.
    (re.compile(r"(?m)^(DETAIL|CONTEXT|LINE \d+): .*$"), r"\1: …"),
    (re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"), "<e-mail>"),
    (re.compile(r"(?i)\bbearer\s+\S+"), "Bearer <key>"),
    (re.compile(r"\b(?:sk-|cqa_)[\w-]{8,}"), "<key>"),
    (re.compile(r"\b(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}\b"), r"\1.0"),
)


@contextmanager
def around(work: str = "", **fields: Value) -> Iterator[None]:
    """Add the non-empty fields to every log line written in the ``with`` block."""
    token = _AROUND.set(
        {**_AROUND.get(), **{name: field for name, field in fields.items() if field}}
    )
    try:
        with ExitStack() as stack:
            for span in SPANS if work else ():
                stack.enter_context(span(work, known()))
            yield
    finally:
        _AROUND.reset(token)


def request_id() -> str:
    """Return the id of the current request; empty if there is no request."""
    return str(_AROUND.get().get("request", ""))


def security(event: str, **fields: object) -> None:
    """Write a line to the security log: ids and names of states, but no text written by people."""
    logging.getLogger(SECURITY).info(event, extra={"fields": fields})


class JsonLines(logging.Formatter):
    """A formatter that writes one ASCII JSON object per line, so no message can forge an entry."""

    def format(self, record: logging.LogRecord) -> str:
        """Render time, level, logger, message, context and any traceback."""
        line = {
            "time": _moment(record).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": _message(record),
            **_fields(record),
        }
        if traceback := _traceback(self, record):
            line["traceback"] = traceback
        return json.dumps(line, default=str)


class PlainLines(logging.Formatter):
    """A formatter for people at the terminal; tracebacks follow below the line."""

    def format(self, record: logging.LogRecord) -> str:
        """Render the time of day, level and message, and the job or run concerned."""
        about = [
            f"{name} {value}" for name, value in _fields(record).items() if name in PEOPLE_ASK
        ]
        parts = (
            f"{_moment(record).astimezone():%H:%M:%S} {record.levelname}: ",
            "".join(
                character if character.isprintable() else " " for character in _message(record)
            ),
            f" ({', '.join(about)})" if about else "",
        )
        return "\n".join(filter(None, ("".join(parts), _traceback(self, record))))


PEOPLE_ASK = ("route", "job", "run", "call")


def server_lines() -> logging.Formatter:
    """Return the log formatter for the web server's own process, which does not read settings."""
    is_production = os.environ.get("PRODUCTION", "").lower() in (
        "1",
        "true",
        "yes",
        "on",
        "y",
        "t",
    )
    name = os.environ.get("LOG_FORMAT") or ("json" if is_production else "plain")
    return JsonLines() if name == "json" else PlainLines()


def hide(text: str) -> str:
    """Remove from the text everything that a log line must not contain."""
    for pattern, instead in HIDDEN:
        text = pattern.sub(instead, text)
    return text


def known() -> dict[str, str]:
    """Return the current context fields that have a value."""
    facts = {name: value() if callable(value) else value for name, value in _AROUND.get().items()}
    return {name: value for name, value in facts.items() if value}


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    """Return the context fields of the line and the fields added by its caller."""
    fields = known() | getattr(record, "fields", {})
    if record.name != SECURITY:
        fields.pop(PLACE, None)
    return fields


def _message(record: logging.LogRecord) -> str:
    """Return the message of a line, without the path in Django's own lines about requests."""
    if record.name.startswith("django.security."):
        return f"refused: {record.name.rpartition('.')[2]}"
    path = getattr(getattr(record, "request", None), "path", None)
    if path is None or not isinstance(record.args, tuple):
        text = record.getMessage()
    else:
        text = str(record.msg) % tuple("…" if arg == path else arg for arg in record.args)
    return hide(text)[:LONGEST_MESSAGE]


def _traceback(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    if not record.exc_info or record.name.startswith("django.security."):
        return ""
    return hide(formatter.formatException(record.exc_info))


def _moment(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)
