"""Examinations of addresses, mail, sign-in providers and administrators."""

import http.client
import json
import smtplib
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import closing
from urllib.parse import SplitResult, urlsplit

from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db.models import Q
from django.http import HttpRequest
from django.http.request import validate_host
from django.utils.translation import gettext as _, gettext_lazy, ngettext

from cqa_site.people.models import User
from cqa_site.people.sign_in.openid import CheckedAdapter
from cqa_site.people.sign_in.providers import OpenIDProvider
from cqa_site.people.sign_in.roles import can_sign_in, orphans
from ..examination import Family, examination
from ..findings import Finding, look, manage, well, wrong

# Hosts, origins, TLS and the public address

REPLY_SECONDS = 5
# Certificates are renewed a month before they expire, so a shorter time means that renewal failed.
DAYS_LEFT = 14
DAY = 86_400


@examination(Family.WEB, gettext_lazy("Hosts"))
def hosts() -> Finding:
    """Check that hosts are bare names and include the host of every trusted origin."""
    for host in settings.ALLOWED_HOSTS:
        if "/" in host or (":" in host and not host.startswith("[")):
            says = _(
                "ALLOWED_HOSTS contains %s, which is an address. Only bare host names are valid."
            )
            return wrong(says % host, _("Leave scheme, port and path out of ALLOWED_HOSTS."))
    for origin in settings.CSRF_TRUSTED_ORIGINS:
        host = (urlsplit(origin).hostname or "").removeprefix("*")
        if not validate_host(host, settings.ALLOWED_HOSTS):
            says = _("CSRF_TRUSTED_ORIGINS lists %s, but ALLOWED_HOSTS does not allow that host.")
            remedy = _(
                "List the host in both settings. Requests to it currently return error 400."
            )
            return wrong(says % origin, remedy)
    if left := list(_without_origin()):
        says = _("CSRF_TRUSTED_ORIGINS does not list https://%s, so its forms may be refused.")
        return look(says % left[0], _("Add it to CSRF_TRUSTED_ORIGINS."))
    return well(_("Pages are served to %s.") % ", ".join(settings.ALLOWED_HOSTS))


def _without_origin() -> Iterator[str]:
    """Yield hosts whose forms Django would reject, because they have no trusted origin.

    If the proxy is trusted to report https, Django accepts the site's own address as the origin.
    """
    if not settings.PRODUCTION or settings.SECURE_PROXY_SSL_HEADER:
        return
    named = {urlsplit(origin).hostname for origin in settings.CSRF_TRUSTED_ORIGINS}
    yield from (host for host in settings.ALLOWED_HOSTS if host not in named)


@examination(Family.WEB, gettext_lazy("TLS"))
def tls() -> Finding:
    """Check that browsers are redirected to https and that the site detects https requests."""
    if not settings.PRODUCTION:
        return well(_("Not required outside production."))
    host = settings.ALLOWED_HOSTS[0].lstrip(".")
    if not (settings.SECURE_SSL_REDIRECT or settings.SECURE_HSTS_SECONDS):
        says = _("http is not redirected to https, so passwords may travel unencrypted.")
        return wrong(says, _("Leave SECURE_SSL_REDIRECT and SECURE_HSTS_SECONDS unset."))
    if not settings.SECURE_PROXY_SSL_HEADER:
        says = _("No proxy is trusted to report https.")
        remedy = _(
            "Behind a proxy, set TRUSTED_PROXY=true; otherwise every page redirects "
            "to itself. Try:"
        )
        return look(says, remedy, manage(f"doctor --url https://{host}/"))
    return well(_("Required; the proxy reports https."))


def look_at_address(address: str) -> Finding:
    """Request the site's health page at its public address."""
    try:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise http.client.InvalidURL
        return _ask(parts)
    except ssl.SSLCertVerificationError as problem:
        says = _("Browsers refuse %(host)s: %(why)s.")
        words = {"host": parts.hostname, "why": problem.verify_message}
        remedy = _("Renew the certificate, or issue it for this host.")
        return wrong(says % words, remedy)
    except socket.gaierror:
        says = _("The host %s does not exist.") % parts.hostname
        return wrong(says, _("Correct the name, or add it to the DNS of your domain."))
    except (ValueError, http.client.InvalidURL):
        says = _("%s is not an address.") % address
        return wrong(says, _("Enter the address that people open: https://, then the host."))
    except (OSError, http.client.HTTPException) as problem:
        says = _("%(address)s does not respond (%(why)s).")
        why = getattr(problem, "strerror", "") or type(problem).__name__
        says %= {"address": address, "why": why}
        return wrong(says, _("Start the proxy, and have it forward requests to the site."))


