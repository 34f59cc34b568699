"""Statements of comments: sentences as people write them in a box, and which of them say nothing.

Beside the ends that `sentences` knows, a statement ends at a line break, at the mark of a list and
at a semicolon between two clauses. A comment without any of these stays whole, however long.
"""

import re
from collections.abc import Iterator

from argsum.datasets.methods.sentences import sentences

_BREAK = re.compile(r"[\r\n\v\f\x85\u2028\u2029]+")
_END = re.compile(r"[.!?…:;][\"'’”»)\]]*$")
# A line that is at least so long and goes on in small letters was broken by its width alone.
WRAPPED_FROM = 40
_BULLETS = "•●▪‣◦■□✓✔➤►"
# At the beginning of a line; a hyphen or star counts with white space behind it only.
_ITEM = re.compile(rf"^\s*(?:[{_BULLETS}·]\s*|[-–—*+]\s+|\(?(?:\d{{1,2}}|[a-zA-Z])[.)]\s+(?=\S))")
_INSIDE = re.compile(rf"\s*[{_BULLETS}]\s*|\s+·\s+")
_DASHED = re.compile(r"^\s*[-–—*]\s+")
_DASH_INSIDE = re.compile(r"\s+[-–—*]\s+")
_NUMBERED = re.compile(r"^\s*1[.)]\s")
_NUMBER_INSIDE = re.compile(r"\s+(?=\d{1,2}[.)]\s+\S)")
_SEMICOLON = re.compile(r";\s+")
LEAST_CLAUSE = 4
# "product.Fast": a sentence whose white space was forgotten.
_GLUED = re.compile(r"(?<=[^\W\d_]{2}[.!?])(?=[A-ZÄÖÜÉÈÀÇÑ][^\W\d_]*[a-zäöüßéèàçñ])")
# `sentences` counts these as ends, as the released data of a paper do; nobody who writes does.
_SHORT_FORMS = "e.g i.e vs dr mr mrs ms prof approx ca z.b d.h u.a bzw evtl inkl"
_NEVER_LAST = frozenset(_SHORT_FORMS.split())
_BEFORE_NUMBERS = frozenset(("no", "nr"))
_MAYBE_LAST = frozenset(["etc", "usw", "inc", "ltd", "co", "jr"])
_LAST_WORD = re.compile(r"(?:^|[\s(\"'„“])([^\s(\"'„“]+)\.$")

_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
# Scripts that put no white space between words: so many letters count as two words.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
LEAST_UNSPACED = 4
LEAST_WORDS = 2
# Without case and marks; whole statements only.
NOTHING = frozenset(
    """
    n a
    not applicable
    no comment
    no comments
    no further comment
    no further comments
    no additional comments
    no other comments
    i have no comment
    i have no comments
    no answer
    no opinion
    no idea
    no suggestion
    no suggestions
    none at all
    none that i can think of
    nothing at all
    nothing else
    nothing more
    nothing really
    nothing to add
    nothing to say
    nothing comes to mind
    not really
    not sure
    not at this time
    don't know
    dont know
    do not know
    i don't know
    i dont know
    i do not know
    see above
    see below
    see previous
    see previous answer
    as above
    same as above
    same as before
    thank you
    thanks
    thanks a lot
    many thanks
    thank you very much
    thank you so much
    no thanks
    no thank you
    that's all
    that is all
    keine angabe
    kein kommentar
    keine ahnung
    nichts weiter
    weiß nicht
    weiss nicht
    siehe oben
    vielen dank
    sans objet
    aucun commentaire
    ne sais pas
    voir ci-dessus
    merci beaucoup
    sin comentarios
    no sé
    muchas gracias
    nessun commento
    molte grazie
    geen commentaar
    zie boven
    sem comentários
    muito obrigado
    muito obrigada
    """.replace("    ", "")
    .strip()
    .split("\n")
)


def statements(text: str) -> list[str]:
    """Split a comment.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    list of str
        In order, each with single spaces; a text of nothing but marks is one statement, a blank
        one none.

    Examples
    --------
    >>> statements("Too slow. Nobody answers; the phone just rings and rings\\n- broken lift")
    ['Too slow.', 'Nobody answers; the phone just rings and rings', 'broken lift']
    >>> statements("I like the new rooms a lot; the old ones were far too dark")
    ['I like the new rooms a lot', 'the old ones were far too dark']
    """
    found = []
    for line in _lines(text):
        for item in _items(line):
            for sentence in _joined(_sentences(item)):
                found.extend(_clauses(sentence))
    pieces = (" ".join(each.split()) for each in found)
    whole = " ".join(text.split())
    return [piece for piece in pieces if _has_text(piece)] or ([whole] if whole else [])


def says_something(text: str) -> bool:
    """Whether a statement says anything: two words at least, and no phrase of `NOTHING`.

    Examples
    --------
    >>> says_something("Too slow"), says_something("n/a"), says_something("See above.")
    (True, False, False)
    """
    words = [each.replace("’", "'") for each in _WORD.findall(text.lower())]
    if len(words) < LEAST_WORDS:
        return len(_UNSPACED.findall(text)) >= LEAST_UNSPACED
    return " ".join(words) not in NOTHING


def _lines(text: str) -> list[str]:
    """Lines of a text; those that only its width broke are one."""
    lines: list[str] = []
    for line in (each.strip() for each in _BREAK.split(text)):
        if lines and _goes_on(lines[-1], line):
            lines[-1] = f"{lines[-1]} {line}"
        elif line:
            lines.append(line)
    return lines


def _goes_on(before: str, line: str) -> bool:
    last = before[-WRAPPED_FROM:]
    return (
        len(last) == WRAPPED_FROM
        and line[:1].islower()
        and not (_END.search(last) or _ITEM.match(line))
    )


def _items(line: str) -> Iterator[str]:
    """What the marks of a list part, without these marks."""
    if _DASHED.match(line):
        pieces = _DASH_INSIDE.split(_DASHED.sub("", line))
    elif _NUMBERED.match(line):
        pieces = _NUMBER_INSIDE.split(line)
    else:
        pieces = [line]
    for piece in pieces:
        for each in _INSIDE.split(piece):
            yield _ITEM.sub("", each, count=1)


def _sentences(item: str) -> Iterator[str]:
    for each in sentences(item):
        yield from _GLUED.split(each)


def _joined(pieces: Iterator[str]) -> list[str]:
    """Sentences, with what an abbreviation parted put together again."""
    found: list[str] = []
    for piece in pieces:
        if found and _is_short_form(found[-1], piece):
            found[-1] = f"{found[-1]} {piece}"
        else:
            found.append(piece)
    return found


def _is_short_form(before: str, after: str) -> bool:
    last = _LAST_WORD.search(before[-20:])
    if last is None:
        return False
    word = last[1].lower()
    if word in _BEFORE_NUMBERS:
        return after[:1].isdigit()
    return word in _NEVER_LAST or (word in _MAYBE_LAST and after[:1].islower())


def _clauses(sentence: str) -> list[str]:
    """Parts between semicolons, where each is a clause by itself."""
    parts = _SEMICOLON.split(sentence)
    if all(len(_WORD.findall(part)) >= LEAST_CLAUSE for part in parts):
        return parts
    return [sentence]


def _has_text(piece: str) -> bool:
    return any(char.isalnum() for char in piece)
