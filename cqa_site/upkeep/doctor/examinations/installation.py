"""Examinations of the database, settings, keys and packages."""

import os
import re
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from django.conf import settings
from django.core.cache import caches
from django.core.cache.backends.db import DatabaseCache
from django.core.checks import run_checks
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils.translation import gettext as _, gettext_lazy, ngettext

from cqa_site.checks import key_is_weak, keys_are_sound
from cqa_site.judging.embedding import embeddings_available
from cqa_site.judging.packages import COMMAND, PackagePart, state
from cqa_site.preparing import has_cache_tables, unapplied
from cqa_site.sealing import KeyUnreadable, secrets_held, unseal
from cqa_site.web.outages import ask_database
from ..examination import Family, examination, first_line
from ..findings import Finding, look, manage, python, unknown, well, wrong

# Connection, integrity and version of the database

# Before this release, SQLite's WAL mode has a known race condition that corrupts files.
SAFE_WAL = (3, 51, 3)
REMOTE_FILES = {
    "9p", "afs", "beegfs", "ceph", "cifs", "fuse.glusterfs", "fuse.s3fs", "fuse.sshfs", "gfs2",
    "lustre", "nfs", "nfs4", "ocfs2", "smb3", "smbfs", "virtiofs",
}  # fmt: skip
READING_SECONDS = 1.0


@examination(Family.DATABASE, gettext_lazy("Connection"), asks_database=True, must_answer=True)
def answers() -> Finding:
    """Check that the database responds; avoid the pool, which would hide a failure's cause."""
    try:
        ask_database()
    except DatabaseError as problem:
        says = _("%(place)s does not respond: %(why)s.") % {
            "place": _place(),
            "why": first_line(problem),
        }
        return wrong(says, *_how_to_reach())
    return well(_("%s is reachable.") % _place())


def _place() -> str:
    """Describe the database without its password."""
    values = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"SQLite {sqlite3.sqlite_version} ({values['NAME']})"
    return _("PostgreSQL on %(host)s (database %(name)s)") % {
        "host": values["HOST"] or _("this machine"),
        "name": values["NAME"],
    }


def _how_to_reach() -> tuple[str, str]:
    values = connection.settings_dict
    if connection.vendor == "sqlite":
        return _("Set DATABASE_URL or DATA_DIR to a location that this user can write to."), ""
    command = f"pg_isready -h {values['HOST'] or '/run/postgresql'} -p {values['PORT'] or 5432}"
    return _(
        "Start the server, or correct DATABASE_URL. To check that it is listening, run:"
    ), command


@examination(Family.DATABASE, gettext_lazy("Migrations"), asks_database=True)
def migrations() -> Finding:
    """Check that the tables match this code, neither older nor newer."""
    executor = MigrationExecutor(connection)
    loader = executor.loader
    # Migrations that a later release squashed are still recorded as applied.
    replaced = {
        name for replacement in loader.replacements.values() for name in replacement.replaces
    }
    apps = {app for app, _name in loader.disk_migrations}
    unknown_here = set(loader.applied_migrations) - set(loader.disk_migrations) - replaced
    if newer := sorted(name for name in unknown_here if name[0] in apps):
        return _newer_than_the_code(newer)
    pending = unapplied(executor)
    if not pending:
        return well(_("All %d migrations are applied.") % len(loader.disk_migrations))
    says = ngettext(
        "%(n)d migration is not applied: %(first)s.",
        "%(n)d migrations are not applied; the first is %(first)s.",
        len(pending),
    ) % {"n": len(pending), "first": f"{pending[0].app_label}.{pending[0].name}"}
    return wrong(says, _("Make a backup, then apply the migrations:"), manage("migrate"))


def _newer_than_the_code(newer: list[tuple[str, str]]) -> Finding:
    says = _("The database is newer than this code: it has %s, which this code does not know.")
    remedy = _("Install the version that last ran here, or restore a backup of this version.")
    return wrong(says % ".".join(newer[-1]), remedy)


