"""What has to be thrown away from time to time, by whichever app made it.

An app registers its chores when it is loaded. Each may run at any time and any number of
times; workers do all of them, and so does ``manage.py housekeeping``.
"""

import json
import logging
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.contrib.sessions.models import Session
from django.utils import timezone

log = logging.getLogger(__name__)
Chore = Callable[[], int]
CHORES: dict[str, Chore] = {}


def chore(name: str) -> Callable[[Chore], Chore]:
    """Register ``function()``, which returns how many things it threw away."""

    def register(function: Chore) -> Chore:
        CHORES[name] = function
        return function

    return register


def keep_house() -> dict[str, int | None]:
    """Do every chore; map its name to what it returned, None if it failed (see the log)."""
    done = {name: _try(name, function) for name, function in CHORES.items()}
    _try("its record", lambda: kept_at().write_text(json.dumps(done), encoding="utf-8"))
    return done


def kept_at() -> Path:
    """The file that says what was done last; it was written then."""
    return Path(settings.DATA_DIR) / "housekeeping.json"


def _try(name: str, function: Chore) -> int | None:
    try:
        return function()
    except Exception:
        # One odd file, or one mistake, keeps nobody from the rest.
        log.exception("housekeeping: %s failed", name)
        return None


@chore("sessions that ran out")
def clear_sessions() -> int:
    """What Django's ``clearsessions`` does, counted."""
    return Session.objects.filter(expire_date__lt=timezone.now()).delete()[0]
