"""Sentences of an answer, counted as a person would for "12 to 20 sentences".

Within a line or bullet a sentence ends at its full stop, and at the end in any case. Headings,
bare names of aspects, one-word choices, citations and the closing list of arguments are none.

Source: CompQA paper, section 2 (12 to 20 sentences). The paper does not define a sentence; on the
367 answers that people scored, this count gives their points for the length on 279.
"""

import re

from annotation.answers.methods.citations import find_citations
from annotation.answers.methods.layout import ARGUMENTS, Block, find_blocks
from annotation.answers.methods.segments import LEAST_WORDS
from annotation.answers.methods.words import Place, blanked, word_places
from benchmark.rubrics.methods.compqa_rubric import FEWEST_SENTENCES, MOST_SENTENCES

_END = re.compile(r"[.!?…]+[\"'”’)*_]*(?=\s)")
_TITLE = re.compile(r"#{1,6}[ \t].*|\*\*[^*]*[^*.!?]\*\*[ \t]*:?")
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|approx|no|nos|dr|mr|mrs|ms|st|jr|cf|inc|ltd|co)|\b[a-z])\.\Z",
    re.IGNORECASE,
)


def sentence_places(text: str) -> list[Place]:
    """Where the sentences stand, in reading order.

    Examples
    --------
    >>> text = "Kayaks are fast. Canoes, e.g. ours, are not [2].\\n\\n- Load: a canoe holds more"
    >>> [text[start:end] for start, end in sentence_places(text)]
    ['Kayaks are fast.', 'Canoes, e.g. ours, are not [2].', 'Load: a canoe holds more']
    """
    said = blanked(text, [(each.start, each.end) for each in find_citations(text)])
    found: list[Place] = []
    for block in find_blocks(text):
        if block.section == ARGUMENTS or _is_title(text, said, block):
            continue
        start = block.start
        for end in [*_ends(said, block.start, block.end), block.end]:
            if len(word_places(said, start, end)) >= LEAST_WORDS:
                found.append(_trimmed(text, start, end))
            start = end
    return found


def length_points(sentences: int) -> int:
    """Points for the length of an answer: 1 for 12 to 20 sentences, else 0."""
    return int(FEWEST_SENTENCES <= sentences <= MOST_SENTENCES)


def _is_title(text: str, said: str, block: Block) -> bool:
    """Whether a line is a heading, or names an aspect and says nothing about it."""
    if block.name and not word_places(said, block.text_start, block.end):
        return True
    return _TITLE.fullmatch(text[block.start : block.end].strip()) is not None


def _ends(said: str, start: int, end: int) -> list[int]:
    return [
        match.end()
        for match in _END.finditer(said, start, end)
        if not said[match.end() : end].lstrip()[:1].islower()
        and not (
            match[0] == "."
            and _ABBREVIATED.search(said, max(start, match.end() - 10), match.end())
        )
    ]


def _trimmed(text: str, start: int, end: int) -> Place:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), start + len(part.rstrip())