@examination(Family.DATABASE, gettext_lazy("SQLite"))
def sqlite_version() -> Finding:
    """Check that SQLite handles the file's mode safely and that the file is on a local disk."""
    if connection.vendor != "sqlite":
        return well(_("Not used."))
    path = Path(connection.settings_dict["NAME"])
    return wal_fault(path, sqlite3.sqlite_version_info) or _place_of_file(path)


def _own_connection(path: Path) -> closing[sqlite3.Connection]:
    """Open an existing database without Django's settings, which change its mode.

    Never open the file directly, because closing it would release the locks of all connections in
    this process.
    """
    return closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True, timeout=1))


def wal_fault(path: Path, version: tuple[int, ...]) -> Finding | None:
    """Return a finding if the file is in WAL mode, which is not safe in old SQLite versions."""
    with _own_connection(path) as own:
        mode = own.execute("PRAGMA journal_mode").fetchone()[0]
    if mode != "wal" or version >= SAFE_WAL:
        return None
    says = _(
        "SQLite %s can corrupt this database, because its WAL mode is safe only in 3.51.3 and "
        "later, and the file is in WAL mode."
    ) % ".".join(map(str, version))
    remedy = _("Stop the site, then switch the file to a rollback journal:")
    return wrong(says, remedy, f'sqlite3 {path} "PRAGMA journal_mode=TRUNCATE"')


def _place_of_file(path: Path) -> Finding:
    kind = file_system(path)
    if kind in REMOTE_FILES:
        says = _("The database is on a network file system (%s), where locks are not safe.")
        return wrong(says % kind, _("Move DATA_DIR to a local disk, or use PostgreSQL."))
    megabytes = path.stat().st_size / 1e6
    journal = "WAL" if sqlite3.sqlite_version_info >= SAFE_WAL else _("a rollback journal")
    return well(
        _("Version %(version)s with %(journal)s, %(size).1f MB on %(kind)s.")
        % {
            "version": sqlite3.sqlite_version,
            "journal": journal,
            "size": megabytes,
            "kind": kind or _("a local disk"),
        }
    )


def file_system(path: Path, mounts: Path = Path("/proc/self/mountinfo")) -> str:
    """Return the type of a path's file system, or an empty string if unknown."""
    try:
        lines = mounts.read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    best, kind = 0, ""
    for line in lines:
        left, _dash, right = line.partition(" - ")
        point = Path(left.split()[4].replace("\\040", " "))
        if path.resolve().is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), right.split()[0]
    return kind


@examination(Family.DATABASE, gettext_lazy("Integrity"))
def integrity() -> Finding:
    """Check the SQLite file for damage; the check of a large file stops early."""
    if connection.vendor != "sqlite":
        return well(_("PostgreSQL checks its own files."))
    path = Path(connection.settings_dict["NAME"])
    ends = time.monotonic() + READING_SECONDS
    with _own_connection(path) as own:
        own.set_progress_handler(lambda: int(time.monotonic() > ends), 10_000)
        try:
            rows = [row[0] for row in own.execute("PRAGMA quick_check(3)")]
        except sqlite3.OperationalError as problem:
            return _not_read_through(problem)
        except sqlite3.DatabaseError as problem:
            rows = [str(problem)]
    if rows == ["ok"]:
        return well(_("SQLite found no damage in its file."))
    says = _("The database file is damaged: %s.") % rows[0].splitlines()[-1].rstrip(".")
    return wrong(says, _("Stop the site, keep a copy of the file, and restore the last backup."))


def _not_read_through(problem: sqlite3.OperationalError) -> Finding:
    if str(problem) != "interrupted":
        return unknown(_("SQLite could not read the database just now: %s.") % problem)
    says = _(
        "No damage was found in the part read within a second. To check the whole file, run: %s"
    )
    return well(says % manage("check_integrity"))


