"""Are the site's keys there, its own, and those that secrets were stored with?"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from cqa_site.checks import key_is_weak, keys_are_sound
from cqa_site.sealing import KeyUnreadable, secrets_held, unseal

from ..examining import Family, examination
from ..findings import Finding, look, python, well, wrong

NEW_KEY = "-c 'from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())'"
OTHERS = stat.S_IRWXG | stat.S_IRWXO
# What root lets the group of the site read, as docs/deploy.md does with .env.
LENT = 0o640


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


@examination(Family.KEYS, gettext_lazy("Private files"))
def key_files() -> Finding:
    """Whether files with keys, and the database's, are the site's, and nobody else reads them."""
    there = [path for path in _files() if path.exists()]
    fault = next(filter(None, map(_fault, there)), None) or _weak_key()
    if fault or not there:
        return fault or well(_("Keys come from the environment."))
    return well(_("%s can be read by the site alone.") % ", ".join(path.name for path in there))


def _files() -> Iterator[Path]:
    yield settings.DATA_DIR / "secret_key"
    yield settings.DATA_DIR / "secrets_key"
    yield settings.BASE_DIR / ".env"
    if connection.vendor == "sqlite":
        for end in ("", "-journal", "-wal"):
            yield Path(f"{connection.settings_dict['NAME']}{end}")


def _fault(path: Path) -> Finding | None:
    found, site = path.stat(), settings.DATA_DIR.stat()
    # Root may look for somebody else, whose the data folder is.
    owner = os.geteuid() or site.st_uid
    given = (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode))
    if owner and given == (0, site.st_gid, LENT):
        return None
    if found.st_uid != owner:
        says = _("%s belongs to another user than the one that runs the site.") % path
        return wrong(says, _("Give it to that user:"), f"chown {owner} {path}")
    if found.st_mode & OTHERS and path.parent.stat().st_mode & OTHERS:
        says = _("%s can be read by other users of this machine.") % path
        return wrong(says, _("Keep them out:"), f"chmod 600 {path}")
    return None


def _weak_key() -> Finding | None:
    """A key cut short by a full disk, or chosen by a person; in production nothing starts."""
    if not key_is_weak(settings.SECRET_KEY):
        return None
    remedy = _("Set SECRET_KEY to 50 random characters or more; everybody signs in anew. From:")
    command = python("-c 'import secrets; print(secrets.token_urlsafe(64))'")
    return look(_("SECRET_KEY is too short or too simple."), remedy, command)
