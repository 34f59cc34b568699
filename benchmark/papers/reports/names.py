"""What judges, systems and cells of the CompQA paper are called."""

PEOPLE = "people"
NAMES = {
    "gpt3-5": "GPT-3.5",
    "gpt4": "GPT-4o",
    "llama3-70b": "Llama-3-70B",
    "llama3-8b": "Llama-3-8B",
    "mixtral": "Mixtral",
    "perplexity": "Perplexity",
    "human": "Human",
    "yahoo": "Yahoo",
    "cam": "CAM",
}
# What is compared in table 2.
SEPARATELY, FINALLY = "separately", "final score"
ALPHA, SPEARMAN, PEARSON = "alpha", "Spearman", "Pearson"
WITH_ASPECT, WITHOUT = "with an aspect", "without"


def cell_name(rater: str, system: str, scenario: int = 0) -> str:
    """How a cell of a leaderboard is called, scenario 0 being none."""
    under = f", scenario {scenario}" if scenario else ""
    return f"{NAMES.get(system, system)}{under}, by {NAMES.get(rater, rater)}"


def agreement_name(judge: str, scores: str, statistic: str) -> str:
    """How a figure of table 2 is called."""
    return f"{NAMES.get(judge, judge)}, {scores}: {statistic}"


def aspect_name(rater: str, has_aspect: bool) -> str:
    """How a cell of table 4 is called."""
    return f"{WITH_ASPECT if has_aspect else WITHOUT}, by {NAMES.get(rater, rater)}"


def scenario_name(rater: str, scenario: int, column: str) -> str:
    """How a bar of figures 6 and 7 is called."""
    return f"scenario {scenario}, {column}, by {NAMES.get(rater, rater)}"
