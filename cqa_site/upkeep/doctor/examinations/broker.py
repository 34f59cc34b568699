"""Does the broker answer, and is anybody listening?"""

from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ..examining import Family, examination, first_line
from ..findings import Finding, look, python, well, wrong

SECONDS = 2
# Of Redis; others keep to the time-out of the connection.
QUICK = {"socket_timeout": SECONDS, "socket_connect_timeout": SECONDS}
# A message says nothing but "look around", and after a minute nobody needs it.
MANY = 1_000


@examination(Family.WORK, gettext_lazy("Broker"))
def broker() -> Finding:
    """Connect, and count the messages that nobody fetched."""
    try:
        count = _messages()
    except Exception as problem:  # noqa: BLE001  every transport has errors of its own
        says = _("%(place)s does not answer (%(why)s); workers find work by themselves, later.")
        remedy = _("Start the server, or correct CELERY_BROKER_URL.")
        return wrong(says % {"place": _place(), "why": first_line(problem)}, remedy)
    if count > MANY:
        says = _("%(place)s holds %(n)d messages that no worker fetched.")
        remedy = _("Start a worker; old messages say nothing and can be thrown away:")
        command = python("-m celery -A cqa_site purge -f")
        return look(says % {"place": _place(), "n": count}, remedy, command)
    return well(
        _("%(place)s is reached; messages waiting: %(n)d.") % {"place": _place(), "n": count}
    )


def _place() -> str:
    """Which broker, without its password."""
    parts = urlsplit(settings.CELERY_BROKER_URL)
    if parts.scheme == "filesystem":
        return _("The folder of messages")
    return f"{parts.scheme}://{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)


def _messages() -> int:
    """How many wait; raises what the transport raises."""
    from celery import current_app
    from kombu import Connection
    from kombu.exceptions import ChannelError

    url = settings.CELERY_BROKER_URL
    with Connection(  # type: ignore[no-untyped-call]  # Kombu has no types
        url,
        transport=getattr(settings, "CELERY_BROKER_TRANSPORT", None),
        transport_options=getattr(settings, "CELERY_BROKER_TRANSPORT_OPTIONS", {})
        | (QUICK if url.startswith("redis") else {}),
        connect_timeout=SECONDS,
    ) as connection:
        connection.ensure_connection(max_retries=1, interval_start=0, interval_step=0)
        channel = connection.default_channel
        try:
            return int(channel.queue_declare(current_app.conf.task_default_queue, passive=True)[1])
        except (ChannelError, *connection.channel_errors):
            return 0  # nobody has worked here yet
