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
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.executor import MigrationExecutor

# In the folder of the packed files, so that it goes where they go.
PACKED = "packed-from.txt"
# What packs them: another version may do it otherwise.
PACKERS = ("Django", "whitenoise", "brotli")


def prepare() -> bool:
    """Do what is missing; whether anything was. Files are packed while tables are made."""
    with ThreadPoolExecutor(1) as beside:
        files = beside.submit(_ensure, are_files_packed, pack_files)
        did_tables = _ensure(is_migrated, lambda: _call("migrate", interactive=False))
        did_cache = _ensure(has_cache_tables, lambda: _call("createcachetable"))
        return any([did_tables, did_cache, files.result()])


def is_migrated() -> bool:
    """Whether every migration is applied."""
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def has_cache_tables() -> bool:
    """Whether caches that are kept in the database have their tables."""
    wanted = {
        each["LOCATION"]
        for each in settings.CACHES.values()
        if str(each["BACKEND"]).endswith("DatabaseCache")
    }
    return wanted <= set(connections[DEFAULT_DB_ALIAS].introspection.table_names())


def are_files_packed() -> bool:
    """Whether the packed static files are those of this code."""
    try:
        return (_folder() / PACKED).read_text(encoding="utf-8") == _sources()
    except FileNotFoundError:
        return False


def pack_files() -> None:
    """Collect and pack static files; what they were made from is written last."""
    (_folder() / PACKED).unlink(missing_ok=True)
    _call("collectstatic", interactive=False)
    (_folder() / PACKED).write_text(_sources(), encoding="utf-8")


def _ensure(is_done: Callable[[], bool], do: Callable[[], None]) -> bool:
    if is_done():
        return False
    do()
    return True


def _call(command: str, **options: object) -> None:
    call_command(command, verbosity=0, **options)


def _folder() -> Path:
    return Path(settings.STATIC_ROOT)


def _sources() -> str:
    """A hash of the content of every static file and of what packs them."""
    found = sha256(str(settings.STORAGES["staticfiles"]).encode())
    for package in PACKERS:
        found.update(f"{package} {version(package)}\n".encode())
    for finder in get_finders():
        for path, storage in sorted(finder.list([]), key=lambda each: each[0]):
            with storage.open(path) as content:
                found.update(f"{path}\n".encode() + sha256(content.read()).digest())
    return found.hexdigest()
