"""The checklist for a comparative answer, and the option that the answer recommends."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from .answer_text import (
    ARGUMENTS,
    BODY,
    CHOICE,
    SUMMARY,
    AnswerBlock,
    AnswerSection,
    Citation,
    Place,
    blanked,
    find_blocks,
    find_citations,
    find_sections,
    malformed_places,
    said,
    trimmed,
    word_places,
    words_of,
)
from .segments import copied_places, repeated_places

# The option that an answer recommends, and whether it names one of the objects
#
# Source: relevance paper, appendix B: the best option in one word. Edited answers also decline in
# one word ("Subjective", "Both"), which counts as a choice too.

# Beginnings of words with which answers decline to choose.
DECLINING = (
    "subjectiv", "depend", "prefer", "personal", "individual", "context", "situation", "var",
    "both", "neither", "either", "equal", "tie", "draw", "balanced", "undecided", "inconclusive",
)  # fmt: skip
_ARTICLES = ("the", "a", "an")


@dataclass(frozen=True, slots=True)
class BestOption:
    """The first line under the heading of the best option.

    ``meant`` is 1 or 2 for an object, 0 if the answer declines to choose, and None if it does not
    name an object. ``is_one_word`` is also true for the full name of a multi-word object.
    """

    place: Place
    text: str
    words: int
    meant: int | None
    is_one_word: bool


def find_choice(text: str, object1: str, object2: str) -> BestOption | None:
    """Return the recommended option, or None if the heading or a word under it is missing.

    Examples
    --------
    >>> found = find_choice("Best Option: **Google**", "Google search", "Yahoo search")
    >>> found.text, found.meant, found.is_one_word
    ('Google', 1, True)
    """
    place = _place(text)
    if place is None:
        return None
    cited = [(citation.start, citation.end) for citation in find_citations(text)]
    phrase = blanked(text, cited)[slice(*place)].strip(" \t*_#.,:;\"'“”()")
    words = [word for word in words_of(phrase) if word not in _ARTICLES]
    if not words:
        return None
    names = [
        [word for word in words_of(name) if word not in _ARTICLES] for name in (object1, object2)
    ]
    meant = _meant(words, names[0], names[1])
    is_name = meant in (1, 2) and _plain(words) == _plain(names[meant - 1])
    return BestOption(place, phrase, len(words), meant, len(words) == 1 or is_name)


def _place(text: str) -> Place | None:
    """Return the span of the first line under the heading that has a letter or digit, or None."""
    for section in find_sections(text):
        if section.kind != CHOICE:
            continue
        start = section.text_start
        for line in text[start : section.end].splitlines(keepends=True):
            if any(letter.isalnum() for letter in line):
                begin = start + len(line) - len(line.lstrip(" \t*_"))
                return begin, start + len(line.rstrip())
            start += len(line)
    return None


def _meant(words: list[str], first: list[str], second: list[str]) -> int | None:
    is_first, is_second = _names(words, first, second), _names(words, second, first)
    if is_first != is_second:
        return 1 if is_first else 2
    if is_first or any(word.startswith(DECLINING) for word in words):
        return 0
    return None


def _names(words: list[str], name: list[str], other: list[str]) -> bool:
    """Return whether the words contain a word that is in one name but not in the other."""
    own = {_singular(word) for word in name} - {_singular(word) for word in other}
    return bool(own & {_singular(word) for word in words}) or _plain(words) == _plain(name)


def _plain(words: list[str]) -> str:
    """Return only the letters and digits, so that "Cellphone" equals "cell phone"."""
    return _singular("".join(letter for word in words for letter in word if letter.isalnum()))


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


# The checklist for a comparative answer, with the count and the passages for each check
#
# Source: relevance paper, section 4.1, figure 3 and appendix B: a summary of 100 words, aspects
# described in 200, the best option in one word, 300 words in all, 15 arguments, cited by number or
# tagged as generated, nothing copied. The paper gives no tolerances; those below are ours. Few
# of the 336 released machine answers keep to the lengths (medians 47, 140 and 197 words), but most
# of the answers that GPT-4o wrote for the second paper do (80, 208 and 297).

SUMMARY_WORDS, BODY_WORDS, ALL_WORDS = 100, 200, 300
# "About" allows a deviation of a quarter in both directions.
LENGTH_SLACK = 0.25
ARGUMENTS_WANTED = 15
# Merging two arguments or splitting one should not change the result of the check.
ARGUMENTS_SLACK = 2
# A single aspect is not a comparison by aspects.
LEAST_ASPECTS = 2


@dataclass(frozen=True, slots=True)
class Check:
    """Result of one check from the checklist.

    Attributes
    ----------
    name : str
        A key of `CHECKS`.
    is_passed : bool or None
        None if it cannot be judged, for lack of headings, bullets or arguments.
    counted, wanted : str
        The result and the requirement, in plain English.
    places : tuple of (start, end)
        The passages that were measured, or that should be changed.
    """

    name: str
    is_passed: bool | None
    counted: str
    wanted: str
    places: tuple[Place, ...] = ()


def check_answer(
    text: str, arguments: Mapping[int, str], object1: str, object2: str
) -> list[Check]:
    """Run every check in `CHECKS`, in order.

    Parameters
    ----------
    text : str
        The answer; any text.
    arguments : mapping of int to str
        Number → sentence, as the writer saw them; empty if the writer saw no arguments.
    object1, object2 : str
        The objects that are compared.
    """
    answer = _Answer(text, arguments, object1, object2)
    return [check(answer) for check in _CHECKS.values()]


class _Answer:
    """An answer with values that several checks need; each value is computed once."""

    def __init__(
        self, text: str, arguments: Mapping[int, str], object1: str, object2: str
    ) -> None:
        self.text = text
        self.arguments = arguments
        self.objects = (object1, object2)
        self.sections = find_sections(text)
        self.citations = find_citations(text)

    @cached_property
    def said(self) -> str:
        """Text in which `answer_text.count_words` counts words."""
        return said(self.text, self.sections, self.citations)

    @cached_property
    def aspects(self) -> list[AnswerBlock]:
        """Bullets and lines of the body, or all bullets if the text has no headings."""
        blocks = find_blocks(self.text)
        if not self.sections:
            return [block for block in blocks if block.is_bullet]
        return [block for block in blocks if block.section == BODY]

    @cached_property
    def in_text(self) -> list[Citation]:
        """Citations outside the closing list of arguments."""
        lists = self.of(ARGUMENTS)
        return [
            citation
            for citation in self.citations
            if not any(part.start <= citation.start < part.end for part in lists)
        ]

    def of(self, kind: str) -> list[AnswerSection]:
        return [section for section in self.sections if section.kind == kind]

    def count_words(self, place: Place) -> int:
        return len(word_places(self.said, *place))

    def trimmed(self, start: int, end: int) -> Place:
        return trimmed(self.text, start, end)


def _summary_length(answer: _Answer) -> Check:
    return _section_length(answer, "summary_length", SUMMARY, SUMMARY_WORDS)


def _section_length(answer: _Answer, name: str, kind: str, words: int) -> Check:
    wanted = f"about {words} words"
    places = [answer.trimmed(section.text_start, section.end) for section in answer.of(kind)]
    if not answer.sections:
        return Check(name, None, "no headings", wanted)
    if not places:
        return Check(name, False, f"no {kind}", wanted)
    counted = sum(answer.count_words(place) for place in places)
    return Check(name, _is_about(counted, words), _words(counted), wanted, tuple(places))


def _length(answer: _Answer) -> Check:
    counted = answer.count_words((0, len(answer.text)))
    places = [answer.trimmed(0, len(answer.text))] if counted else []
    wanted = f"about {ALL_WORDS} words"
    return Check("length", _is_about(counted, ALL_WORDS), _words(counted), wanted, tuple(places))


def _is_about(counted: int, wanted: int) -> bool:
    return abs(counted - wanted) <= LENGTH_SLACK * wanted


def _words(counted: int) -> str:
    return "1 word" if counted == 1 else f"{counted} words"


def _aspects_named(answer: _Answer) -> Check:
    """Check that each bullet names its aspect or follows a bullet that is only a name."""
    wanted = f"at least {LEAST_ASPECTS} aspects, each with its name"
    if not answer.aspects:
        return Check("aspects_named", False if answer.sections else None, "no aspects", wanted)
    named, unnamed, is_under_name = 0, [], False
    for block in answer.aspects:
        named += bool(block.name)
        is_under_name = _is_name_only(answer, block) or (is_under_name and not block.name)
        if not block.name and not is_under_name:
            unnamed.append((block.start, block.end))
    counted = f"{named} named, {len(unnamed)} without a name"
    is_passed = named >= LEAST_ASPECTS and not unnamed
    return Check("aspects_named", is_passed, counted, wanted, tuple(unnamed))


def _is_name_only(answer: _Answer, block: AnswerBlock) -> bool:
    return bool(block.name) and not answer.count_words((block.text_start, block.end))


def _choice(answer: _Answer) -> Check:
    first, second = answer.objects
    wanted = f"one word: {first}, {second}, or a refusal to choose, such as Subjective"
    choice = find_choice(answer.text, first, second)
    if not answer.sections:
        return Check("choice", None, "no headings", wanted)
    if choice is None:
        places = [answer.trimmed(section.start, section.end) for section in answer.of(CHOICE)]
        return Check("choice", False, "no choice", wanted, tuple(places))
    meaning = "" if choice.meant is not None else ", names neither object"
    counted = f"{_words(choice.words)}{meaning}"
    is_passed = choice.is_one_word and choice.meant is not None
    return Check("choice", is_passed, counted, wanted, (choice.place,))


def _argument_count(answer: _Answer) -> Check:
    """Check the number of distinct cited arguments plus those that the writer generated."""
    cited = {number for citation in answer.in_text for number in citation.numbers}
    cited &= answer.arguments.keys()
    generated = sum(citation.generated for citation in answer.in_text)
    counted = f"{len(cited)} cited and {generated} generated"
    is_passed = abs(len(cited) + generated - ARGUMENTS_WANTED) <= ARGUMENTS_SLACK
    listed = len(answer.arguments)
    wanted = f"{ARGUMENTS_WANTED} arguments: {listed} are listed, others marked [generated]"
    return Check("argument_count", is_passed, counted, wanted)


def _citations_exist(answer: _Answer) -> Check:
    wrong = [
        citation
        for citation in answer.citations
        if set(citation.numbers) - answer.arguments.keys()
    ]
    malformed = malformed_places(answer.text)
    wanted = "every cited number exists, and no citation is malformed"
    places = sorted([*((citation.start, citation.end) for citation in wrong), *malformed])
    if not answer.citations and not malformed:
        return Check("citations_exist", None, "no citations", wanted)
    missing = sorted({n for citation in wrong for n in citation.numbers} - answer.arguments.keys())
    counted = [f"no argument {', '.join(map(str, missing))}"] if missing else []
    counted += [f"{len(malformed)} malformed"] if malformed else []
    finding = "; ".join(counted) or f"{len(answer.citations)} citations"
    return Check("citations_exist", not places, finding, wanted, tuple(places))


def _generated_marked(answer: _Answer) -> Check:
    wanted = "every aspect cites an argument or is marked [generated]"
    blocks = [aspect for aspect in answer.aspects if not _is_name_only(answer, aspect)]
    if not blocks:
        return Check("generated_marked", None, "no aspects", wanted)
    bare = [
        (block.start, block.end)
        for block in blocks
        if not any(block.start <= citation.start < block.end for citation in answer.citations)
    ]
    counted = f"{len(bare)} of {len(blocks)} aspects without a source"
    return Check("generated_marked", not bare, counted, wanted, tuple(bare))


def _not_copied(answer: _Answer) -> Check:
    wanted = "no argument copied in full"
    if not answer.arguments:
        return Check("not_copied", None, "no arguments", wanted)
    copies = copied_places(answer.text, answer.arguments)
    numbers = f" ({', '.join(map(str, sorted(copies)))})" if copies else ""
    places = sorted({place for spans in copies.values() for place in spans})
    return Check("not_copied", not copies, f"{len(copies)} copied{numbers}", wanted, tuple(places))


def _repetition(answer: _Answer) -> Check:
    pairs = repeated_places(answer.text)
    places = tuple(sorted({place for pair in pairs for place in pair}))
    counted = f"{len(places)} nearly the same" if pairs else "none"
    return Check("repetition", not pairs, counted, "no statement made twice", places)


_CHECKS: dict[str, Callable[[_Answer], Check]] = {
    "summary_length": _summary_length,
    "body_length": lambda answer: _section_length(answer, "body_length", BODY, BODY_WORDS),
    "aspects_named": _aspects_named,
    "choice": _choice,
    "length": _length,
    "argument_count": _argument_count,
    "citations_exist": _citations_exist,
    "generated_marked": _generated_marked,
    "not_copied": _not_copied,
    "repetition": _repetition,
}
# Code of each check → its position in the list.
CHECKS: dict[str, int] = {name: place for place, name in enumerate(_CHECKS)}
