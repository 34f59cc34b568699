"""Whether two texts are one answer, told by their letters and digits.

Texts that went through a workbook or another program lose white space, quotation marks and the
encoding of signs ("‚Äô" for an apostrophe). Letters a to z and digits survive, so they are what
is compared. Texts with other letters are never taken for one; those that are nearly alike are
shown to a person.
"""

import re
from hashlib import blake2b

from rapidfuzz import fuzz

# Where the end of a text was lost or changed; so much of a beginning is no coincidence.
OPENING_LENGTH = 300
# Several answers of one system to one question reach .98 in the CompQA release, so no value
# decides alone; below this one they are not worth a person's look.
NEAR = 0.9

_OTHER = re.compile(r"[^A-Za-z0-9]+")
_SHOWN, _BEFORE = 240, 60


def letters_of(text: str) -> str:
    """Letters a to z and digits of a text, without regard to case.

    >>> letters_of("It’s 3.5-inch!") == letters_of("It‚Äôs 3.5-inch!")
    True
    """
    return _OTHER.sub("", text).lower()


def letters_key(text: str) -> bytes:
    """Sixteen bytes that stand for the letters of a text; of one without any, for itself."""
    return blake2b((letters_of(text) or text).encode(), digest_size=16).digest()


def likeness(one: str, other: str) -> float:
    """How nearly two strings of letters are alike, 0 to 1; 0 where they are not worth a look.

    Twice the longest common subsequence by the sum of the lengths. Worth a look is what reaches
    `NEAR`, or begins with the same `OPENING_LENGTH` letters, however it goes on.

    >>> likeness("teawins", "teawins"), likeness("teawins", "coffee")
    (1.0, 0.0)
    """
    opening = one[:OPENING_LENGTH]
    begins_alike = len(opening) == OPENING_LENGTH and other.startswith(opening)
    cutoff = 0 if begins_alike else 100 * NEAR
    return fuzz.ratio(one, other, score_cutoff=cutoff) / 100


def excerpts(one: str, other: str) -> tuple[str, str]:
    """The beginnings of two texts, and the place where their letters first differ.

    >>> excerpts("Tea wins.", "Tea  wins!")
    ('Tea wins.', 'Tea  wins!')
    """
    same = _same_letters(one, other)
    return _excerpt(one, same), _excerpt(other, same)


def _same_letters(one: str, other: str) -> int:
    first, second = letters_of(one), letters_of(other)
    pairs = enumerate(zip(first, second, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(first), len(second)))


def _excerpt(text: str, same: int) -> str:
    """The opening; what follows the first ``same`` letters too, where that is further on."""
    if len(text) <= _SHOWN:
        return text
    places = [match.start() for match in re.finditer("[A-Za-z0-9]", text)]
    at = places[same] if same < len(places) else len(text)
    opening = text[:_SHOWN]
    if at < _SHOWN:
        return f"{opening} …"
    begin = max(at - _BEFORE, _SHOWN)
    return f"{opening} … {text[begin : begin + _SHOWN]}"
