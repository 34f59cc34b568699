"""Where somebody is signed in: browser and system in words, a shortened address, last seen."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address, ip_network

from allauth.account.adapter import get_adapter
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore as DatabaseSessions
from django.db import DatabaseError
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from cqa_site.people.models import User
from cqa_site.web.housekeeping import chore

logger = logging.getLogger(__name__)
# A session is written down this often at most: people label many times a minute.
NOTED_KEY, EVERY_SECONDS = "noted", 600
# When it was written down first, with the answer that began it.
BEGAN_KEY = "began"
LONGEST_AGENT = 200
BROWSERS = ("Edg", "OPR", "Firefox", "Chrome", "Safari")
BROWSER_NAMES = {"Edg": "Edge", "OPR": "Opera"}
SYSTEMS = ("Android", "iPhone", "iPad", "Windows", "Mac OS", "CrOS", "Linux")
SYSTEM_NAMES = {"Mac OS": "macOS", "CrOS": "ChromeOS"}


@dataclass(frozen=True)
class SeenSession:
    """One line of the list."""

    device: str
    place: str
    last_seen: datetime
    is_this: bool


class SessionStore(DatabaseSessions):
    """Ends so long after signing in, however much it is used: each writing sets the same end."""

    def get_session_cookie_age(self) -> int:
        """Seconds that are left; sessions of nobody and of the crowd go on from each writing."""
        now = time.time()
        return max(0, int(self.get(BEGAN_KEY, now) + settings.SESSION_COOKIE_AGE - now))


class NoteSession:
    """Keep the list of sessions of people with an account."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Write the session down after the answer, which may have begun it."""
        response = self.get_response(request)
        if response.status_code < 500:
            try:
                _note(request)
            except DatabaseError as error:  # what was answered stays answered
                logger.warning("A session was not written down: %s", type(error).__name__)
        return response


def _note(request: HttpRequest) -> None:
    if not request.user.is_authenticated or request.user.is_participant:
        return
    key = request.session.session_key
    noted, at = request.session.get(NOTED_KEY, ("", 0))
    if not key or (noted == key and time.time() - at < EVERY_SECONDS):
        return
    request.session[NOTED_KEY] = [key, time.time()]
    request.session.setdefault(BEGAN_KEY, time.time())
    if noted != key:
        UserSession.objects.filter(session_key=noted).delete()
    UserSession.objects.update_or_create(
        session_key=key,
        defaults={
            "user": request.user,
            "ip": shortened(get_adapter().get_client_ip(request)),
            "user_agent": request.headers.get("User-Agent", "")[:LONGEST_AGENT],
            "last_seen_at": timezone.now(),
        },
    )


def sessions_of(request: HttpRequest) -> list[SeenSession]:
    """The sessions of whoever asks, the newest first; those that ended are forgotten."""
    _note(request)
    rows = UserSession.objects.purge_and_list(request.user)
    here = request.session.session_key
    lines = [
        SeenSession(
            device=device(row.user_agent),
            place=network(row.ip),
            last_seen=row.last_seen_at,
            is_this=row.session_key == here,
        )
        for row in rows
    ]
    return sorted(lines, key=lambda line: (line.is_this, line.last_seen), reverse=True)


@chore("places where nobody is signed in any more")
def forget_places() -> int:
    """Delete what the list says of sessions that have run out."""
    oldest = timezone.now() - timedelta(seconds=settings.SESSION_COOKIE_AGE)
    return UserSession.objects.filter(last_seen_at__lt=oldest).delete()[0]


def end_sessions(*, user: User) -> None:
    """Let no session of the person count any more, whether it is on the list or not."""
    User.objects.filter(pk=user.pk).update(sign_outs=F("sign_outs") + 1)
    user.refresh_from_db(fields=["sign_outs"])


def shortened(address: str) -> str:
    """An address without its last part, as it is stored."""
    return network(address).partition("/")[0]


def network(address: str) -> str:
    """The network of an address: enough to know one's own again, too little to find a person."""
    length = 24 if ip_address(address).version == 4 else 48
    return str(ip_network(f"{address}/{length}", strict=False))


def device(agent: str) -> str:
    """Browser and system in words, as far as they say so."""
    browser = next((each for each in BROWSERS if f"{each}/" in agent), "")
    system = next((each for each in SYSTEMS if each in agent), "")
    names = BROWSER_NAMES.get(browser, browser), SYSTEM_NAMES.get(system, system)
    if not browser or not system:
        return names[0] or names[1] or _("Another program")
    return _("%(browser)s on %(system)s") % {"browser": names[0], "system": names[1]}
