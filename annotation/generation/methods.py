"""The object that a sentence clearly favours."""

import re
from collections.abc import Iterator, Sequence

from annotation.corpus.methods.sentences import WORD_LISTS, split_sentence

# English words with which a comparative sentence takes sides, for `favoured_object`
#
# The lists are based on grammar and common sense, not on labels. They contain no word that can be
# praise for one thing and blame for another.


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


GAIN = _words(
    "better superior preferable easier faster quicker swifter simpler safer cheaper healthier "
    "nicer smarter smoother cleaner fresher friendlier fairer greener kinder lighter livelier "
    "neater prettier quieter sharper sleeker stronger sturdier tastier wiser comfier handier"
)
LOSS = _words(
    "worse inferior slower weaker poorer riskier costlier pricier deadlier uglier dumber bulkier "
    "clumsier messier flimsier noisier dirtier clunkier crappier nastier"
)
# Adjectives that follow "more" or "less", or come between "as" and "as".
GOOD = _words(
    "accurate affordable attractive beautiful capable comfortable compact consistent convenient "
    "delicious dependable durable easy economical effective efficient elegant enjoyable ergonomic "
    "fast flexible friendly fun good healthy helpful intelligent interesting intuitive natural "
    "nutritious pleasant popular portable powerful practical precise productive quick refined "
    "reliable responsive robust safe secure sensible simple sophisticated stable strong "
    "successful suitable sustainable tasty useful user-friendly valuable versatile well"
)
BAD = _words(
    "annoying bad boring brittle bulky clumsy complex complicated confusing costly cumbersome "
    "dangerous deadly difficult error-prone expensive fragile frustrating harmful noisy painful "
    "polluting poor risky slow toxic ugly unreliable unstable vulnerable wasteful weak"
)
CHOOSE = _words(
    "prefer prefers preferred choose chooses chose favor favors favored favour favours favoured "
    "recommend recommends recommended"
)
WIN = _words(
    "beat beats outperform outperforms outperformed outclass outclasses outclassed outshine "
    "outshines surpass surpasses surpassed trumps trounces trounced"
)
BEATEN = _words("beaten outperformed outclassed outshone surpassed trumped trounced")
TAKES_TO = _words("superior inferior preferable")
NEGATION = WORD_LISTS["negation"] | _words("hardly barely nowhere ain't")
# A sentence that begins with one of these is a question, even without a question mark.
ASKING = _words("is are was were do does did can could will would should has have had")
UNSURE = WORD_LISTS["condition"] | _words("want wants wanted stop")
# Doing one of these faster is a disadvantage, and doing it more slowly may be an advantage.
DECLINE = _words(
    "age ages break breaks collapse crash crashes decay decays decline declines degrade degrades "
    "deteriorate deteriorates die dies dying fade fades fail fails failing lose loses losing lost "
    "rot rots rust rusts spoil spoils tire tires wear wears"
)
PACE = _words("faster quicker slower")
# Words allowed between a comma and a comparative that continues the subject's clause.
BETWEEN = WORD_LISTS["degree"] | WORD_LISTS["being"] | _words("and or also more less times x")
# An object after one of these is a circumstance, not the compared thing.
CIRCUMSTANCE = _words("on in with for at from by to over under unlike than versus vs against")
STOPS = frozenset(",;:.!?()[]–—") | _words("but while whereas although though because")

# The object that a comparative sentence favours, if its wording leaves no doubt
#
# The relevance paper (section 5.3) tests how far a model's answer follows one-sided arguments, but
# does not describe how it determined their sides. This rule is our own. It favours precision over
# coverage, because a probe needs clear sides but not every sentence.
#
# A row is one sentence with its two objects. The rule searches each clause for claims about both
# objects:
#
# - ``X … faster … than Y``: a comparative, then "than" at most `REACH` words later. X is before
# the comparative in the same clause, or between it and "than"; Y is at most `REACH` words after.
# "Superior", "inferior" and "preferable" use "to" instead. - ``prefer X to Y``, with "over" and
# "than" as well, and other verbs of choice. - ``X beats Y``, ``X is beaten by Y`` and other verbs
# of winning and losing. - ``X is not as good as Y``.
#
# The comparative determines whether the claim is positive or negative. Words that can be either
# decide nothing: "bigger", "longer", or "harder", which praises a knife but not an exam. Negated
# claims ("not better than" is not "worse than"), questions, sentences with a condition or a wish,
# and contradictory claims decide nothing either.
#
# The rule decides 39 % of the released arguments (1,696 different sentences about 112 pairs), and
# 44 % of the sentences labelled 3. Of 110 decided sentences drawn at random, 104 were right in the
# judgement of the rule's author; the others named an object only as part of another thing.

