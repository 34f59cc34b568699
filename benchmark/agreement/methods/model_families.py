"""Which family of language models a name belongs to: what "its own kind" means for a judge.

A family is known by a word of the model's or system's name. Names are made up by whoever
imports or configures a model, so a laboratory can say of any name which family it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# Words of names → family, the first that fits; "o1" and "o3" are whole words only.
WORDS: tuple[tuple[str, str], ...] = (
    (r"gpt|chatgpt|davinci|openai|\bo[134]\b", "gpt"),
    (r"vicuna", "vicuna"),
    (r"mixtral|mistral|ministral|codestral|magistral", "mistral"),
    (r"llama|meta-llama|alpaca", "llama"),
    (r"qwen|qwq", "qwen"),
    (r"gemini|gemma|palm|bard", "gemini"),
    (r"claude|anthropic", "claude"),
    (r"deepseek", "deepseek"),
    (r"command-r|\bcohere|\baya\b", "cohere"),
    (r"\bphi-?\d|\bphi\b", "phi"),
    (r"perplexity|\bpplx|\bsonar\b", "perplexity"),
    (r"falcon", "falcon"),
    (r"smollm", "smollm"),
)


def family_of(*names: str, known: Mapping[str, str] | None = None) -> str | None:
    """Family of a judge or system, from the first of its names that has one.

    Parameters
    ----------
    names
        For example the model as the endpoint names it, then the name of the system.
    known
        Name → family, looked up before any word; an empty family says that there is none.
        Letters count alike, capital or small.

    Returns
    -------
    str or None
        None where no name says anything, as for texts by people or from the web. "vicuna",
        although tuned from a llama, stands alone: its answers come from another model's chats.

    Examples
    --------
    >>> family_of("meta-llama/Llama-3-70B"), family_of("gpt4_sc3"), family_of("yahoo")
    ('llama', 'gpt', None)
    >>> family_of("judge 7", known={"Judge 7": "qwen"})
    'qwen'
    """
    told = {name.casefold(): family for name, family in (known or {}).items()}
    for name in names:
        plain = name.casefold()
        if plain in told:
            return told[plain] or None
        for words, family in WORDS:
            if re.search(words, plain):
                return family
    return None
