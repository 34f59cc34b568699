"""Are the settings those of a site that others may reach?"""

from django.conf import settings
from django.core.checks import CheckMessage, run_checks
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ..examining import Family, examination
from ..findings import Finding, look, manage, well, wrong

LOOPBACK = {"127.0.0.1", "localhost", "[::1]"}
# Told with their remedies by other examinations; the last one is everybody's own choice.
LEFT_OUT = {"cqa.E001", "cqa.E008", "security.W021"}


@examination(Family.SETTINGS, gettext_lazy("Mode"))
def mode() -> Finding:
    """Whether the safe settings are on where other machines may ask."""
    others = sorted(set(settings.ALLOWED_HOSTS) - LOOPBACK)
    if settings.DEBUG:
        says = _("DEBUG is on: whoever meets an error reads source code and settings.")
        say = wrong if others else look
        return say(says, _("Take DEBUG out of the environment and of .env."))
    if settings.PRODUCTION:
        return well(_("Production, for %s.") % ", ".join(settings.ALLOWED_HOSTS))
    if not others:
        return well(_("A site for this machine alone."))
    says = _("Other machines may ask for %s, and PRODUCTION is off: nothing is encrypted.")
    return look(says % others[0], _("Set PRODUCTION=true; docs/deploy.md says what it needs."))


@examination(Family.SETTINGS, gettext_lazy("Checks"))
def checks() -> Finding:
    """What Django and our own checks say; of deployment only in production."""
    found = [
        each
        for each in run_checks(include_deployment_checks=settings.PRODUCTION)
        if not each.is_silenced() and each.id not in LEFT_OUT
    ]
    if not found:
        return well(_("Django's checks have no complaint."))
    found.sort(key=lambda each: -each.level)
    say = wrong if found[0].is_serious() else look
    command = manage("check --deploy" if settings.PRODUCTION else "check")
    first, *others = map(_in_one_line, found)
    return say(first, _("All of them, in full:"), command, tuple(others))


def _in_one_line(message: CheckMessage) -> str:
    return f"{' '.join(str(message.msg).split())} ({message.id})"