# Maximum number of words between the parts of a claim; beyond it, they are rarely related.
REACH = 5
_TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+(?:[.,]\d+)*|[^\w\s]")
# Objects as tokens, which differ from every word and punctuation mark of a sentence.
FIRST, SECOND = "<1>", "<2>"
OBJECTS = (FIRST, SECOND)


def favoured_object(text: str, object1: str, object2: str) -> int | None:
    """Return the object that a sentence favours, or None if in doubt.

    Parameters
    ----------
    text : str
        One sentence.
    object1, object2 : str
        Names in the order of the comparison; `split_sentence` finds them in the text.

    Returns
    -------
    int or None
        1 or 2; None if the sentence favours neither, or the rule cannot tell.

    Examples
    --------
    >>> favoured_object("Tea is far cheaper than coffee.", "coffee", "tea")
    2
    >>> favoured_object("Tea is slower to make than coffee.", "tea", "coffee")
    2
    >>> favoured_object("Is tea better than coffee?", "tea", "coffee") is None
    True
    """
    tokens = _tokens(text, object1, object2)
    words = set(tokens)
    if not {*OBJECTS} <= words or "?" in words or tokens[0] in ASKING:
        return None
    if UNSURE & words:
        return None
    claims = set(_claims(tokens))
    return claims.pop() if len(claims) == 1 else None


def _tokens(text: str, object1: str, object2: str) -> list[str]:
    """Return lower-case words and punctuation marks; each object is a single token."""
    tokens: list[str] = []
    for part in split_sentence(text, object1, object2):
        if part.mark is not None:
            tokens.append(OBJECTS[part.mark - 1])
            continue
        tokens += _TOKEN.findall(part.text.lower().replace("’", "'"))
    return tokens


def _claims(tokens: Sequence[str]) -> Iterator[int | None]:
    """Yield each claim's favoured object; None for a negated claim, which rules out the rest."""
    for place, word in enumerate(tokens):
        if word in ("than", "to") or _is_misspelt_than(tokens, place):
            yield from _by_degree(tokens, place)
        elif word in CHOOSE:
            yield from _by_choice(tokens, place)
        elif word == "as":
            yield from _by_likeness(tokens, place)
        if word in WIN or word in BEATEN:
            yield from _by_contest(tokens, place)


def _is_misspelt_than(tokens: Sequence[str], place: int) -> bool:
    """Whether "then" directly after a comparative can only mean "than"."""
    return tokens[place] == "then" and tokens[place - 1] in GAIN | LOSS


def _by_degree(tokens: Sequence[str], than: int) -> Iterator[int | None]:
    """Yield favoured objects for ``X is faster than Y`` and ``X is superior to Y``."""
    comparing_word = _comparing_word(tokens, than)
    if comparing_word is None:
        return
    start, gain = comparing_word
    other = _object_after(tokens, than)
    subject = _object_between(tokens, start, than) or _subject_before(tokens, start)
    if other is None or subject is None or subject == other:
        return
    if _is_negated(tokens, start):
        yield None
    elif gain:
        yield _favoured(subject if gain > 0 else other)


