"""How wide a text becomes, and how a long one is laid on lines.

A picture in a page takes the typeface of whoever looks at it, so nobody knows its widths when it
is drawn. Widths here are those of DejaVu Sans, the widest face of the charts' font stack: what
fits by them fits in the others.
"""

import re

# Widths in hundredths of the size, each for the characters after it.
_CLASSES = {
    28: "ijl'",
    32: "IJ ,.·",
    37: "/:;\\f-|",
    42: "()[]tr!",
    55: '*_`–sz?c"',
    62: "FkPvxyTYaeoL",
    65: "0123456789ESbdghnpqu{}$",
    71: "KABVXZCR",
    79: "UNHDGOQ&",
    84: "w#+<=>^~−",
}
_WIDTHS = {ord(one): share / 100 for share, ones in _CLASSES.items() for one in ones}
_WIDEST = 1.08
# Weight 600 is drawn bold where a face has nothing between.
_BOLD = 1.2
# After these a line may break.
_PIECES = re.compile(r"[^\s/_-]*[\s/_-]?")
ELLIPSIS = "…"


def text_width(text: str, size: float = 12, *, is_bold: bool = False) -> float:
    """Pixels that a text takes at most in one line."""
    ems = sum(_WIDTHS.get(ord(one), _WIDEST) for one in text)
    return ems * size * (_BOLD if is_bold else 1)


def wrap(text: str, width: float, size: float = 12, *, most: int = 2) -> list[str]:
    """The text on up to ``most`` lines of a width.

    Lines end after words where that is enough. What does not fit loses its middle, because names
    that begin alike tell themselves apart at their ends.
    """
    for lines in (_by_words(text, width, size), _by_letters(text, width, size)):
        if len(lines) <= most:
            return lines
    return _without_middle(text, width, size, most)


def fits(text: str, width: float, size: float = 12, *, most: int = 2) -> bool:
    """Whether the text fills no more lines and no word of it is broken."""
    pieces = _PIECES.findall(text)
    is_narrow = all(text_width(piece.rstrip(), size) <= width for piece in pieces)
    return is_narrow and len(_by_words(text, width, size)) <= most


def _by_words(text: str, width: float, size: float) -> list[str]:
    """Lines as full as words allow; a word wider than a line is broken."""
    lines = [""]
    for piece in filter(None, _PIECES.findall(text)):
        if text_width((lines[-1] + piece).rstrip(), size) <= width:
            lines[-1] += piece
        else:
            lines += _by_letters(piece, width, size)
    return [line.rstrip() for line in lines if line.strip()] or [""]


def _by_letters(text: str, width: float, size: float) -> list[str]:
    lines = [""]
    for letter in text:
        if lines[-1] and text_width(lines[-1] + letter, size) > width:
            lines.append("")
        lines[-1] += letter
    return lines


def _without_middle(text: str, width: float, size: float, most: int) -> list[str]:
    """As much of the beginning as fills all lines but the last, and as much of the end: words."""
    room = width - text_width(ELLIPSIS, size)
    first, *rest = _by_words(text, width, size)[: most - 1] or [""]
    if most == 1:
        head, tail = _fitting(text, room / 2, size), _fitting(text[::-1], room / 2, size)[::-1]
        return [f"{head.rstrip()}{ELLIPSIS}{tail.lstrip()}"]
    end = _fitting(text[::-1], room, size)[::-1].lstrip()
    return [first, *rest, f"{ELLIPSIS}{end[end.find(' ') + 1 :]}"]


def _fitting(text: str, width: float, size: float) -> str:
    """The longest beginning that fits."""
    return _by_letters(text, width, size)[0] if text else ""
