"""A site's files and sealed keys in a backup, and the passphrase."""

import base64
import getpass
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from django.conf import settings

from .archive import FOLDERS, Archive, Say
from .tables import BackupRefused, DamagedBackup

# Files of a site in a backup, and their restoration into an empty installation.

# A marker file in the data folder while it contains restored files without their rows.
MARK = "restoring"
ROOM_TO_SPARE = 16 * 2**20


def files_in(folder: Path) -> list[Path]:
    """Return all files to back up, in order; a linked file is listed under both names."""
    return files_and_links(folder)[0]


def files_and_links(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the files to back up, and the links that are left out.

    These links are broken, circular or chained, or lead out of the folder.
    """
    paths: list[Path] = []
    left_out: list[Path] = []
    for name in FOLDERS:
        for path, is_kept in _walk(folder / name, (folder / name).resolve(), frozenset(), False):
            (paths if is_kept else left_out).append(path)
    return sorted(paths), sorted(left_out)


def _walk(
    where: Path, root: Path, above: frozenset[Path], is_linked: bool
) -> Iterator[tuple[Path, bool]]:
    """Yield the files and links in a folder, and whether each is backed up.

    Folders linked from within a linked folder are not followed, because each such link could
    double the number of files.
    """
    above |= {where.resolve()}
    for path in _entries(where):
        leads_on = path.is_symlink()
        goes_far = is_linked and path.is_dir()
        if leads_on and (goes_far or not _stays_within(path, root, above)):
            yield path, False
        elif path.is_dir():
            yield from _walk(path, root, above, is_linked or leads_on)
        elif path.is_file():
            yield path, True


def _entries(where: Path) -> list[Path]:
    paths: list[Path] = []
    with suppress(FileNotFoundError):
        paths += where.iterdir()
    for path in paths:
        name = os.fsencode(path)
        try:
            name.decode()
        except UnicodeDecodeError as problem:
            raise BackupRefused(
                f"A file cannot be backed up, because its name is not UTF-8: {name!r}. Rename it."
            ) from problem
    return paths


def _stays_within(link: Path, root: Path, above: frozenset[Path]) -> bool:
    if not link.exists():
        return False
    real = link.resolve()
    return real.is_relative_to(root) and real not in above


def size_of(paths: list[Path]) -> int:
    """Return the total size of the files in bytes; deleted files count as 0."""
    total = 0
    for path in paths:
        with suppress(FileNotFoundError):
            total += path.stat().st_size
    return total


def refuse_small(needs: Iterable[tuple[Path, int]], what: str) -> None:
    """Refuse to start if a disk has less space than its folders may need."""
    disks: dict[int, tuple[Path, int]] = {}
    for folder, needed in needs:
        there = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
        disk = there.stat().st_dev
        place, before = disks.get(disk, (there, ROOM_TO_SPARE))
        disks[disk] = (place, before + needed)
    for place, needed in disks.values():
        free = shutil.disk_usage(place).free
        if free < needed:
            raise BackupRefused(
                f"{what} may need {needed / 2**20:,.0f} MiB, but {place} has "
                f"{free / 2**20:,.0f} MiB left. Free some space, or use another disk."
            )


@contextmanager
def all_or_none(folder: Path, *, whose: str) -> Iterator[None]:
    """Keep files written to an empty folder only if nothing is raised.

    A killed process leaves a marker file with the name of its database. The marker tells the next
    process that no row of this database refers to the files.
    """
    mark = folder / MARK
    if mark.exists() and mark.read_text() == whose:
        _remove_files(folder)
    if there := files_in(folder):
        raise BackupRefused(
            f"There are files in {folder} ({len(there)}, the first is {there[0].name}). "
            "A backup is restored into an empty installation only."
        )
    mark.write_text(whose)
    try:
        yield
    except BaseException:
        _remove_files(folder)
        mark.unlink()
        raise
    mark.unlink()


def put_files(archive: Archive, folder: Path, say: Say) -> None:
    files = archive.manifest.files
    for done, part in enumerate(files):
        say(done, len(files), part.name)
        # The archive refuses names that lead out of the folder.
        path = folder / part.name.removeprefix("files/")
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as target:
            archive.copy(part, target)
            target.flush()
            os.fsync(target.fileno())


def _remove_files(folder: Path) -> None:
    for path in files_in(folder):
        # The target of a link may already have been deleted.
        path.unlink(missing_ok=True)


# Each guess at a passphrase needs 128 MiB and about half a second.
COST, BLOCK_SIZE, LANES = 2**17, 8, 1
# Files that require more were not written by this program.
MOST_COST = 2**20
SHORTEST = 8
Keys = dict[str, Any]


def keys_here() -> Keys:
    """Return the keys that decrypt the database's values, the only keys a restore needs."""
    return {"SECRETS_KEYS": list(settings.SECRETS_KEYS)}


def seal(keys: Keys, passphrase: str) -> bytes:
    """Encrypt the keys, and include everything needed to decrypt them except the passphrase."""
    if len(passphrase) < SHORTEST:
        raise BackupRefused(f"The passphrase needs at least {SHORTEST} characters.")
    salt, nonce = os.urandom(16), os.urandom(12)
    header = {"kdf": "scrypt", "n": COST, "r": BLOCK_SIZE, "p": LANES, "cipher": "AES-256-GCM"}
    header |= {"salt": _text(salt), "nonce": _text(nonce)}
    box = AESGCM(_derived(passphrase, header))
    sealed = box.encrypt(nonce, json.dumps(keys).encode(), _bound(header))
    return json.dumps(header | {"sealed": _text(sealed)}).encode()


def unseal(content: bytes, passphrase: str) -> Keys:
    """Decrypt the keys, or raise BackupRefused if the passphrase is wrong."""
    try:
        header = json.loads(content)
        sealed = base64.b64decode(header.pop("sealed"))
        box = AESGCM(_derived(passphrase, header))
        keys: Keys = json.loads(
            box.decrypt(base64.b64decode(header["nonce"]), sealed, _bound(header))
        )
        for key in keys["SECRETS_KEYS"]:
            Fernet(key)
    except InvalidTag:
        raise BackupRefused("This is not the passphrase of the backup.") from None
    except (ArithmeticError, AttributeError, KeyError, RuntimeError, TypeError, ValueError):
        raise DamagedBackup("the keys") from None
    return keys


def _derived(passphrase: str, header: dict[str, Any]) -> bytes:
    is_ours = (header["kdf"], header["r"], header["p"]) == ("scrypt", BLOCK_SIZE, LANES)
    if not is_ours or header["n"] > MOST_COST:
        raise BackupRefused("The keys in the backup are sealed in an unknown way.")
    salt = base64.b64decode(header["salt"])
    return Scrypt(salt, 32, n=header["n"], r=header["r"], p=header["p"]).derive(
        passphrase.encode()
    )


def _bound(header: dict[str, Any]) -> bytes:
    """Return the parameters as bytes to be authenticated, so that they cannot be changed."""
    return json.dumps(header, sort_keys=True).encode()


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()


# Passphrase of a command, from a file, the environment or the keyboard.

VARIABLE = "BACKUP_PASSPHRASE"
WAYS = (
    "You cannot enter a passphrase here. Specify a file with --passphrase-file, set "
    f"{VARIABLE}, or leave the keys out with --without-keys."
)


def given_passphrase(file: str) -> str:
    """Return the passphrase from the file or the environment, or an empty string."""
    return read_passphrase(file) if file else os.environ.get(VARIABLE, "")


def read_passphrase(file: str) -> str:
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except OSError as problem:
        raise BackupRefused(
            f"The passphrase cannot be read from {file}: {problem.strerror}."
        ) from problem
    except UnicodeDecodeError:
        # The error contains the secret from the file.
        raise BackupRefused(f"The passphrase in {file} is not UTF-8 text.") from None
    if not lines or not lines[0]:
        raise BackupRefused(f"The first line of {file} is empty. Enter the passphrase there.")
    return lines[0]


def ask_passphrase(*, twice: bool) -> str:
    if not sys.stdin.isatty():
        raise BackupRefused(WAYS)
    passphrase = getpass.getpass("Passphrase for the keys: ")
    if twice and getpass.getpass("Repeat the passphrase: ") != passphrase:
        raise BackupRefused("The two passphrases differ. Nothing was written.")
    return passphrase
