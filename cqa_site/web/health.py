"""The health check: does the process answer, and does it reach its database within a second?"""

import threading
import time
from copy import deepcopy

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from django.http import HttpRequest, JsonResponse

DEADLINE = 0.8
# A question that got no answer for so long is given up, and another one asked.
GIVEN_UP = 10.0


class Question:
    """One question to the database, asked in a thread because no driver promises a deadline."""

    def __init__(self) -> None:
        self.asked_at = time.monotonic()
        self.done = threading.Event()
        self.is_reached = False
        threading.Thread(target=self._ask, daemon=True, name="health").start()

    def _ask(self) -> None:
        try:
            ask_database()
            self.is_reached = True
        except DatabaseError:
            pass
        finally:
            self.done.set()

    @property
    def is_pending(self) -> bool:
        """Whether an answer may still come."""
        return not self.done.is_set() and time.monotonic() - self.asked_at < GIVEN_UP


class Pulse:
    """Asks one question at a time, so that checks cannot pile up while the database hangs."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.question: Question | None = None

    def reaches_database(self) -> bool:
        """Whether the database answers within the deadline."""
        with self.lock:
            if self.question is None or not self.question.is_pending:
                self.question = Question()
            question = self.question
        question.done.wait(DEADLINE)
        return question.is_reached


pulse = Pulse()


def ask_database() -> None:
    """Open a connection beside the pool, which may be busy, and ask for one row."""
    usual = connections[DEFAULT_DB_ALIAS]
    values = deepcopy(usual.settings_dict)
    values["OPTIONS"].pop("pool", None)
    probe = type(usual)(values, alias="health")
    try:
        with probe.cursor() as cursor:
            cursor.execute("SELECT 1")
    finally:
        probe.close()


def health(request: HttpRequest) -> JsonResponse:
    """Say that the web process answers and reaches its database; 503 if it does not."""
    if pulse.reaches_database():
        return JsonResponse({"status": "ok"})
    return JsonResponse({"status": "database away"}, status=503, headers={"Retry-After": "5"})
