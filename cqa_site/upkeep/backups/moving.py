"""The database of a site into another, empty one."""

from cqa_site.runs.jobs import workers_alive

from .archive import Say, quiet
from .contents import Contents
from .databases import Config
from .loading import load, migrate_on
from .refusals import BackupRefused, in_words
from .snapshot import Snapshot, snapshot
from .targets import filled, refuse_full

STOP = "Stop all web servers and workers, and move again. Nothing was changed."


def move_database(config: Config, *, say: Say = quiet) -> dict[str, Contents]:
    """Fill another database with what this one holds now; map each table to what was moved.

    Files stay where they are, and what was encrypted stays readable: it is the same site.
    Refused while workers live, and where something was written until the other was full.
    """
    refuse_full(config)
    _refuse_at_work()
    with in_words("The database could not be moved"), filled(config) as alias:
        with snapshot() as taken:
            moved = load(taken, alias, say)
        migrate_on(alias)
        with snapshot() as later:
            _refuse_written(later, moved)
    return moved


def _refuse_at_work() -> None:
    if alive := workers_alive():
        told = ", ".join(f"process {each.process_id} on {each.host}" for each in alive[:3])
        raise BackupRefused(
            f"The site is at work: {len(alive)} worker{'s' * (len(alive) > 1)} reported within "
            f"the last minute ({told}). {STOP}"
        )


def _refuse_written(later: Snapshot, moved: dict[str, Contents]) -> None:
    for table in later.tables:
        now = Contents.of(table, later.rows(table))
        if now.sha256 != moved[table.name].sha256:
            raise BackupRefused(
                f"Somebody wrote to {table.name} while it was moved: {now.rows:,} rows now, "
                f"{moved[table.name].rows:,} before. {STOP}"
            )
