"""The rubric of the CompQA benchmark: 15 criteria, 19 points.

Source: CompQA paper, section 2 and figure 3, for what is asked, for how many points, and in
which group. All words and examples are ours; the examples are about invented answers on canoes
and kayaks.
"""

from .rubric import Criterion, CriterionGroup, Level, Rubric

STRUCTURE, RELEVANCE, QUALITY = "structure", "relevance", "quality"
FEWEST_SENTENCES, MOST_SENTENCES = 12, 20


def _criterion(
    number: int,
    group: str,
    name: str,
    asks: str,
    *levels: tuple[str, str],
    counted_by: str | None = None,
) -> Criterion:
    """Return a criterion whose levels start at 0 points, each with its example."""
    graded = tuple(Level(points, *level) for points, level in enumerate(levels))
    return Criterion(f"C{number}", group, name, asks, len(levels) - 1, graded, counted_by)


_CRITERIA = (
    _criterion(
        1,
        STRUCTURE,
        "Opening",
        "Does a brief introduction come before the details?",
        (
            "The details start at once, or the introduction rambles.",
            "“Speed: kayaks win. Load: canoes win.” with nothing before it.",
        ),
        (
            "A few sentences at the start say what is compared.",
            "“Canoes and kayaks both suit calm lakes. They part ways on load and speed.”",
        ),
    ),
    _criterion(
        2,
        STRUCTURE,
        "Comparison by aspects",
        "Does the answer compare the objects by named aspects throughout?",
        (
            "Remarks in no particular order; no aspect connects them.",
            "“My uncle has a canoe. Kayaks can be red. Lakes are lovely.”",
        ),
        (
            "Both objects are compared by the same named aspects throughout.",
            "Speed, load and price are each discussed for canoe and kayak.",
        ),
    ),
    _criterion(
        3,
        STRUCTURE,
        "Aspects announced",
        "Does the introduction say which aspects matter most?",
        (
            "It names none of them, or there is no introduction.",
            "“Here is a comparison of canoes and kayaks.”",
        ),
        (
            "It names several of the aspects that decide the choice.",
            "“What decides is how much you carry, how fast you go and how dry you stay.”",
        ),
    ),
    _criterion(
        4,
        STRUCTURE,
        "Order of the main part",
        "Is each aspect discussed in its own place?",
        (
            "Aspects are mixed up, and the reader has to sort them.",
            "One paragraph goes from price to speed, back to price and on to storage.",
        ),
        (
            "Every aspect has its own paragraph or bullet.",
            "One bullet on price, one on speed, one on storage.",
        ),
    ),
    _criterion(
        5,
        STRUCTURE,
        "Aspects named",
        "Are the aspects of the main part named?",
        (
            "They have to be guessed from the text.",
            "“- One of them turns faster. - The other holds more.”",
        ),
        (
            "Each aspect has a name that distinguishes it from the others.",
            "“- Turning: … - Load: …”",
        ),
    ),
    _criterion(
        6,
        STRUCTURE,
        "Aspects described",
        "Does the answer explain what each aspect means for the two objects?",
        (
            "Bare names or verdicts, with nothing concrete behind them.",
            "“Load: canoe. Speed: kayak.”",
        ),
        (
            "Each aspect is followed by a description.",
            "“Load: a canoe is open and takes a week's luggage, a kayak's hatches hold a tent.”",
        ),
    ),
    _criterion(
        7,
        STRUCTURE,
        "Final choice",
        "Is the outcome stated plainly, in a few words?",
        (
            "No outcome, or one that has to be dug out of a long justification.",
            "“All in all there are many things one could still say about boats …”",
        ),
        (
            "The outcome stands by itself and is short. That neither wins is also an outcome.",
            "“Better option: kayak.”",
        ),
    ),
    _criterion(
        8,
        RELEVANCE,
        "General before specific",
        "Do the aspects that concern most people come first in the main part?",
        (
            "There is no recognizable order.",
            "Paint, then safety, then cup holders, then price.",
        ),
        (
            "Aspects that matter to most people come early, special cases come late.",
            "Safety and price first, storage racks for two boats last.",
        ),
    ),
    _criterion(
        9,
        RELEVANCE,
        "Relevant arguments",
        "Does each argument address the aspect in the question? If the question has none, "
        "arguments should be general and not focus on a single aspect.",
        (
            "Most of them do not.",
            "Asked about speed, nearly all of the answer is about price and colour.",
        ),
        (
            "Most of them do.",
            "Asked about speed, five bullets are on speed and two on price.",
        ),
        (
            "Every one of them does.",
            "Asked about speed, all bullets are on hull, stroke and wind.",
        ),
    ),
    _criterion(
        10,
        RELEVANCE,
        "Both objects in each argument",
        "Does each argument, taken by itself, compare the two objects?",
        (
            "Some arguments compare nothing.",
            "“Water is healthy.” “Boats are fun.”",
        ),
        (
            "Some arguments say something about only one of the objects.",
            "“A kayak can be rolled back upright.”",
        ),
        (
            "All arguments are about both objects.",
            "“A kayak can be rolled back upright, a canoe has to be emptied first.”",
        ),
    ),
    _criterion(
        11,
        QUALITY,
        "Facts",
        "Is the content true, as far as general knowledge goes?",
        (
            "Much is made up, or something important is clearly wrong.",
            "“Canoes have engines, kayaks fly.”",
        ),
        (
            "A few slips; on the whole it is correct.",
            "“Every kayak seats exactly one.” among otherwise correct statements.",
        ),
        (
            "Nothing made up, nothing wrong.",
            "“Kayaks are moved with a paddle that has two blades.”",
        ),
    ),
    _criterion(
        12,
        QUALITY,
        "Language and flow",
        "Is the language correct and the text easy to follow?",
        (
            "Hard to understand, offensive, or without any logic.",
            "“Kayak fast because therefore canoe also, but the opposite same.”",
        ),
        (
            "Some grammar mistakes, or a step in the reasoning is missing.",
            "“A canoe are wider, so it is slower and cheaper.”",
        ),
        (
            "No mistakes, well structured, and one thought leads to the next.",
            "“A canoe is wider. That makes it steadier but slower.”",
        ),
    ),
    _criterion(
        13,
        QUALITY,
        "No repetition",
        "Is everything said only once?",
        (
            "A statement is repeated in the same or nearly the same words.",
            "“Kayaks are quicker.” and below “In terms of pace, the kayak is the quicker one.”",
        ),
        (
            "No two statements say the same thing.",
            "Speed is discussed once and not again.",
        ),
        counted_by="repeats",
    ),
    _criterion(
        14,
        QUALITY,
        "Choice follows from the arguments",
        "Do the arguments, and the aspect in the question if it has one, lead to this outcome? "
        "If they balance, naming no winner is correct.",
        (
            "The outcome contradicts them or ignores the aspect, or there is none.",
            "Asked about luggage, all arguments favour the canoe; the choice is the kayak.",
        ),
        (
            "The weight of the arguments, and the aspect, point to it.",
            "Asked about luggage, most arguments favour the canoe; the choice is the canoe.",
        ),
    ),
    _criterion(
        15,
        QUALITY,
        "Length",
        f"Does the answer have {FEWEST_SENTENCES} to {MOST_SENTENCES} sentences? "
        "Bullets count as sentences.",
        (
            f"Fewer than {FEWEST_SENTENCES}, or more than {MOST_SENTENCES}.",
            "Four sentences on canoes and kayaks, or forty.",
        ),
        (
            f"Anything from {FEWEST_SENTENCES} to {MOST_SENTENCES}.",
            "Two sentences to open, six bullets of two sentences, one for the choice: 15.",
        ),
        counted_by="sentences",
    ),
)

COMPQA = Rubric(
    name="CompQA",
    groups=(
        CriterionGroup(STRUCTURE, "Structure", 7),
        CriterionGroup(RELEVANCE, "Relevance", 5),
        CriterionGroup(QUALITY, "Quality", 7),
    ),
    criteria=_CRITERIA,
)
