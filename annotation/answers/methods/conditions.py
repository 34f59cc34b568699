"""The conditions of an answer: scenario, prompt, argument filters, wording and decoding.

Two answers of one system under different conditions are answers to different tasks: figures that
mix them describe neither. The seed is not part of a condition: it only affects the draw.
"""

from collections.abc import Mapping
from typing import Any

from cqa_site.judging.chat import digest

Part = dict[str, Any]

# What a run asks for unless somebody chose otherwise; also the default of the forms.
MOST_ARGUMENTS = 30
FILTERS: Mapping[str, Any] = {
    "relevance": "any",
    "favoured": "any",
    "most_arguments": MOST_ARGUMENTS,
}
# Whose final labels ``relevance`` means: the id of a round, or of each sentence the newest
# there is. Part of the filters only where it is one round's.
LABELS, NEWEST = "labels", "newest"
TOKEN_LIMITS = {"max_completion_tokens": "max_tokens"}
WORDING: Mapping[str, Any] = {"uses_aspect": True, "uses_wording": True}


def filters_of(target: Mapping[str, Any], *, shows_arguments: bool) -> Part:
    """Return the argument filters of a run's target; empty if the prompt shows no arguments."""
    if not shows_arguments:
        return {}
    whose = target.get(LABELS, NEWEST)
    source = {} if whose == NEWEST else {LABELS: whose}
    return {name: target[name] for name in FILTERS} | source


def wording_of(target: Mapping[str, Any]) -> Part:
    """Return the parts of a question that a run's target shows besides the two objects."""
    return {name: target[name] for name in WORDING}


def decoding_of(params: Mapping[str, Any]) -> Part:
    """Return the sampling parameters sent to the model, without the seed.

    The token limit is one setting, regardless of its name on a server.
    """
    values = {name: value for name, value in params.items() if name != "seed"}
    return {TOKEN_LIMITS.get(name, name): value for name, value in values.items()}


def identity(
    *,
    scenario: int,
    prompt: str,
    filters: Mapping[str, Any],
    wording: Mapping[str, Any],
    decoding: Mapping[str, Any],
) -> str:
    """Return the SHA-256 of a condition's canonical JSON; equal for equivalent conditions.

    ``prompt`` is the hash of its text, empty where it is not known.
    """
    return digest(
        {
            "scenario": scenario,
            "prompt": prompt,
            "filters": dict(filters),
            "wording": dict(wording),
            "decoding": dict(decoding),
        }
    )


def deviations(filters: Mapping[str, Any], wording: Mapping[str, Any]) -> Part:
    """Return the filters and wording that differ from the default; unknown values do not differ.

    Examples
    --------
    >>> deviations({"relevance": "0-1", "favoured": "any"}, {"uses_aspect": True})
    {'relevance': '0-1'}
    >>> deviations({}, {})
    {}
    """
    usual = {**FILTERS, **WORDING}
    choices = {**filters, **wording}
    # In an order of our own: PostgreSQL gives the names of a stored object in another.
    names = [*usual, *sorted(choices.keys() - usual.keys())]
    known = [name for name in names if name in choices]
    return {name: choices[name] for name in known if choices[name] != usual.get(name)}
