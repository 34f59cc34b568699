"""The site's OpenID Connect providers, read from the settings and checked at start-up."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured

NAMED = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
# Copy of `cqa_site.people.models.Role`, weakest role first, because settings load before models.
ROLES = ("annotator", "expert", "researcher", "admin")


@dataclass(frozen=True)
class GroupRule:
    """Permissions of the members of one provider group."""

    administrator: bool = False
    # Roles by public study id.
    studies: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class OpenIDProvider:
    """One provider, as defined in `OIDC_PROVIDERS`."""

    id: str
    name: str
    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    # Domains whose addresses may sign in; any domain if empty.
    domains: tuple[str, ...] = ()
    # Whether a verified address gives access to the existing account with that address.
    joins_by_email: bool = False
    # Who may get a new account: people with an invitation or a group, or anyone.
    new_people: Literal["invited", "anyone"] = "invited"
    # Values of `amr` that count as a second step; if true, every sign-in counts.
    second_step: tuple[str, ...] | bool = ("mfa",)
    groups_claim: str = "groups"
    groups: dict[str, GroupRule] = field(default_factory=dict, repr=False)

    def as_app(self) -> dict[str, Any]:
        """Return the provider's configuration for the account library."""
        return {
            "provider_id": self.id,
            "name": self.name,
            "client_id": self.client_id,
            "secret": self.client_secret,
            "settings": {
                "server_url": self.issuer.rstrip("/"),
                "scope": list(self.scopes),
                "oauth_pkce_enabled": True,
                "email_authentication": self.joins_by_email,
            },
        }


def read_providers(text: str) -> dict[str, OpenIDProvider]:
    """Return the providers in OIDC_PROVIDERS, keyed by id."""
    try:
        listed = json.loads(text or "[]")
    except ValueError as error:
        kind = type(error).__name__
        raise ImproperlyConfigured(f"OIDC_PROVIDERS cannot be read ({kind}).") from None
    if not isinstance(listed, list) or not all(isinstance(provider, dict) for provider in listed):
        raise ImproperlyConfigured("OIDC_PROVIDERS must be a JSON list of objects.")
    providers = [_provider(provider) for provider in listed]
    if len({provider.id for provider in providers}) < len(providers):
        raise ImproperlyConfigured("OIDC_PROVIDERS: two providers have the same id.")
    return {provider.id: provider for provider in providers}


def _provider(config: dict[str, Any]) -> OpenIDProvider:
    name = str(config.get("id", ""))
    _need(bool(NAMED.fullmatch(name)), name, "id must be lower-case letters, digits and hyphens")
    values = dict(config)
    secret_file = values.pop("client_secret_file", None)
    if secret_file:
        _need(
            "client_secret" not in values,
            name,
            "set client_secret or client_secret_file, not both",
        )
        values["client_secret"] = _secret(name, secret_file)
    known = {field.name for field in fields(OpenIDProvider)}
    _need(values.keys() <= known, name, f"unknown: {', '.join(sorted(values.keys() - known))}")
    for key in ("name", "issuer", "client_id", "client_secret"):
        is_text = isinstance(values.get(key), str) and bool(values[key])
        _need(is_text, name, f"{key} is missing")
    _need(is_trusted_address(values["issuer"]), name, "issuer must be an https address")
    chosen = values.get("new_people", "invited")
    _need(chosen in ("invited", "anyone"), name, 'new_people must be "invited" or "anyone"')
    _need(
        isinstance(values.get("joins_by_email", False), bool),
        name,
        "joins_by_email must be a boolean",
    )
    claim = values.get("groups_claim", "groups")
    _need(isinstance(claim, str) and bool(claim), name, "groups_claim must be a text")
    for key in ("scopes", "domains"):
        if key in values:
            values[key] = _texts(name, key, values[key])
    values["domains"] = tuple(domain.lower() for domain in values.get("domains", ()))
    if not isinstance(values.get("second_step", True), bool):
        values["second_step"] = _texts(name, "second_step", values["second_step"])
    values["groups"] = _rules(name, values.get("groups", {}))
    return OpenIDProvider(**values)


def _rules(name: str, groups: object) -> dict[str, GroupRule]:
    """Return the group rules, which grant study roles or site administration."""
    if not isinstance(groups, dict):
        raise ImproperlyConfigured(f"OIDC_PROVIDERS, {name}: groups must be an object")
    rules = {}
    for group, rule in groups.items():
        is_rule = isinstance(rule, dict) and rule.keys() <= {"administrator", "studies"}
        _need(is_rule, name, f"group {group} may only contain administrator and studies")
        studies, administrator = rule.get("studies", {}), rule.get("administrator", False)
        are_roles = isinstance(studies, dict) and all(map(_is_role, studies, studies.values()))
        _need(are_roles, name, f"group {group}: studies must map ids to one of {', '.join(ROLES)}")
        _need(
            isinstance(administrator, bool),
            name,
            f"group {group}: administrator must be a boolean",
        )
        rules[group] = GroupRule(administrator, studies)
    return rules


def _is_role(study: str, role: object) -> bool:
    try:
        return str(UUID(study)) == study and role in ROLES
    except ValueError:
        return False


def _texts(name: str, what: str, texts: object) -> tuple[str, ...]:
    is_list = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
    _need(is_list, name, f"{what} must be a list of texts")
    return tuple(texts) if isinstance(texts, Iterable) else ()


def _secret(name: str, file: object) -> str:
    try:
        return Path(str(file)).read_text().strip()
    except OSError:
        raise ImproperlyConfigured(
            f"OIDC_PROVIDERS, {name}: client_secret_file cannot be read"
        ) from None


def is_trusted_address(address: object) -> bool:
    """Return whether an address is safe for secrets: it uses TLS or is on this machine."""
    try:
        parts = urlsplit(str(address))
        host = parts.hostname or ""
        if parts.username or parts.query or parts.fragment or not host:
            return False
        return parts.scheme == "https" or (parts.scheme == "http" and ip_address(host).is_loopback)
    except ValueError:
        return False


def _need(is_right: bool, name: str, words: str) -> None:
    if not is_right:
        raise ImproperlyConfigured(f"OIDC_PROVIDERS, {name}: {words}")
