"""What the paper took for one sentence, and that Debate and ArgKP remain as it kept them."""

import os
from collections import Counter
from pathlib import Path

import pytest

from argsum.datasets.methods.argument_cells import as_text, named_table
from argsum.datasets.methods.preprocessing import is_one_published_sentence

ROOT = Path(__file__).resolve().parents[3]
DATA = Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", ROOT.parent / "shared" / "data"))
DEBATE = DATA / "argsum" / "debate"

ONE = (
    "Buses are cheap.",
    "Buses cost less... Nobody pays more.",
    "It is parking vs. walking, and nothing else.",
    "The U.S. has few of them.",
    'He said "stop now."',
)
SEVERAL = (
    "Who pays??",
    "Buses are cheap!!! ",
    ". Buses are cheap.",
    "It is the driver's. Nobody else has one.",
    "They pay (fares, taxes, etc.).",
    "They pay.(Nobody else does.)",
    "We waited ... Nobody came.",
    "The bus is run by the U.S. It is late.",
    "",
    "?!",
)


def test_one_sentence_and_several_or_none():
    assert [text for text in ONE if not is_one_published_sentence(text)] == []
    assert [text for text in SEVERAL if is_one_published_sentence(text)] == []


@pytest.mark.reference
@pytest.mark.skipif(not DEBATE.exists(), reason="released data absent: argsum")
def test_the_kept_arguments_of_debate_one_by_one():
    def texts(name):
        table = named_table(DEBATE / name, name=name, needed=("topic", "argument", "key_point"))
        return [as_text(row.values, "argument") for row in table.rows]

    once = {text for text, n in Counter(texts("dataset_scores.csv")).items() if n == 1}
    assert len(once) == 3139
    kept = {text for text in once if is_one_published_sentence(text)}
    assert kept == set(texts("dataset_scores_processed.csv"))
    assert kept >= set(texts("dataset_scores_processed_test.csv"))
