"""Preparation of a site for its first page: tables, cache tables, compressed static files.

Every start checks all parts again, because the database or the software may have changed since
the last start. A check takes a few hundredths of a second; preparing everything takes seconds.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.files.storage import Storage
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor

from cqa_site.migrating import make_all_tables
from cqa_site.web.static_files import NeededFiles

# The record is in the folder of the compressed files, so that it moves with them.
PACKED = "packed-from.txt"
# Another version of these packages may compress files differently.
PACKERS = ("Django", "whitenoise", "brotli")


def prepare() -> bool:
    """Prepare missing parts and return whether any were missing.

    Files are compressed while tables are created.
    """
    with ThreadPoolExecutor(1) as beside:
        files = beside.submit(pack_files)
        did_tables = _ensure(is_migrated, make_tables)
        did_cache = _ensure(has_cache_tables, lambda: _call("createcachetable"))
        return any([did_tables, did_cache, files.result()])


def is_migrated() -> bool:
    """Whether every migration is applied."""
    return not unapplied(MigrationExecutor(connections[DEFAULT_DB_ALIAS]))


def make_tables() -> None:
    """Apply every migration, or create a new SQLite database in one step."""
    if not make_all_tables(connections[DEFAULT_DB_ALIAS]):
        _call("migrate", interactive=False)


def unapplied(executor: MigrationExecutor) -> list[Migration]:
    """Return the unapplied migrations in the order in which they would be applied."""
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [migration for migration, _backwards in plan]


def has_cache_tables() -> bool:
    """Whether every database-backed cache has its table."""
    wanted = {
        cache["LOCATION"]
        for cache in settings.CACHES.values()
        if str(cache["BACKEND"]).endswith("DatabaseCache")
    }
    return wanted <= set(connections[DEFAULT_DB_ALIAS].introspection.table_names())


def pack_files() -> bool:
    """Collect and compress static files if they changed; return whether they did.

    The record of the sources is written last, so that an interrupted run is repeated.
    """
    packed, sources = Path(settings.STATIC_ROOT) / PACKED, _sources()
    if packed.exists() and packed.read_text(encoding="utf-8") == sources:
        return False
    packed.unlink(missing_ok=True)
    _call("collectstatic", interactive=False)
    packed.write_text(sources, encoding="utf-8")
    return True


def static_sources() -> dict[str, Path]:
    """Map names to files as ``collectstatic`` does; the first file with a name wins."""
    paths: dict[str, Path] = {}
    for finder in get_finders():
        storage: Storage
        for path, storage in finder.list(NeededFiles.ignore_patterns):
            name = f"{getattr(storage, 'prefix', None) or ''}/{path}".lstrip("/")
            paths.setdefault(name, Path(storage.path(path)))
    return paths


def _ensure(is_done: Callable[[], bool], do: Callable[[], None]) -> bool:
    if is_done():
        return False
    do()
    return True


def _call(command: str, **options: object) -> None:
    call_command(command, verbosity=0, **options)


def _sources() -> str:
    """Return a hash of all static files and of the packages that compress them."""
    digest = sha256(str(settings.STORAGES["staticfiles"]).encode())
    for package in PACKERS:
        digest.update(f"{package} {version(package)}\n".encode())
    for name, path in sorted(static_sources().items()):
        digest.update(f"{name}\n".encode() + sha256(path.read_bytes()).digest())
    return digest.hexdigest()
