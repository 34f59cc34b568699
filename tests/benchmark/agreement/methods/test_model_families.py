"""Which family a name belongs to."""

import pytest

from benchmark.agreement.methods.model_families import family_of


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("gpt-4o-2024-08-06", "gpt"),
        ("gpt3-5", "gpt"),
        ("o3-mini", "gpt"),
        ("meta-llama/Meta-Llama-3-70B-Instruct", "llama"),
        ("mixtral", "mistral"),
        ("mistral-small", "mistral"),
        ("lmsys/vicuna-13b", "vicuna"),
        ("Qwen2.5-7B", "qwen"),
        ("gemini-1.5-pro", "gemini"),
        ("Claude 3 Opus", "claude"),
        ("perplexity", "perplexity"),
        ("yahoo", None),
        ("cam", None),
        ("human", None),
        ("Photo 3", None),
        ("", None),
    ],
)
def test_names(name, family):
    assert family_of(name) == family


def test_the_first_name_that_says_anything_counts_and_a_laboratory_may_say_otherwise():
    assert family_of("", "our-endpoint", "llama3-8b") == "llama"
    known = {"Our Judge": "qwen", "gpt-like": ""}
    assert family_of("our judge", known=known) == "qwen"
    assert family_of("gpt-like", known=known) is None
