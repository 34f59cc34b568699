"""Taking an API key out of what a server says: some repeat it, or part of it, in errors."""

import re

SHORTEST_SECRET = 8
PIECE = 8
# Whatever has a piece of the key has one of its marks: every piece holds one as a whole.
MARK = 4
# Without one of these there is nothing masked, and looking for them takes no time.
_MASKS = ("***", "...", "…", "•", "●")
# Possessive throughout: each character is looked at once, however hostile the text.
_MASKED = re.compile(
    r"(?:(?<![\w-])([\w-]{2,200}+))?+(?:[*•●]{3,}+|…|\.{3}+)(?:([\w-]{2,200}+))?+"
)


class Scrubber:
    """Replaces a key, any `PIECE` characters of it, and masked forms such as ``sk-ab***wxyz``.

    Parameters
    ----------
    key
        Shorter than `SHORTEST_SECRET` it is taken for a placeholder, which local servers
        ask for, and nothing is replaced: the word may well belong to the text.

    Examples
    --------
    >>> Scrubber("sk-abcdefghijklmn")("Incorrect key: sk-ab*******klmn, see the manual")
    'Incorrect key: [key], see the manual'
    """

    def __init__(self, key: str) -> None:
        self._key = key if len(key) >= SHORTEST_SECRET else ""
        starts = range(len(self._key) - PIECE + 1)
        self._pieces = {self._key[start : start + PIECE] for start in starts}
        marks = range(0, len(self._key) - MARK + 1, PIECE - MARK + 1)
        self._marks = {self._key[start : start + MARK] for start in marks}

    def __repr__(self) -> str:
        return "<Scrubber>"

    def __call__(self, text: str) -> str:
        """The text without the key."""
        if not self._key:
            return text
        if any(mask in text for mask in _MASKS):
            text = _MASKED.sub(self._unmask, text)
        if any(mark in text for mark in self._marks):
            text = self._without_pieces(text)
        return text

    def _without_pieces(self, text: str) -> str:
        starts = sorted(
            found.start()
            for piece in self._pieces
            if piece in text
            for found in re.finditer(f"(?={re.escape(piece)})", text)
        )
        kept, position = [], 0
        for start in starts:
            if start >= position:
                kept += [text[position:start], "[key]"]
            # Pieces overlap: one that starts inside the last only moves the end on.
            position = start + PIECE
        return "".join([*kept, text[position:]])

    def _unmask(self, found: re.Match[str]) -> str:
        head, tail = found.groups()
        shows_start = head is not None and self._key.startswith(head)
        shows_end = tail is not None and self._key.endswith(tail)
        return "[key]" if shows_start or shows_end else found.group()
