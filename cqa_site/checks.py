"""Checks for unsafe production settings, run before the site starts."""

from typing import Any

from cryptography.fernet import Fernet
from django.conf import settings
from django.core.checks import Error, Tags, register

from cqa_site.judging.transport.addresses import NotAnAllowList, parse_allowed

PROCESS_LOCAL = (
    "django.core.cache.backends.locmem.LocMemCache",
    "django.core.cache.backends.dummy.DummyCache",
)


@register(Tags.security)
def check_production(app_configs: Any, **kwargs: Any) -> list[Error]:
    """Report every unsafe setting of a production site; embedded sites pass."""
    if not settings.PRODUCTION:
        return []
    checks = {
        "cqa.E001": settings.CACHES["default"]["BACKEND"] in PROCESS_LOCAL,
        "cqa.E002": settings.DEBUG,
        "cqa.E003": key_is_weak(settings.SECRET_KEY),
        "cqa.E004": any("*" in host for host in settings.ALLOWED_HOSTS),
        "cqa.E005": not (settings.SESSION_COOKIE_SECURE and settings.CSRF_COOKIE_SECURE),
        "cqa.E006": settings.JOBS_INLINE,
        "cqa.E007": any(origin.startswith("http:") for origin in settings.CSRF_TRUSTED_ORIGINS),
        "cqa.E008": not keys_are_sound(),
    }
    return [Error(WORDS[name], id=name) for name, is_wrong in checks.items() if is_wrong]


@register(Tags.security)
def check_egress(app_configs: Any, **kwargs: Any) -> list[Error]:
    """Report an invalid allow-list before a worker uses it."""
    try:
        parse_allowed(settings.EGRESS_ALLOW)
    except NotAnAllowList as problem:
        return [Error(f"EGRESS_ALLOW: {problem}", id="cqa.E009")]
    return []


WORDS = {
    "cqa.E001": "The cache is not shared, so every process would count sign-in attempts "
    "separately. Leave CACHE_URL empty (database) or set it to a Redis server.",
    "cqa.E002": "DEBUG shows source code and settings to strangers.",
    "cqa.E003": "SECRET_KEY is too short or too simple; use 50 random characters or more.",
    "cqa.E004": "ALLOWED_HOSTS must name exact hosts.",
    "cqa.E005": "Session and CSRF cookies must be sent over TLS only.",
    "cqa.E006": "JOBS_INLINE makes people wait for background work; it is for tests.",
    "cqa.E007": "CSRF_TRUSTED_ORIGINS must begin with https://.",
    "cqa.E008": "SECRETS_KEYS must contain keys that encrypt the endpoints' API keys, from: "
    "python -c 'from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())'",
}


def keys_are_sound() -> bool:
    """Whether encryption keys for the endpoints' API keys are configured and are all valid."""
    return bool(settings.SECRETS_KEYS) and all(map(_is_key, settings.SECRETS_KEYS))


def key_is_weak(key: str) -> bool:
    """Whether a secret key is too short or too simple."""
    return len(key) < 50 or len(set(key)) < 10


def _is_key(key: str) -> bool:
    try:
        return bool(Fernet(key)) and key != settings.SECRET_KEY
    except ValueError:
        return False
