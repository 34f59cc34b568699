"""How commands of backups tell how far they are: one line that changes, or nothing in a log."""

from django.core.management.base import OutputWrapper

from .archive import Manifest

WIDTH = 78


class Telling:
    """Says how much is done, on a terminal only."""

    def __init__(self, out: OutputWrapper) -> None:
        self._out = out

    def __call__(self, done: int, total: int, note: str) -> None:
        if self._out.isatty():
            line = f"{done} of {total}  {note}"[:WIDTH] if note else ""
            self._out.write(f"\r{line:{WIDTH}}" + ("" if note else "\r"), ending="")
            self._out.flush()


def told(manifest: Manifest) -> str:
    """What a backup is, in a sentence or two, and a line for each file that is not in it."""
    size = sum(part.bytes for part in manifest.files)
    missing = [f"Deleted while the backup was made, and not in it: {n}" for n in manifest.vanished]
    missing += [f"A link that leads elsewhere, and not in it: {n}" for n in manifest.left_out]
    about = (
        f"Made by version {manifest.version} on {manifest.made_at[:16].replace('T', ' ')} UTC: "
        f"{manifest.rows:,} rows in {len(manifest.tables)} tables, {len(manifest.files):,} files "
        f"({size / 2**20:,.1f} MiB), {'with' if manifest.keys else 'without'} keys."
    )
    return "\n".join([about, *missing])
