"""Would mail leave? The server is spoken to, and nothing is sent."""

import smtplib
import socket
import ssl
from collections.abc import Iterator
from contextlib import closing

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ..examining import Family, examination
from ..findings import Finding, look, manage, well, wrong

SECONDS = 3
TRY = "doctor --send-mail you@example.org"
# Where sending says why it does not.
SMTP = "django.core.mail.backends.smtp.EmailBackend"


@examination(Family.MAIL, gettext_lazy("Delivery"))
def delivery() -> Finding:
    """Connect, encrypt and sign in as for a message."""
    if settings.EMAIL_BACKEND != SMTP:
        return _goes_nowhere()
    connection = get_connection(timeout=SECONDS)
    try:
        with closing(connection):
            connection.open()
    except (OSError, smtplib.SMTPException) as problem:
        return _refused(problem)
    if settings.DEFAULT_FROM_EMAIL.endswith("@localhost"):
        says = _("Mail is sent in the name of %s, which others will not take.")
        return look(says % settings.DEFAULT_FROM_EMAIL, _("Set DEFAULT_FROM_EMAIL."))
    words = {"place": _place(), "sender": settings.DEFAULT_FROM_EMAIL}
    return well(_("%(place)s takes mail from %(sender)s.") % words)


def _goes_nowhere() -> Finding:
    if not settings.PRODUCTION:
        return well(_("Mail is printed on the console, which does on one machine."))
    says = _("Mail does not leave: nobody gets the link to a new password.")
    return wrong(says, _("Set EMAIL_URL, for example to submission://user:password@host:587"))


def _refused(problem: Exception) -> Finding:
    for kinds, says, remedy in _reasons():
        if isinstance(problem, kinds):
            return wrong(says % _place(), remedy, manage(TRY))
    says = _("%(place)s ended the conversation (%(why)s).")
    words = {"place": _place(), "why": type(problem).__name__}
    return wrong(says % words, _("Compare EMAIL_URL with what the server asks for."), manage(TRY))


def _reasons() -> Iterator[tuple[tuple[type[Exception], ...], str, str]]:
    correct = _("Correct EMAIL_URL, then try:")
    yield (
        (smtplib.SMTPAuthenticationError,),
        _("%s refuses user or password."),
        _("Correct them in EMAIL_URL (signs such as @ and / as %40 and %2F), then try:"),
    )
    yield (ssl.SSLError,), _("%s has no certificate that can be trusted, or no TLS."), correct
    yield (smtplib.SMTPNotSupportedError,), _("%s has no TLS, or no passwords."), correct
    yield (socket.gaierror,), _("%s is not known: there is no such name."), correct
    yield (
        (TimeoutError,),
        _("%s does not answer."),
        _("A firewall may hold mail back, port 25 most of all. Correct EMAIL_URL, then try:"),
    )
    yield (
        (ConnectionRefusedError,),
        _("%s refuses: nothing listens there."),
        correct,
    )


def _place() -> str:
    words = {"host": settings.EMAIL_HOST, "port": settings.EMAIL_PORT}
    return _("The mail server %(host)s, port %(port)s,") % words


def send_to(address: str) -> Finding:
    """Send a message to somebody, and say how that went."""
    message = EmailMessage(
        subject=_("Mail from Counterpoint arrives"),
        body=_("Somebody who looks after the site asked for this message. Nothing is to be done."),
        to=[address],
        connection=get_connection(timeout=SECONDS),
    )
    try:
        message.send()
    except (smtplib.SMTPRecipientsRefused, smtplib.SMTPSenderRefused):
        says = _("%(place)s does not take mail from %(sender)s to %(address)s.")
        words = {"sender": settings.DEFAULT_FROM_EMAIL, "address": address, "place": _place()}
        return wrong(says % words, _("Correct DEFAULT_FROM_EMAIL, or ask who runs the server."))
    except (OSError, smtplib.SMTPException) as problem:
        return _refused(problem)
    return well(_("A message to %s was handed over. Look whether it arrives.") % address)
