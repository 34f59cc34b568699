"""Who signs in, for the security log; the account library says it by signals."""

from collections.abc import Callable

from allauth.account import signals
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.dispatch import Signal

from cqa_site.people.models import User
from cqa_site.web.logging import security

EVENTS: dict[str, Signal] = {
    "signed_in": user_logged_in,
    "signed_out": user_logged_out,
    "sign_in_failed": user_login_failed,
    "password_changed": signals.password_changed,
    "password_reset": signals.password_reset,
}


def watch() -> None:
    """Write a line for each; of a failed attempt nothing that was typed."""
    for event, signal in EVENTS.items():
        signal.connect(_writer(event), weak=False, dispatch_uid=f"watching-{event}")


def _writer(event: str) -> Callable[..., None]:
    def write(sender: object, user: User | None = None, **_: object) -> None:
        security(event, **({"person": user.public_id} if user is not None else {}))

    return write
