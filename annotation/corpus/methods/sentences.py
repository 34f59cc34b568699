"""Find comparative words in a sentence, and the objects that it names."""

import re
from dataclasses import dataclass

# English words that matter in comparative sentences, as counted by the relevance features
#
# The lists are short and closed on purpose. They were derived from grammar, not from labels.


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# "Better" does not name the aspect; "lighter" does.
GENERAL = _words("better worse superior inferior preferable")
SPECIFIC = _words(
    "bigger brighter broader bulkier busier calmer cheaper cleaner clearer closer colder cooler "
    "costlier crisper cuter darker deadlier deeper denser drier dumber easier earlier fairer "
    "fancier faster fatter fewer finer firmer flatter fresher friendlier funnier gentler "
    "greater greener happier harder healthier heavier higher hotter juicier kinder larger later "
    "leaner lighter livelier longer looser louder lower messier milder narrower neater newer "
    "nicer older poorer prettier purer quicker quieter rarer richer riskier rougher safer "
    "scarier sharper shorter sillier simpler sleeker slimmer slower smaller smarter smoother "
    "softer spicier steeper stiffer stronger sturdier sweeter tastier thicker thinner tighter "
    "tinier tougher uglier warmer weaker wealthier wider wiser younger"
)

WORD_LISTS: dict[str, frozenset[str]] = {
    "superlative": _words(
        "best worst most least greatest biggest largest fastest cheapest easiest hardest "
        "strongest safest lightest smallest highest lowest newest finest"
    ),
    "preference": _words(
        "prefer prefers preferred preference like likes love loves rather favor favour choose "
        "enjoy enjoyed"
    ),
    "contrast": _words("while whereas but however although though unlike despite yet"),
    "reason": _words("because since due therefore so thus reason reasons hence why"),
    "aspect": _words("for in at when on regarding concerning by with"),
    "hedge": _words(
        "think thinks thought believe believes feel feels felt guess seem seems seemed opinion "
        "maybe perhaps probably might may could arguably possibly apparently"
    ),
    "hearsay": _words(
        "say says said claim claims claimed heard told argue argues argued according reports "
        "people someone everyone"
    ),
    "condition": _words("if whether would imagine wish hope suppose unless should wonder"),
    "speaker": _words("i my me mine we our us i'm i've i'd i'll myself"),
    "reader": _words("you your yours you're you'll"),
    "person": _words("he she his her him"),
    "owner": _words("my his her their our your"),
    "pronoun": _words("it it's its they they're their them this that these those one"),
    "negation": _words(
        "not no never nobody none nothing neither nor cannot without isn't aren't wasn't weren't "
        "don't doesn't didn't can't won't couldn't wouldn't shouldn't haven't hasn't hadn't"
    ),
    "past": _words("was were had did went became used got looked made came took gave"),
    "being": _words("is are be been being was were has have had"),
    "degree": _words(
        "much far way significantly slightly lot considerably even still substantially vastly "
        "infinitely little bit somewhat marginally generally usually often always typically"
    ),
    "others": _words("other others another any anything both either all every most many else"),
    "question": _words("what which who how where when"),
    "versus": _words(
        "compared comparison versus vs compare comparing against beat beats outperforms "
        "outperformed outperform equal equally similar same different difference advantage "
        "advantages"
    ),
    "function": _words(
        "a an the and or but if of to in on at for with than as by from is are was were be been "
        "being am it its this that these those i you he she we they my your his her our their "
        "me him them us do does did have has had will would can could should may might must not "
        "no so too very much more less most least many few some any all both each every other "
        "another such then there here when where while because since about over under between "
        "into through up down out off just only even still also well far way lot quite rather "
        "really always often never ever"
    ),
}


def is_comparing(word: str) -> bool:
    """Return whether a lower-case word is comparative: "better", "lighter", "more"."""
    return word in GENERAL or word in SPECIFIC or word in ("more", "less")


# Mentions of the two compared objects in a sentence
#
# Matching ignores case, requires whole words and accepts a simple plural or possessive. The longer
# name has priority, so "Model B2" is not shown as "Model B". The text never changes: joining the
# parts gives exactly the original sentence.

POSSESSIVE = r"(?:['’]s)?"
HISSING = ("s", "x", "z", "ch", "sh", "o")


@dataclass(frozen=True)
class SentencePart:
    """A part of a sentence; ``mark`` is 1 or 2 if it names that object, otherwise None."""

    text: str
    mark: int | None


def split_sentence(text: str, object1: str, object2: str) -> list[SentencePart]:
    """Split a sentence at the names of its two objects.

    Parameters
    ----------
    text : str
        The sentence; may be empty.
    object1, object2 : str
        Names in the order of the comparison; a blank name is ignored. If two
        names differ only in case, all occurrences belong to the first name.

    Returns
    -------
    list of SentencePart
        In order, without empty parts; an empty list for an empty sentence.

    Examples
    --------
    >>> [(part.text, part.mark) for part in split_sentence("Cats beat a dog.", "cat", "dog")]
    [('Cats', 1), (' beat a ', None), ('dog', 2), ('.', None)]
    """
    parts = []
    end = 0
    for start, stop, mark in _occurrences(text, object1, object2):
        if start > end:
            parts.append(SentencePart(text[end:start], None))
        parts.append(SentencePart(text[start:stop], mark))
        end = stop
    if end < len(text):
        parts.append(SentencePart(text[end:], None))
    return parts


def _occurrences(text: str, object1: str, object2: str) -> list[tuple[int, int, int]]:
    """Return start, stop and mark of every name; longer names take precedence."""
    named = [(name.split(), mark) for name, mark in ((object1, 1), (object2, 2)) if name.strip()]
    named.sort(key=lambda entry: -len(" ".join(entry[0])))
    is_taken = bytearray(len(text))
    places = []
    for words, mark in named:
        for match in _pattern(words).finditer(text):
            start, stop = match.span()
            if any(is_taken[start:stop]):
                continue
            is_taken[start:stop] = b"\x01" * (stop - start)
            places.append((start, stop, mark))
    return sorted(places)


def _pattern(words: list[str]) -> re.Pattern[str]:
    name = r"\s+".join(re.escape(word) for word in words)
    last = words[-1]
    plural = ""
    if len(last) > 1 and last[-1].isalpha():
        plural = "(?:s|es)?" if last.lower().endswith(HISSING) else "s?"
    # A single letter must match in case: "A" is an object, "a" is an article.
    flags = re.NOFLAG if len(words) == 1 and len(last) == 1 else re.IGNORECASE
    # "C++" and "C#" do not name "C".
    return re.compile(rf"(?<!\w){name}{plural}{POSSESSIVE}(?![\w+#])", flags)
