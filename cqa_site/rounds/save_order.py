"""Which of several saves of one sheet may follow which.

A sheet knows the page that saved last (``client``), the number the page gave its save
(``sequence``), and the version that page began from (``since``): what a page sends on may be
based on any version since then, because all of them are its own.
"""

from typing import Any, Protocol

from django.utils import timezone

# Seconds that one save may add to the time of work.
LONGEST_STRETCH = 600
SAVED_FIELDS = ("version", "client", "sequence", "since", "active_seconds", "saved_at")


class Save(Protocol):
    """What a page says about a save."""

    @property
    def base_version(self) -> int: ...
    @property
    def client(self) -> str: ...
    @property
    def sequence(self) -> int: ...
    @property
    def active_seconds(self) -> int: ...


def is_same_page(sheet: Any, save: Save) -> bool:
    """Whether the page saved last itself."""
    return bool(save.client) and save.client == sheet.client


def is_overtaken(sheet: Any, save: Save) -> bool:
    """Whether the page itself has sent a later content since."""
    return is_same_page(sheet, save) and 0 < save.sequence < sheet.sequence


def may_follow(sheet: Any, save: Save) -> bool:
    """Whether the save is based on what is stored, or on an earlier save of its own."""
    if save.base_version == sheet.version:
        return True
    # Its own earlier save, of which the page never got the answer.
    is_own = is_same_page(sheet, save) and sheet.since <= save.base_version <= sheet.version
    return bool(is_own and save.sequence > sheet.sequence)


def note_save(sheet: Any, save: Save) -> None:
    """Count the version up and remember who saved; the caller stores `SAVED_FIELDS`."""
    sheet.since = sheet.since if is_same_page(sheet, save) else sheet.version
    sheet.version += 1
    sheet.client, sheet.sequence = save.client, save.sequence
    sheet.active_seconds += _worked(sheet, save)
    sheet.saved_at = timezone.now()


def _worked(sheet: Any, save: Save) -> int:
    """Seconds to add: what the page claims, but no more than passed since the last save."""
    since = sheet.saved_at or sheet.served_at
    passed = int((timezone.now() - since).total_seconds()) if since else LONGEST_STRETCH
    return max(0, min(save.active_seconds, passed, LONGEST_STRETCH))
