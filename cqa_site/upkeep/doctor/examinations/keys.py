"""Are the site's keys there, its own, and those that secrets were stored with?"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from cqa_site.checks import key_is_weak, keys_are_sound
from cqa_site.sealing import KeyUnreadable, secrets_held, unseal

from ..examining import Family, examination
from ..findings import Finding, look, python, well, wrong

NEW_KEY = "-c 'from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())'"
OTHERS = stat.S_IRWXG | stat.S_IRWXO


@examination(Family.KEYS, gettext_lazy("Stored secrets"), asks_database=True)
def stored_secrets() -> Finding:
    """Whether keys of endpoints, and secrets of web hooks, can be read with SECRETS_KEYS."""
    if not keys_are_sound():
        says = _("SECRETS_KEYS is missing or no key: API keys can be neither kept nor read.")
        remedy = _("Restore the one from before. If there was none, set a new one, from:")
        return wrong(says, remedy, python(NEW_KEY))
    secrets = list(secrets_held())
    if not secrets:
        return well(_("None is stored; keys to store them with are there."))
    unreadable = sum(not _can_be_read(each) for each in secrets)
    if not unreadable:
        return well(_("All of %d can be read.") % len(secrets))
    says = ngettext(
        "%(n)d stored secret of %(all)d cannot be read with SECRETS_KEYS: it was stored with "
        "another key.",
        "%(n)d stored secrets of %(all)d cannot be read with SECRETS_KEYS: they were stored with "
        "another key.",
        unreadable,
    ) % {"n": unreadable, "all": len(secrets)}
    remedy = _(
        "Add the earlier key behind the present one in SECRETS_KEYS, or enter the keys of the "
        "endpoints again."
    )
    return wrong(says, remedy)


def _can_be_read(ciphertext: bytes | memoryview) -> bool:
    try:
        return bool(unseal(ciphertext))
    except KeyUnreadable:
        return False


@examination(Family.KEYS, gettext_lazy("Key files"))
def key_files() -> Finding:
    """Whether files that hold keys belong to whoever runs the site, and nobody else reads them."""
    there = [path for path in _files() if path.exists()]
    # Root may look for somebody else, whose the data folder is.
    owner = os.geteuid() or settings.DATA_DIR.stat().st_uid
    for path in there:
        found = path.stat()
        if found.st_uid != owner:
            says = _("%s belongs to another user than the one that runs the site.") % path
            return wrong(says, _("Give it to that user:"), f"chown {owner} {path}")
        if found.st_mode & OTHERS:
            says = _("%s can be read by other users of this machine.") % path
            return wrong(says, _("Keep them out:"), f"chmod 600 {path}")
    return _weak_key() or well(
        _("%s can be read by the site alone.") % ", ".join(path.name for path in there)
        if there
        else _("They come from the environment.")
    )


def _files() -> Iterator[Path]:
    yield settings.DATA_DIR / "secret_key"
    yield settings.DATA_DIR / "secrets_key"
    yield settings.BASE_DIR / ".env"


def _weak_key() -> Finding | None:
    """A key cut short by a full disk, or chosen by a person; in production nothing starts."""
    if not key_is_weak(settings.SECRET_KEY):
        return None
    remedy = _("Set SECRET_KEY to 50 random characters or more; everybody signs in anew. From:")
    command = python("-c 'import secrets; print(secrets.token_urlsafe(64))'")
    return look(_("SECRET_KEY is too short or too simple."), remedy, command)
