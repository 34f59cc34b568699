"""Files that an installation creates and that other users of the machine cannot read."""

import fcntl
import os
import secrets
import tempfile
from pathlib import Path


def make_private(path: Path) -> None:
    """Create an empty private file if it does not exist.

    A file created by root belongs to the folder's owner.
    """
    if not path.exists():
        path.touch(mode=0o600)
        _give_to_owner(path)


def own_secret(path: Path, random_bytes: int = 64) -> str:
    """Read a secret of this installation, or create it.

    If several processes find it missing, only one creates it.
    """
    make_private(path)
    while not (secret := path.read_text().strip()):
        with path.open("r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            # Otherwise, another process has already written a secret.
            if not file.read().strip() and os.path.samestat(os.fstat(file.fileno()), path.stat()):
                _replace(path, secrets.token_urlsafe(random_bytes))
    return secret


def _replace(path: Path, text: str) -> None:
    """Replace the file atomically, and sync it to disk before the secret is used."""
    handle, name = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
    with open(handle, "w") as written:
        written.write(text)
        written.flush()
        os.fsync(handle)
    _give_to_owner(Path(name))
    os.replace(name, path)


def _give_to_owner(path: Path) -> None:
    if os.geteuid() == 0:
        folder = path.parent.stat()
        os.chown(path, folder.st_uid, folder.st_gid)