@examination(Family.DATABASE, gettext_lazy("Cache"), asks_database=True)
def cache() -> Finding:
    """Check that the cache responds and that all processes share it."""
    usual = caches["default"]
    if isinstance(usual, DatabaseCache):
        if not has_cache_tables():
            says = _("The cache table is missing, so nobody can sign in.")
            return wrong(says, _("Create it:"), manage("createcachetable"))
        return well(_("A database table shared by all processes."))
    try:
        usual.get("doctor")
    except Exception as problem:  # noqa: BLE001  every backend has errors of its own
        says = _("The cache does not respond: %s.") % type(problem).__name__
        return wrong(says, _("Start the server named in CACHE_URL, or leave CACHE_URL empty."))
    name = type(usual).__name__
    if name in ("LocMemCache", "DummyCache"):
        says = _("Every process has its own cache and counts sign-in attempts separately.")
        return look(says, _("Leave CACHE_URL empty, or set it to a Redis server."))
    return well(_("%s is reachable and shared by all processes.") % name)


# Settings of a site that other machines can reach

LOOPBACK = {"127.0.0.1", "localhost", "[::1]"}
# Reported with a remedy by other examinations; the last check is a matter of choice.
LEFT_OUT = {"cqa.E001", "cqa.E008", "security.W021"}


@examination(Family.SETTINGS, gettext_lazy("Mode"))
def mode() -> Finding:
    """Check that the safe settings are enabled if other machines have access."""
    others = sorted(set(settings.ALLOWED_HOSTS) - LOOPBACK)
    if settings.DEBUG:
        says = _("DEBUG is on, so anyone who triggers an error can read source code and settings.")
        say = wrong if others else look
        return say(says, _("Remove DEBUG from the environment and from .env."))
    if settings.PRODUCTION:
        return well(_("Production, for %s.") % ", ".join(settings.ALLOWED_HOSTS))
    if not others:
        return well(_("A site for this machine only."))
    says = _("Other machines can open %s, and PRODUCTION is off: nothing is encrypted.")
    return look(
        says % others[0], _("Set PRODUCTION=true; see docs/deploy.md for its requirements.")
    )


@examination(Family.SETTINGS, gettext_lazy("Checks"))
def checks() -> Finding:
    """Run Django's checks and ours, with deployment checks only in production."""
    messages = [
        check
        for check in run_checks(include_deployment_checks=settings.PRODUCTION)
        if not check.is_silenced() and check.id not in LEFT_OUT
    ]
    if not messages:
        return well(_("Django's checks found no problems."))
    messages.sort(key=lambda message: -message.level)
    say = wrong if messages[0].is_serious() else look
    command = manage("check --deploy" if settings.PRODUCTION else "check")
    lines = (f"{' '.join(str(row.msg).split())} ({row.id})" for row in messages)
    first, *others = lines
    return say(first, _("To see all problems in full, run:"), command, tuple(others))


NEW_KEY = "-c 'from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())'"
OTHERS = stat.S_IRWXG | stat.S_IRWXO
# Mode of files owned by root that the site's group may read, as for .env in docs/deploy.md.
LENT = 0o640


@examination(Family.KEYS, gettext_lazy("Stored secrets"), asks_database=True)
def stored_secrets() -> Finding:
    """Check that SECRETS_KEYS decrypts the endpoint keys and webhook secrets."""
    if not keys_are_sound():
        says = _("SECRETS_KEYS is missing or invalid, so API keys can be neither stored nor read.")
        remedy = _("Restore the previous key. If there was none, set a new one. Generate it with:")
        return wrong(says, remedy, python(NEW_KEY))
    secrets = list(secrets_held())
    if not secrets:
        return well(_("No secrets are stored; the keys to encrypt them exist."))
    unreadable = sum(not _can_be_read(secret) for secret in secrets)
    if not unreadable:
        return well(_("All %d stored secrets can be read.") % len(secrets))
    says = ngettext(
        "%(n)d of %(all)d stored secrets cannot be read with SECRETS_KEYS, because it was "
        "encrypted with another key.",
        "%(n)d of %(all)d stored secrets cannot be read with SECRETS_KEYS, because they were "
        "encrypted with another key.",
        unreadable,
    ) % {"n": unreadable, "all": len(secrets)}
    remedy = _(
        "Add the earlier key after the current one in SECRETS_KEYS, or enter the endpoint keys "
        "again."
    )
    return wrong(says, remedy)


def _can_be_read(ciphertext: bytes | memoryview) -> bool:
    try:
        return bool(unseal(ciphertext))
    except KeyUnreadable:
        return False