def _ask(parts: SplitResult) -> Finding:
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(str(parts.hostname), parts.port, timeout=REPLY_SECONDS)
    try:
        connection.request("GET", "/healthz")
        certificate: dict[str, object] = getattr(connection.sock, "getpeercert", dict)()
        answer = connection.getresponse()
        body = answer.read(10_000)
    finally:
        connection.close()
    return _judge(parts, answer, body) or _days_left(parts, certificate)


def _judge(parts: SplitResult, answer: http.client.HTTPResponse, body: bytes) -> Finding | None:
    """Return a finding about a reply, or None if the site is healthy."""
    host, status = str(parts.hostname), answer.status
    if status == 400:
        says = (
            _("The site returns error 400 for %s, because the host is not in ALLOWED_HOSTS.")
            % host
        )
        remedy = _(
            "Add the host to ALLOWED_HOSTS, and to CSRF_TRUSTED_ORIGINS with https:// in front."
        )
        return wrong(says, remedy)
    leads_to = urlsplit(answer.getheader("Location") or "")
    if 300 <= status < 400 and (leads_to.scheme, leads_to.hostname) == ("https", host):
        if parts.scheme == "https":
            return _leads_to_itself(host)
        says = _("http redirects to https, as it should. To check https itself, run:")
        return well(f"{says} {manage(f'doctor --url https://{host}/')}")
    if status != 200 or not _is_ours(body):
        says = _("%(host)s responds with %(status)d, but the response is not like this site's.")
        remedy = _("Have the proxy forward requests to the site. Its own log has the details.")
        return wrong(says % {"host": host, "status": status}, remedy)
    if parts.scheme == "http" and host not in ("127.0.0.1", "localhost"):
        says = _("%s serves pages without TLS, so passwords travel unencrypted.") % host
        return wrong(
            says, _("Put a proxy with a certificate in front of the site; see docs/deploy.md.")
        )
    return None


def _leads_to_itself(host: str) -> Finding:
    says = _(
        "https://%s redirects to itself endlessly, because the site does not know that the "
        "request used https."
    )
    remedy = _("Set TRUSTED_PROXY=true, and have the proxy set X-Forwarded-Proto.")
    return wrong(says % host, remedy)


def _is_ours(body: bytes) -> bool:
    try:
        return bool(json.loads(body) == {"status": "ok"})
    except ValueError:
        return False


