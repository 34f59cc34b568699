"""What the argument summarization paper took for one sentence, artefacts included.

For datasets that shall be prepared as published, and for its counts: with these rules the same
arguments remain as in its processed files, 2,321 of 3,139 of Debate and 4,252 of 4,836 of
ArgKP-2021, one by one. They read a second ``!`` or ``?`` at an end, a mark right before a
bracket or a quote, and a full stop in front of a text as ends of sentences, and dots before a
capital letter as none. `sentences`, the usual rule, keeps "What about school?!" and tells "He
left... Nobody knew." apart.
"""

import re

_LETTER = r"[^\W\d_]"
_MORE_THAN_DOTS = re.compile(r"[^\s.!?…]")
# A mark with something right behind it that is no word: its sentence ends, a new one begins.
_INNER = re.compile(r"""(?<!\.)[.!?](?=[)";}\]*:@'({\[!?])(?!["')\]}]+(?:\s|$))""")
_END = re.compile(
    rf"""
    (?: (?<![\w.'’])(?P<initial>{_LETTER})\.
      | (?<![\w.])(?P<initials>(?:[A-Z]\.){{2,}}+)
      | (?<!\w)(?P<versus>vs)\.
      | (?<![.!?…])(?P<dots>\.{{2,}}+|…)(?![.!?…])
      | (?<![.!?…])(?P<mark>[.!?…]++)
    )
    ["'’”»)\]]* \s+ (?P<next>\S)
    """,
    re.VERBOSE,
)


def is_one_published_sentence(text: str) -> bool:
    """Whether the paper kept an argument as a single sentence.

    Examples
    --------
    >>> is_one_published_sentence("Crime fell... And it stayed low.")
    True
    >>> is_one_published_sentence("What about us??")
    False
    """
    whole = text.strip()
    if whole.startswith(". ") or _INNER.search(whole):
        return False
    at = 0
    while found := _END.search(whole, at):
        at = found.start("next")
        if _ends_sentence(found, whole) and _MORE_THAN_DOTS.search(whole[at:]):
            return False
    return _MORE_THAN_DOTS.search(whole) is not None


def _ends_sentence(found: re.Match[str], text: str) -> bool:
    before_capital = found["next"].isupper()
    if found["initials"]:
        return before_capital
    if found["dots"]:
        # Dots that stand alone end a sentence; dots at a word do not.
        return before_capital and text[: found.start("dots")][-1:].isspace()
    return not (found["initial"] or found["versus"])
