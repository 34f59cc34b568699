"""Answers for tests: a small good one, and strategies for hostile ones."""

from hypothesis import strategies as st

ARGUMENTS = {
    1: "Oak floors last much longer than elm floors ever will.",
    2: "Elm bends far better than oak does. It is cheaper, too.",
    3: "Oak is heavier.",
    4: "I have a table.",
}
LABELS = {1: 3, 2: 3, 3: 2, 4: 0}
GOOD = """**Summary:**
Oak and elm are both used for floors. Oak is the stronger of the two.

**Main Aspects of Comparison:**
- Durability: Floors of oak hold up for decades longer [1].
- **Bending:** Elm takes a curve more easily and costs less [2, generated].
- Weight: Oak weighs more [3], which makes it harder to carry [generated].

**Best Option:** Oak

**Used Arguments:**
1. [1] Oak floors last much longer than elm floors ever will.
2. [4]
"""
ONE_LINE = (
    "**Summary:** Oak and elm are both used for floors.  **Main Aspects of Comparison:** - "
    "Durability: Floors of oak hold up longer [1]. - Bending: Elm takes a curve more easily [2] "
    "- Weight: Oak weighs more. [generated]  **Best Option:** Oak"
)

_PIECES = (
    *("[", "]", "[3]", "[1, 2]", "[2-5]", "[generated]", "[Paris]", "[]", "[Argument 2]", "[9-2]"),
    *("\n", " ", "  ", ". ", ": ", "- ", "* ", "1. ", "• ", "**", "## ", '"', "(", ")", ",", "…"),
    *("Summary:", "Main aspects", "Best option:", "Used Arguments:", "Comparison of oak and elm:"),
    *("Oak", "elm", "is heavier than", "Elm bends better.", "e.g.", "é", "ß", "3.5", "\u2028"),
)
answers = st.one_of(st.lists(st.sampled_from(_PIECES), max_size=40).map("".join), st.text())
