"""Do hosts, origins and TLS fit each other, and does the address answer as people would ask it?"""

import http.client
import json
import socket
import ssl
import time
from collections.abc import Iterator
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.http.request import validate_host
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from ..examining import Family, examination
from ..findings import Finding, look, manage, well, wrong

SECONDS = 5
# Certificates are renewed a month before they run out; here something did not work.
DAYS_LEFT = 14
DAY = 86_400


@examination(Family.WEB, gettext_lazy("Hosts"))
def hosts() -> Finding:
    """Whether host names are names, and every trusted origin is one of them."""
    for host in settings.ALLOWED_HOSTS:
        if "/" in host or (":" in host and not host.startswith("[")):
            says = _("ALLOWED_HOSTS holds %s, which is an address: only bare host names count.")
            return wrong(says % host, _("Leave scheme, port and path out of ALLOWED_HOSTS."))
    for origin in settings.CSRF_TRUSTED_ORIGINS:
        if not _is_allowed(origin):
            says = _("CSRF_TRUSTED_ORIGINS names %s, and ALLOWED_HOSTS does not allow that host.")
            remedy = _("Name the host in both: pages there are answered with 400.")
            return wrong(says % origin, remedy)
    if left := list(_without_origin()):
        says = _("CSRF_TRUSTED_ORIGINS does not name https://%s, so forms may be refused there.")
        return look(says % left[0], _("Add it to CSRF_TRUSTED_ORIGINS."))
    return well(_("Pages are given to %s.") % ", ".join(settings.ALLOWED_HOSTS))


def _is_allowed(origin: str) -> bool:
    host = (urlsplit(origin).hostname or "").removeprefix("*")
    return validate_host(host, settings.ALLOWED_HOSTS)


def _without_origin() -> Iterator[str]:
    """Hosts whose forms Django compares with an origin that nobody named.

    Where the proxy is trusted to say https, the address itself is origin enough.
    """
    if not settings.PRODUCTION or _trusts_a_proxy():
        return
    named = {urlsplit(origin).hostname for origin in settings.CSRF_TRUSTED_ORIGINS}
    yield from (host for host in settings.ALLOWED_HOSTS if host not in named)


def _trusts_a_proxy() -> bool:
    return bool(settings.SECURE_PROXY_SSL_HEADER)


@examination(Family.WEB, gettext_lazy("TLS"))
def tls() -> Finding:
    """Whether browsers are asked for https, and the site hears that they came by it."""
    if not settings.PRODUCTION:
        return well(_("Not asked for outside production."))
    host = settings.ALLOWED_HOSTS[0].lstrip(".")
    if not (settings.SECURE_SSL_REDIRECT or settings.SECURE_HSTS_SECONDS):
        says = _("Nothing leads to https: passwords may travel for everybody to read.")
        return wrong(says, _("Leave SECURE_SSL_REDIRECT and SECURE_HSTS_SECONDS unset."))
    if not _trusts_a_proxy():
        says = _("No proxy is trusted to say that somebody came by https.")
        remedy = _("Behind a proxy set TRUSTED_PROXY=true; else every page leads to itself. Try:")
        return look(says, remedy, manage(f"doctor --url https://{host}/"))
    return well(_("Asked for; the proxy says who came by https."))


def look_at_address(address: str) -> Finding:
    """Ask for the site's health at the address that people use."""
    try:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise http.client.InvalidURL
        return _ask(parts)
    except ssl.SSLCertVerificationError as problem:
        says = _("Browsers refuse %(host)s: %(why)s.")
        words = {"host": parts.hostname, "why": problem.verify_message}
        remedy = _("Renew the certificate, or let it name this host.")
        return wrong(says % words, remedy)
    except socket.gaierror:
        says = _("There is no host %s.") % parts.hostname
        return wrong(says, _("Correct the name, or enter it where your domain is kept."))
    except (ValueError, http.client.InvalidURL):
        says = _("%s is no address.") % address
        return wrong(says, _("Give the one that people open: https://, then the host."))
    except (OSError, http.client.HTTPException) as problem:
        says = _("%(address)s does not answer (%(why)s).")
        why = getattr(problem, "strerror", "") or type(problem).__name__
        says %= {"address": address, "why": why}
        return wrong(says, _("Start the proxy, and let it pass requests on to the site."))


def _ask(parts: SplitResult) -> Finding:
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(str(parts.hostname), parts.port, timeout=SECONDS)
    try:
        connection.request("GET", "/healthz")
        certificate: dict[str, object] = getattr(connection.sock, "getpeercert", dict)()
        answer = connection.getresponse()
        body = answer.read(10_000)
    finally:
        connection.close()
    return _judge(parts, answer, body) or _days_left(parts, certificate)


def _judge(parts: SplitResult, answer: http.client.HTTPResponse, body: bytes) -> Finding | None:
    """What is wrong with an answer; None for that of a site that is well."""
    host, status = str(parts.hostname), answer.status
    if status == 400:
        says = _("The site answers 400 to %s: ALLOWED_HOSTS does not name it.") % host
        remedy = _("Add it to ALLOWED_HOSTS, and https:// before it to CSRF_TRUSTED_ORIGINS.")
        return wrong(says, remedy)
    leads_to = urlsplit(answer.getheader("Location") or "")
    if 300 <= status < 400 and (leads_to.scheme, leads_to.hostname) == ("https", host):
        return _leads_to_itself(host) if parts.scheme == "https" else _encrypt(host)
    if status != 200 or not _is_ours(body):
        says = _("%(host)s replies with %(status)d, and not as this site does.")
        remedy = _("Let the proxy pass requests on to the site. Its own log says more.")
        return wrong(says % {"host": host, "status": status}, remedy)
    if parts.scheme == "http" and host not in ("127.0.0.1", "localhost"):
        says = _("%s gives pages without TLS: passwords travel for everybody to read.") % host
        return wrong(says, _("Put a proxy with a certificate before it; see docs/deploy.md."))
    return None


def _leads_to_itself(host: str) -> Finding:
    says = _("https://%s leads to itself for ever: the site does not hear that it was https.")
    remedy = _("Set TRUSTED_PROXY=true, and let the proxy set X-Forwarded-Proto.")
    return wrong(says % host, remedy)


def _encrypt(host: str) -> Finding:
    says = _("http leads to https, as it should. Whether that is well tells:")
    return well(f"{says} {manage(f'doctor --url https://{host}/')}")


def _is_ours(body: bytes) -> bool:
    try:
        return bool(json.loads(body) == {"status": "ok"})
    except ValueError:
        return False


def _days_left(parts: SplitResult, certificate: dict[str, object]) -> Finding:
    if parts.scheme == "http":
        return well(_("%s is reached.") % parts.geturl())
    ends = ssl.cert_time_to_seconds(str(certificate["notAfter"]))
    days = int((ends - time.time()) // DAY)
    says = ngettext(
        "%(address)s answers; its certificate runs out in %(n)d day.",
        "%(address)s answers; its certificate runs out in %(n)d days.",
        days,
    ) % {"address": parts.geturl(), "n": days}
    if days < DAYS_LEFT:
        return look(says, _("Renew it; what should have renewed it has not."))
    return well(says)
