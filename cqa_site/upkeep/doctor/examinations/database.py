"""Does the database answer, is it sound, and does it fit the code?"""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from django.core.cache import caches
from django.core.cache.backends.db import DatabaseCache
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from cqa_site.preparing import has_cache_tables, unapplied
from cqa_site.web.health import ask_database

from ..examining import Family, examination, first_line
from ..findings import Finding, look, manage, unknown, well, wrong

# Before this release SQLite's WAL mode has a published race that corrupts files.
SAFE_WAL = (3, 51, 3)
REMOTE_FILES = {
    "9p", "afs", "beegfs", "ceph", "cifs", "fuse.glusterfs", "fuse.s3fs", "fuse.sshfs", "gfs2",
    "lustre", "nfs", "nfs4", "ocfs2", "smb3", "smbfs", "virtiofs",
}  # fmt: skip
READING_SECONDS = 1.0


@examination(Family.DATABASE, gettext_lazy("Connection"), asks_database=True, must_answer=True)
def answers() -> Finding:
    """Whether it answers, beside the pool, which would hide the reason."""
    try:
        ask_database()
    except DatabaseError as problem:
        says = _("%(place)s does not answer: %(why)s.") % {
            "place": _place(),
            "why": first_line(problem),
        }
        return wrong(says, *_how_to_reach())
    return well(_("%s is reached.") % _place())


def _place() -> str:
    """Which database, without its password."""
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
        return _("Let DATABASE_URL or DATA_DIR name a place this user may write to."), ""
    command = f"pg_isready -h {values['HOST'] or '/run/postgresql'} -p {values['PORT'] or 5432}"
    return _("Start the server, or correct DATABASE_URL. Whether it listens tells:"), command


@examination(Family.DATABASE, gettext_lazy("Migrations"), asks_database=True)
def migrations() -> Finding:
    """Whether the tables are those of this code, neither older nor newer."""
    executor = MigrationExecutor(connection)
    loader = executor.loader
    # What a release replaced by one migration stays written down as applied.
    replaced = {name for each in loader.replacements.values() for name in each.replaces}
    apps = {app for app, _name in loader.disk_migrations}
    unknown_here = set(loader.applied_migrations) - set(loader.disk_migrations) - replaced
    if newer := sorted(name for name in unknown_here if name[0] in apps):
        return _newer_than_the_code(newer)
    pending = unapplied(executor)
    if not pending:
        return well(_("All %d are applied.") % len(loader.disk_migrations))
    says = ngettext(
        "%(n)d migration is not applied, first %(first)s.",
        "%(n)d migrations are not applied, first %(first)s.",
        len(pending),
    ) % {"n": len(pending), "first": f"{pending[0].app_label}.{pending[0].name}"}
    return wrong(says, _("Make a backup, then apply them:"), manage("migrate"))


def _newer_than_the_code(newer: list[tuple[str, str]]) -> Finding:
    says = _("The database is newer than this code: it knows %s, which is not here.")
    remedy = _("Install the version that was here last, or restore a backup of this one.")
    return wrong(says % ".".join(newer[-1]), remedy)


@examination(Family.DATABASE, gettext_lazy("SQLite"))
def sqlite_version() -> Finding:
    """Whether the library may write the file the way it is written, and where the file lies."""
    if connection.vendor != "sqlite":
        return well(_("Not used."))
    path = Path(connection.settings_dict["NAME"])
    return wal_fault(path, sqlite3.sqlite_version_info) or _place_of_file(path)


def _own_connection(path: Path) -> closing[sqlite3.Connection]:
    """Without Django's settings, which change the mode; and the file must be there already.

    Never open the file itself: to close it would end the locks of every connection in here.
    """
    return closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True, timeout=1))


def wal_fault(path: Path, version: tuple[int, ...]) -> Finding | None:
    """Whether a file is in WAL mode although the library has the race."""
    with _own_connection(path) as own:
        mode = own.execute("PRAGMA journal_mode").fetchone()[0]
    if mode != "wal" or version >= SAFE_WAL:
        return None
    says = _(
        "SQLite %s can corrupt this database: its WAL mode is safe from 3.51.3 on, and the file "
        "is in WAL mode."
    ) % ".".join(map(str, version))
    remedy = _("Stop the site, then write the file with a rollback journal:")
    return wrong(says, remedy, f'sqlite3 {path} "PRAGMA journal_mode=TRUNCATE"')


def _place_of_file(path: Path) -> Finding:
    kind = file_system(path)
    if kind in REMOTE_FILES:
        says = _("The database lies on a network file system (%s), where locks are not safe.")
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
    """The kind of file system that a path is on; empty where only the system knows."""
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
    """Whether SQLite finds its own file sound; a large one is not read through here."""
    if connection.vendor != "sqlite":
        return well(_("PostgreSQL looks after its own files."))
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
        return well(_("SQLite finds its file sound."))
    says = _("The database file is damaged: %s.") % rows[0].splitlines()[-1].rstrip(".")
    return wrong(says, _("Stop the site, keep a copy of the file, and restore the last backup."))


def _not_read_through(problem: sqlite3.OperationalError) -> Finding:
    if str(problem) != "interrupted":
        return unknown(_("SQLite could not read it now: %s.") % problem)
    says = _("Sound as far as it was read within a second. The whole file is read by: %s")
    return well(says % manage("check_integrity"))


@examination(Family.DATABASE, gettext_lazy("Cache"), asks_database=True)
def cache() -> Finding:
    """Whether the cache answers, and whether all processes share it."""
    usual = caches["default"]
    if isinstance(usual, DatabaseCache):
        if not has_cache_tables():
            says = _("The table of the cache is missing, so nobody can sign in.")
            return wrong(says, _("Make it:"), manage("createcachetable"))
        return well(_("A table of the database, shared by all processes."))
    try:
        usual.get("doctor")
    except Exception as problem:  # noqa: BLE001  every backend has errors of its own
        says = _("The cache does not answer: %s.") % type(problem).__name__
        return wrong(says, _("Start the server that CACHE_URL names, or leave it empty."))
    name = type(usual).__name__
    if name in ("LocMemCache", "DummyCache"):
        says = _("Every process has a cache of its own and counts sign-in attempts for itself.")
        return look(says, _("Leave CACHE_URL empty, or let it name a Redis server."))
    return well(_("%s is reached, and shared by all processes.") % name)