def _comparing_word(tokens: Sequence[str], than: int) -> tuple[int, int] | None:
    """Return the start of the comparative before "than", and its value: 1, −1 or 0 (ambiguous)."""
    if tokens[than - 1] in ("rather", "other"):
        return None
    for place in range(than - 1, max(-1, than - 2 - REACH), -1):
        word = tokens[place]
        if word in STOPS or word == "than":
            return None
        if tokens[than] == "to" and word not in TAKES_TO:
            continue
        if word in PACE and DECLINE & set(tokens[max(0, place - REACH) : place]):
            return place, 0
        if word in GAIN or word in LOSS:
            return place, 1 if word in GAIN else -1
        if word in ("more", "less"):
            sign = 1 if word == "more" else -1
            return place, sign * _value(tokens[place + 1 : place + 3])
    return None


def _value(words: Sequence[str]) -> int:
    """Return 1 for positive adjectives (alone or after adverbs), −1 for negative ones, or 0."""
    for word in words:
        if word in GOOD or word in BAD:
            return 1 if word in GOOD else -1
    return 0


def _object_after(tokens: Sequence[str], place: int) -> str | None:
    """Return the first object in the same clause, at most `REACH` words later."""
    for word in tokens[place + 1 : place + 2 + REACH]:
        if word in OBJECTS:
            return word
        if word in STOPS:
            return None
    return None


def _object_between(tokens: Sequence[str], start: int, end: int) -> str | None:
    """Return the object after the comparative, as in "works better with X than with Y"."""
    return next((word for word in tokens[start + 1 : end] if word in OBJECTS), None)


def _subject_before(tokens: Sequence[str], place: int) -> str | None:
    """Return the nearest preceding object in the clause, unless it is part of an adverbial.

    A comma ends the clause, except directly before the comparative: "X is quick, much faster".
    """
    at = place - 1
    while at >= 0 and tokens[at] in BETWEEN:
        at -= 1
    if at >= 0 and tokens[at] == ",":
        at -= 1
    while at >= 0 and tokens[at] not in STOPS and tokens[at] != "than":
        if tokens[at] in OBJECTS:
            before = [word for word in tokens[max(0, at - 2) : at] if word not in ("the", "a")]
            return None if before and before[-1] in CIRCUMSTANCE else tokens[at]
        at -= 1
    return None


def _by_choice(tokens: Sequence[str], verb: int) -> Iterator[int | None]:
    """Yield favoured objects for ``prefer X to Y``."""
    chosen = _object_after(tokens, verb)
    if chosen is None:
        return
    at = tokens.index(chosen, verb)
    for link in range(at + 1, min(len(tokens), at + 1 + REACH)):
        if tokens[link] in STOPS:
            return
        if tokens[link] in ("to", "over", "than"):
            left = _object_after(tokens, link)
            if left is not None and left != chosen:
                yield None if _is_negated(tokens, verb) else _favoured(chosen)
            return


def _by_contest(tokens: Sequence[str], verb: int) -> Iterator[int | None]:
    """Yield favoured objects for ``X beats Y`` and ``X is beaten by Y``."""
    is_passive = tokens[verb + 1 : verb + 2] == ["by"] and tokens[verb] in BEATEN
    if not is_passive and tokens[verb] not in WIN:
        return
    subject, other = _subject_before(tokens, verb), _object_after(tokens, verb)
    if subject is None or other is None or subject == other:
        return
    if _is_negated(tokens, verb):
        yield None
    else:
        yield _favoured(other if is_passive else subject)


def _by_likeness(tokens: Sequence[str], place: int) -> Iterator[int | None]:
    """Yield the favoured object of ``X is not as good as Y``, or nothing if "not" is missing."""
    ends = [at for at in range(place + 2, min(len(tokens), place + 4)) if tokens[at] == "as"]
    if not ends or not _is_negated(tokens, place):
        return
    value = _value(tokens[place + 1 : ends[0]])
    subject, other = _subject_before(tokens, place), _object_after(tokens, ends[0])
    if value and subject is not None and other is not None and subject != other:
        yield _favoured(other if value > 0 else subject)


def _is_negated(tokens: Sequence[str], place: int) -> bool:
    """Whether a negation precedes the position in the same clause."""
    for at in range(place - 1, -1, -1):
        if tokens[at] in STOPS:
            return False
        if tokens[at] in NEGATION or tokens[at].endswith("n't"):
            return True
    return False


def _favoured(token: str) -> int:
    return OBJECTS.index(token) + 1
