"""Run all examinations in parallel, isolated from one another and with a time limit."""

import logging
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.db import DatabaseError, ProgrammingError, connections
from django.db.models import TextChoices
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from .findings import CheckState, Finding, Result, unknown, wrong

# Findings are considered current for this number of seconds.
FRESH = 60.0
log = logging.getLogger(__name__)
Look = Callable[[], Finding]


class Family(TextChoices):
    SETTINGS = "settings", gettext_lazy("Settings")
    DATABASE = "database", gettext_lazy("Database")
    FILES = "files", gettext_lazy("Files")
    KEYS = "keys", gettext_lazy("Keys")
    WORK = "work", gettext_lazy("Background work")
    MAIL = "mail", gettext_lazy("Mail")
    WEB = "web", gettext_lazy("Web")
    MODELS = "models", gettext_lazy("Models")
    BACKUPS = "backups", gettext_lazy("Backups")


@dataclass(frozen=True)
class Examination:
    key: str
    family: Family
    name: str | Promise
    look: Look
    # Examinations that query the database run in turn, so that they need only one connection.
    asks_database: bool = False
    # No response in time counts as wrong, not as unknown.
    must_answer: bool = False

    def result(self, finding: Finding) -> Result:
        """Return the examination with its finding."""
        return Result(self.key, str(self.family.label), str(self.name), finding)


EXAMINATIONS: dict[str, Examination] = {}


def examination(
    family: Family, name: str | Promise, *, asks_database: bool = False, must_answer: bool = False
) -> Callable[[Look], Look]:
    """Register a function that returns a finding and may raise any exception."""

    def register(function: Look) -> Look:
        key = f"{family}.{function.__name__}"
        EXAMINATIONS[key] = Examination(
            key, family, name, function, asks_database, must_answer=must_answer
        )
        return function

    return register


def examine(seconds: float) -> list[Result]:
    """Run all examinations; report those that take longer than ``seconds`` as unanswered."""
    ends = time.monotonic() + seconds
    threads = [_begin(keys) for keys in _turns()]
    for thread in threads:
        thread.wait(ends - time.monotonic())
        if not thread.thread.is_alive():
            _RUNNING.pop(thread.keys, None)
    findings = {key: finding for thread in threads for key, finding in thread.found.items()}
    return [
        examination.result(findings.get(examination.key) or _late(examination, seconds))
        for examination in sorted(
            EXAMINATIONS.values(), key=lambda row: list(Family).index(row.family)
        )
    ]


def look_at(examination: Examination) -> Finding:
    """Run one examination; every exception becomes a finding."""
    try:
        return examination.look()
    except DatabaseError as problem:
        words = first_line(problem)
        if isinstance(problem, ProgrammingError) or words.startswith("no such "):
            return unknown(_("The database lacks a table or column; see its migrations."))
        return unknown(_("The database reported an error: %s.") % words)
    except OSError as problem:
        return unknown(_("The machine reported an error: %s.") % (problem.strerror or problem))
    except Exception as problem:
        log.warning("the examination %s failed", examination.key, exc_info=True)
        return unknown(_("The check itself failed (%s).") % type(problem).__name__)


def first_line(problem: Exception) -> str:
    """Return the first line of a driver's message, without hints, URLs or the full stop."""
    line = (str(problem).splitlines() or [type(problem).__name__])[0]
    return line.strip().rstrip(".")[:160]


class ExaminationThread:
    """Examinations that run one after another in a background thread."""

    def __init__(self, keys: tuple[str, ...]) -> None:
        self.keys = keys
        self.found: dict[str, Finding] = {}
        self.ended_at = math.inf
        self.thread = threading.Thread(target=self._run, daemon=True, name=f"doctor {keys[0]}")

    def wait(self, seconds: float) -> None:
        if self.thread.is_alive():
            self.thread.join(max(0.0, seconds))

    def look(self) -> None:
        """Run the examinations; skip those of the database if the database does not respond."""
        for examination in map(EXAMINATIONS.__getitem__, self.keys):
            if examination.asks_database and any(
                finding.state == CheckState.WRONG and EXAMINATIONS[key].must_answer
                for key, finding in self.found.items()
            ):
                self.found[examination.key] = unknown(_("The database does not respond."))
            else:
                self.found[examination.key] = look_at(examination)

    def _run(self) -> None:
        try:
            self.look()
        finally:
            self.ended_at = time.monotonic()
            connections.close_all()


_RUNNING: dict[tuple[str, ...], ExaminationThread] = {}
_STARTING = threading.Lock()


def _begin(keys: tuple[str, ...]) -> ExaminationThread:
    """Start the examinations, or return the thread of an earlier request.

    Threads therefore do not pile up during a fault, and results that arrive too late for one
    request are available for the next.
    """
    if settings.JOBS_INLINE:
        here = ExaminationThread(keys)
        here.look()
        return here
    with _STARTING:
        earlier = _RUNNING.get(keys)
        if earlier is not None and time.monotonic() - earlier.ended_at < FRESH:
            return earlier
        thread = _RUNNING[keys] = ExaminationThread(keys)
        thread.thread.start()
        return thread


def _turns() -> list[tuple[str, ...]]:
    """Return the keys of examinations that share a thread."""
    asking = [key for key, examination in EXAMINATIONS.items() if examination.asks_database]
    asking.sort(key=lambda key: not EXAMINATIONS[key].must_answer)
    turns = [(key,) for key, examination in EXAMINATIONS.items() if not examination.asks_database]
    return [tuple(asking), *turns] if asking else list(turns)


def _late(examination: Examination, seconds: float) -> Finding:
    words = _("No response within %s seconds.") % f"{seconds:g}"
    return wrong(words) if examination.must_answer else unknown(words)