def _days_left(parts: SplitResult, certificate: dict[str, object]) -> Finding:
    if parts.scheme == "http":
        return well(_("%s is reachable.") % parts.geturl())
    ends = ssl.cert_time_to_seconds(str(certificate["notAfter"]))
    days = int((ends - time.time()) // DAY)
    says = ngettext(
        "%(address)s responds; its certificate expires in %(n)d day.",
        "%(address)s responds; its certificate expires in %(n)d days.",
        days,
    ) % {"address": parts.geturl(), "n": days}
    if days < DAYS_LEFT:
        return look(says, _("Renew the certificate; automatic renewal has not done so."))
    return well(says)


# Mail delivery, checked without sending a message

MAIL_SECONDS = 3
TRY = "doctor --send-mail you@example.org"
# The only backend that reports why sending fails.
SMTP = "django.core.mail.backends.smtp.EmailBackend"


@examination(Family.MAIL, gettext_lazy("Delivery"))
def delivery() -> Finding:
    """Connect and sign in to the mail server as if to send a message."""
    if settings.EMAIL_BACKEND != SMTP:
        return _goes_nowhere()
    connection = get_connection(timeout=MAIL_SECONDS)
    try:
        with closing(connection):
            connection.open()
    except (OSError, smtplib.SMTPException) as problem:
        return _refused(problem)
    if settings.DEFAULT_FROM_EMAIL.endswith("@localhost"):
        says = _("Mail is sent from %s, which other servers will not accept.")
        return look(says % settings.DEFAULT_FROM_EMAIL, _("Set DEFAULT_FROM_EMAIL."))
    words = {"place": _place(), "sender": settings.DEFAULT_FROM_EMAIL}
    return well(_("%(place)s accepts mail from %(sender)s.") % words)


def _goes_nowhere() -> Finding:
    if not settings.PRODUCTION:
        return well(_("Mail is printed to the console, which is enough on one machine."))
    says = _("Mail is not sent, so nobody receives password-reset links.")
    return wrong(says, _("Set EMAIL_URL, for example to submission://user:password@host:587"))


def _refused(problem: Exception) -> Finding:
    for kinds, says, remedy in _reasons():
        if isinstance(problem, kinds):
            return wrong(says % _place(), remedy, manage(TRY))
    says = _("%(place)s closed the connection (%(why)s).")
    words = {"place": _place(), "why": type(problem).__name__}
    return wrong(says % words, _("Compare EMAIL_URL with what the server requires."), manage(TRY))


def _reasons() -> Iterator[tuple[tuple[type[Exception], ...], str, str]]:
    correct = _("Correct EMAIL_URL, then try:")
    yield (
        (smtplib.SMTPAuthenticationError,),
        _("%s rejects the user name or password."),
        _(
            "Correct the user name or password in EMAIL_URL (write characters like @ and / as %40 "
            "and %2F), then try:"
        ),
    )
    yield (ssl.SSLError,), _("%s has no trusted certificate or does not support TLS."), correct
    yield (smtplib.SMTPNotSupportedError,), _("%s does not support TLS or passwords."), correct
    yield (socket.gaierror,), _("%s cannot be found: the name does not exist."), correct
    yield (
        (TimeoutError,),
        _("%s does not respond."),
        _("A firewall may block mail, especially port 25. Correct EMAIL_URL, then try:"),
    )
    yield (
        (ConnectionRefusedError,),
        _("%s refuses connections: nothing is listening there."),
        correct,
    )


def _place() -> str:
    words = {"host": settings.EMAIL_HOST, "port": settings.EMAIL_PORT}
    return _("The mail server %(host)s, port %(port)s,") % words


def send_to(address: str) -> Finding:
    """Send a test message and report the result."""
    message = EmailMessage(
        subject=_("Test message from Counterpoint"),
        body=_("A site administrator requested this message. No action is needed."),
        to=[address],
        connection=get_connection(timeout=MAIL_SECONDS),
    )
    try:
        message.send()
    except (smtplib.SMTPRecipientsRefused, smtplib.SMTPSenderRefused):
        says = _("%(place)s does not accept mail from %(sender)s to %(address)s.")
        words = {"sender": settings.DEFAULT_FROM_EMAIL, "address": address, "place": _place()}
        return wrong(
            says % words, _("Correct DEFAULT_FROM_EMAIL, or ask the mail server's operator.")
        )
    except (OSError, smtplib.SMTPException) as problem:
        return _refused(problem)
    return well(
        _("A message to %s was handed over for delivery. Check whether it arrives.") % address
    )


@examination(Family.WEB, gettext_lazy("Sign-in providers"))
def providers() -> Finding:
    """Read each provider's metadata and keys, as during a sign-in."""
    for provider in settings.OIDC_PROVIDERS.values():
        if why := _what_is_wrong(provider):
            says = _("Nobody can sign in with %(name)s (%(issuer)s): %(why)s")
            words = {"name": provider.name, "issuer": provider.issuer, "why": why}
            remedy = _(
                "Compare the issuer in OIDC_PROVIDERS with the issuer that the provider states."
            )
            return wrong(says % words, remedy)
    if not settings.OIDC_PROVIDERS:
        return well(_("None; people sign in with passwords and passkeys."))
    names = ", ".join(service.name for service in settings.OIDC_PROVIDERS.values())
    return well(_("Reachable, with published signing keys: %s.") % names)


def _what_is_wrong(provider: OpenIDProvider) -> str:
    adapter = CheckedAdapter(HttpRequest(), provider.id)
    try:
        return "" if adapter.signing_keys() else _("The provider publishes no signing key.")
    except OAuth2Error as error:
        return str(error)


# Administrators and demo accounts

INVENTED = "@counterpoint.example"


@examination(Family.SETTINGS, gettext_lazy("Administrators"), asks_database=True)
def administrators() -> Finding:
    """Check that at least one administrator can sign in."""
    staff = User.objects.filter(Q(is_staff=True) | Q(is_superuser=True), is_active=True)
    # Administrators appointed by a removed provider lose the role at their next sign-in.
    staying = staff.exclude(pk__in=orphans().filter(study=None).values("user"))
    count = sum(map(can_sign_in, staying))
    if not count:
        says = _("No site administrator can sign in.")
        return wrong(says, _("Create an administrator:"), manage("createsuperuser"))
    return well(ngettext("Able to sign in: %d.", "Able to sign in: %d.", count) % count)


@examination(Family.SETTINGS, gettext_lazy("Demo"), asks_database=True)
def demo() -> Finding:
    """Check that demo accounts cannot sign in on a production site."""
    people = User.objects.filter(email__endswith=INVENTED, is_active=True)
    if not settings.PRODUCTION:
        return well(_("Demo accounts may sign in outside production."))
    if not (count := people.count()):
        return well(_("No demo account can sign in."))
    says = (
        ngettext(
            "%d demo account can sign in; all demo accounts share one password.",
            "%d demo accounts can sign in; all demo accounts share one password.",
            count,
        )
        % count
    )
    remedy = _("Create your own administrator, then close the demo accounts:")
    filtered = f"filter(email__endswith='{INVENTED}').update(is_active=False)"
    command = manage(f'shell -c "User.objects.{filtered}"')
    return wrong(says, remedy, command)
