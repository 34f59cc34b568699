"""Why a backup cannot be made, read or restored: words for the person who asked."""


class BackupRefused(Exception):
    """What was asked for cannot be done; the message says why, and what to do."""


class Damaged(BackupRefused):
    """A backup is not what was written; `part` names where."""

    def __init__(self, part: str, why: str = "") -> None:
        self.part = part
        super().__init__(
            f"The backup is damaged: {part}{f' ({why})' if why else ''}. "
            "Nothing was restored from it; take another backup, or copy this one again."
        )
