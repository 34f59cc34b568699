"""Where a command has its passphrase from: a file, the environment, or somebody who types it."""

import getpass
import os
import sys
from pathlib import Path

from .refusals import BackupRefused

VARIABLE = "BACKUP_PASSPHRASE"
WAYS = (
    "Nobody can be asked for a passphrase here. Name a file with --passphrase-file, set "
    f"{VARIABLE}, or leave the keys out with --without-keys."
)


def given_passphrase(file: str) -> str:
    """From the file named, or from the environment; empty where neither says one."""
    return read_passphrase(file) if file else os.environ.get(VARIABLE, "")


def read_passphrase(file: str) -> str:
    """The first line of a file."""
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except OSError as problem:
        raise BackupRefused(
            f"The passphrase cannot be read from {file}: {problem.strerror}."
        ) from problem
    except UnicodeDecodeError:
        # What is in the file is secret, and the error has it.
        raise BackupRefused(f"The passphrase in {file} is no text in UTF-8.") from None
    if not lines or not lines[0]:
        raise BackupRefused(f"There is no passphrase in the first line of {file}.")
    return lines[0]


def ask_passphrase(*, twice: bool) -> str:
    """Ask at the terminal, without showing what is typed."""
    if not sys.stdin.isatty():
        raise BackupRefused(WAYS)
    passphrase = getpass.getpass("Passphrase for the keys: ")
    if twice and getpass.getpass("The same again: ") != passphrase:
        raise BackupRefused("The two passphrases differ; nothing was written.")
    return passphrase
