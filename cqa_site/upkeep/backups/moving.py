"""The database of a site into another, empty one."""

from .archive import Say, quiet
from .contents import Contents
from .databases import Config
from .loading import load, migrate_on
from .snapshot import snapshot
from .targets import filled, refuse_full


def move_database(config: Config, *, say: Say = quiet) -> dict[str, Contents]:
    """Fill another database with what this one holds now; map each table to what was moved.

    Files stay where they are, and what was encrypted stays readable: it is the same site.
    """
    refuse_full(config)
    with snapshot() as taken, filled(config) as alias:
        moved = load(taken, alias, say)
        migrate_on(alias)
    return moved
