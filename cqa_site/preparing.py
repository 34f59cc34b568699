"""What a site needs before its first page: tables, the table of the cache, packed static files.

Each is asked for itself, not remembered: a database may be another one than yesterday, and an
upgrade may bring anything. Asking takes a few hundredths of a second, doing it again seconds.
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

# In the folder of the packed files, so that it goes where they go.
PACKED = "packed-from.txt"
# What packs them: another version may do it otherwise.
PACKERS = ("Django", "whitenoise", "brotli")


def prepare() -> bool:
    """Do what is missing; whether anything was. Files are packed while tables are made."""
    with ThreadPoolExecutor(1) as beside:
        files = beside.submit(pack_files)
        did_tables = _ensure(is_migrated, make_tables)
        did_cache = _ensure(has_cache_tables, lambda: _call("createcachetable"))
        return any([did_tables, did_cache, files.result()])


def is_migrated() -> bool:
    """Whether every migration is applied."""
    return not unapplied(MigrationExecutor(connections[DEFAULT_DB_ALIAS]))


def make_tables() -> None:
    """Apply every migration, or make a new SQLite database in one step."""
    if not make_all_tables(connections[DEFAULT_DB_ALIAS]):
        _call("migrate", interactive=False)


def unapplied(executor: MigrationExecutor) -> list[Migration]:
    """Migrations that a database lacks, in the order in which they would be applied."""
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [migration for migration, _backwards in plan]


def has_cache_tables() -> bool:
    """Whether caches that are kept in the database have their tables."""
    wanted = {
        cache["LOCATION"]
        for cache in settings.CACHES.values()
        if str(cache["BACKEND"]).endswith("DatabaseCache")
    }
    return wanted <= set(connections[DEFAULT_DB_ALIAS].introspection.table_names())


def pack_files() -> bool:
    """Collect and pack static files if anything about them changed; whether it did.

    What they are made from is written last, so that packing that broke off is done again.
    """
    packed, sources = Path(settings.STATIC_ROOT) / PACKED, _sources()
    if packed.exists() and packed.read_text(encoding="utf-8") == sources:
        return False
    packed.unlink(missing_ok=True)
    _call("collectstatic", interactive=False)
    packed.write_text(sources, encoding="utf-8")
    return True


def static_sources() -> dict[str, Path]:
    """Name → file, as ``collectstatic`` finds them: of two with one name the first counts."""
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
    """A hash of the content of every static file and of what packs them."""
    digest = sha256(str(settings.STORAGES["staticfiles"]).encode())
    for package in PACKERS:
        digest.update(f"{package} {version(package)}\n".encode())
    for name, path in sorted(static_sources().items()):
        digest.update(f"{name}\n".encode() + sha256(path.read_bytes()).digest())
    return digest.hexdigest()
