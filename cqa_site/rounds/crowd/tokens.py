"""Signed entries: the platform's token in the URL of a crowd link."""

import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

import jwt
from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest

from cqa_site.rounds.models import ParticipantLink
from .participants import PlatformIds

# A platform signs its ids with a key that it publishes. Keys are fetched only from the URL in the
# settings. Key locations in a token (jku, x5u, a kid that looks like a URL) are ignored.

TOKEN_PARAM = "prolific_token"  # noqa: S105  # a parameter's name
PLATFORM_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@=-]{0,127}")
LONGEST_TOKEN = 4096
CLOCK_SECONDS = 60
KEYS_NAME, REFRESHED_NAME = "crowd-signing-keys", "crowd-signing-keys-refreshed"
KEYS_SECONDS, REFRESH_PAUSE_SECONDS = 24 * 3600, 60
KEYS_DEADLINE_SECONDS, KEYS_MAX_BYTES = 5.0, 65_536


class EntryRefused(Exception):
    """The URL does not prove the person's identity, and nothing may be stored."""


class KeysUnavailable(Exception):
    """The platform's keys cannot be fetched at present."""


def entry_ids(request: HttpRequest, link: ParticipantLink) -> PlatformIds | None:
    """Return the ids in the URL, verified if a token signs them.

    Returns None if an id is missing, repeated, too long or malformed. Raises ``EntryRefused`` if
    the token fails a check or a required token is missing, and ``KeysUnavailable`` if the token
    cannot be checked.
    """
    tokens = request.GET.getlist(TOKEN_PARAM)
    if link.entry == link.Entry.IDS or (link.entry == link.Entry.EITHER and not tokens):
        return _plain_ids(request, link)
    if len(tokens) != 1:
        raise EntryRefused
    host = request.get_host()
    origin = f"{request.scheme}://{host}"
    ids = verified_ids(link, tokens[0], [host, origin, f"{origin}/"])
    signed = (ids.participant, ids.study, ids.session)
    for name, value in zip(_names(link), signed, strict=True):
        if any(text != value for text in request.GET.getlist(name)):
            raise EntryRefused
    return ids


def verified_ids(link: ParticipantLink, token: str, audiences: list[str]) -> PlatformIds:
    """Return the ids that a valid token signs for the link's study on the platform."""
    if len(token) > LONGEST_TOKEN or not link.platform_study:
        raise EntryRefused
    try:
        claims = _decode(token, audiences)
    except (jwt.PyJWTError, ValueError, TypeError, AttributeError) as problem:
        raise EntryRefused from problem
    signed = claims.get("prolific")
    if not isinstance(signed, dict):
        raise EntryRefused
    values = [signed.get(name) for name in _names(link)]
    texts = [value for value in values if isinstance(value, str) and PLATFORM_ID.fullmatch(value)]
    if len(texts) < len(values):
        raise EntryRefused
    ids = PlatformIds(texts[0], texts[1], texts[2], is_verified=True)
    if ids.study != link.platform_study:
        raise EntryRefused
    return ids


def _decode(token: str, audiences: list[str]) -> dict[str, Any]:
    header = jwt.get_unverified_header(token)
    key_id = header.get("kid")
    if header.get("alg") != "RS256" or not isinstance(key_id, str) or "crit" in header:
        raise EntryRefused
    issuer = settings.CROWD_TOKEN_ISSUER or None
    return jwt.decode(
        token,
        key=_signing_key(key_id),
        algorithms=["RS256"],
        audience=audiences,
        issuer=issuer,
        leeway=CLOCK_SECONDS,
        options={"require": ["exp", "aud", *(["iss"] if issuer else [])]},
    )


def _signing_key(key_id: str) -> jwt.PyJWK:
    """Return the published key with this name; refetch the keys once if the name is unknown."""
    published = cache.get(KEYS_NAME)
    if published is None or (key_id not in published and cache.add(REFRESHED_NAME, 1, 60)):
        published = fetch_keys()
        cache.set(KEYS_NAME, published, KEYS_SECONDS)
        cache.set(REFRESHED_NAME, 1, REFRESH_PAUSE_SECONDS)
    if key_id not in published:
        raise EntryRefused
    return jwt.PyJWK(published[key_id], algorithm="RS256")


def fetch_keys() -> dict[str, Mapping[str, Any]]:
    """Fetch the platform's RSA signing keys by name; raises ``KeysUnavailable``."""
    return fetch_keys_and_date()[0]


def fetch_keys_and_date() -> tuple[dict[str, Mapping[str, Any]], datetime | None]:
    """Fetch the keys as `fetch_keys` does, with the time on the platform's clock if known."""
    from cqa_site.judging.transport.egress import ServiceFailed, get_json_reply, parse_allowed

    try:
        document, reply = get_json_reply(
            settings.CROWD_KEYS_URL,
            allowed=parse_allowed(settings.EGRESS_ALLOW),
            deadline=KEYS_DEADLINE_SECONDS,
            max_bytes=KEYS_MAX_BYTES,
        )
    except ServiceFailed as problem:
        raise KeysUnavailable(str(problem)) from problem
    rows = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(rows, list):
        raise KeysUnavailable("its response lists no keys")
    try:
        date = parsedate_to_datetime(reply.headers.get("date", ""))
    except (ValueError, OverflowError):
        date = None
    return {row["kid"]: row for row in rows if _is_signing_key(row)}, date


def _is_signing_key(row: object) -> bool:
    return (
        isinstance(row, dict)
        and isinstance(row.get("kid"), str)
        and row.get("kty") == "RSA"
        and row.get("use") in ("sig", None)
        and row.get("alg") in ("RS256", None)
    )


def _plain_ids(request: HttpRequest, link: ParticipantLink) -> PlatformIds | None:
    values = []
    for name in _names(link):
        texts = request.GET.getlist(name) if name else [""]
        if len(texts) != 1 or (name and not PLATFORM_ID.fullmatch(texts[0])):
            return None
        values.append(texts[0])
    return PlatformIds(values[0], values[1], values[2])


def _names(link: ParticipantLink) -> tuple[str, str, str]:
    return (link.participant_param, link.study_param, link.session_param)