@examination(Family.KEYS, gettext_lazy("Private files"))
def key_files() -> Finding:
    """Check that only the site's user owns and can read the database and the key files."""
    there = [path for path in _files() if path.exists()]
    fault = next(filter(None, map(_fault, there)), None) or _weak_key()
    if fault or not there:
        return fault or well(_("Keys come from the environment."))
    return well(_("Only the site can read %s.") % ", ".join(path.name for path in there))


def _files() -> Iterator[Path]:
    yield settings.DATA_DIR / "secret_key"
    yield settings.DATA_DIR / "secrets_key"
    yield settings.BASE_DIR / ".env"
    if connection.vendor == "sqlite":
        for end in ("", "-journal", "-wal"):
            yield Path(f"{connection.settings_dict['NAME']}{end}")


def _fault(path: Path) -> Finding | None:
    result, site = path.stat(), settings.DATA_DIR.stat()
    # If root runs the check, the site's user is the owner of the data folder.
    owner = os.geteuid() or site.st_uid
    access = (result.st_uid, result.st_gid, stat.S_IMODE(result.st_mode))
    if owner and access == (0, site.st_gid, LENT):
        return None
    if result.st_uid != owner:
        says = _("%s does not belong to the user that runs the site.") % path
        return wrong(says, _("Change the owner:"), f"chown {owner} {path}")
    if result.st_mode & OTHERS and path.parent.stat().st_mode & OTHERS:
        says = _("%s can be read by other users of this machine.") % path
        return wrong(says, _("Restrict access:"), f"chmod 600 {path}")
    return None


def _weak_key() -> Finding | None:
    """Return a finding for a short or guessable key, which would prevent a start in production."""
    if not key_is_weak(settings.SECRET_KEY):
        return None
    remedy = _(
        "Set SECRET_KEY to 50 random characters or more; everyone must sign in "
        "again. Generate it with:"
    )
    command = python("-c 'import secrets; print(secrets.token_urlsafe(64))'")
    return look(_("SECRET_KEY is too short or too simple."), remedy, command)


# Installed packages

PIN = re.compile(r"^([\w.-]+)(?:\[[\w,]+\])?==(\S+)", re.MULTILINE)
SITE = "requirements-site.txt"
INSTALL = f"-m pip install -r {SITE}"


@examination(Family.SETTINGS, gettext_lazy("Packages"))
def packages() -> Finding:
    """Check that the required packages are installed in the pinned versions."""
    pinned = dict(PIN.findall((settings.BASE_DIR / SITE).read_text(encoding="utf-8")))
    installed = {name: _installed(name) for name in pinned}
    if missing := sorted(name for name, there in installed.items() if not there):
        says = _("Not installed: %s.") % ", ".join(missing)
        return wrong(says, _("Install the packages that the site needs:"), python(INSTALL))
    other = [name for name, there in installed.items() if there != pinned[name]]
    if not other:
        return well(
            _("All %d packages have the versions that were tested together.") % len(pinned)
        )
    first = other[0]
    says = ngettext(
        "%(n)d package differs from the tested version: %(first)s %(there)s instead of "
        "%(pinned)s.",
        "%(n)d packages differ from the tested versions; the first is %(first)s %(there)s "
        "instead of %(pinned)s.",
        len(other),
    ) % {"n": len(other), "first": first, "there": installed[first], "pinned": pinned[first]}
    return look(says, _("Install the tested versions:"), python(INSTALL))


@examination(Family.MODELS, gettext_lazy("Language packages"))
def language_packages() -> Finding:
    """Check that the packages for judges and scorers are installed, without loading them."""
    lacking = [package for part in PackagePart if not (package := state(part)).is_there]
    if lacking:
        remedy = _(
            "Features that need them show a message; everything else works. To download them, run:"
        )
        return look(" ".join(map(str, lacking)), remedy, COMMAND)
    if not embeddings_available():
        return wrong(
            _("The packages are installed but cannot be found."),
            _("Install them again:"),
            python("-m pip install -r requirements.txt --force-reinstall"),
        )
    return well(_("Installed: sentence embeddings, trained judges and scorers."))


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
