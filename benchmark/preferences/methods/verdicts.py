"""The words for a verdict on two answers; apart from the tables, so that pages load no pandas."""

FIRST, SECOND, TIE, BOTH_BAD = "first", "second", "tie", "both_bad"
OUTCOMES = (FIRST, SECOND, TIE, BOTH_BAD)
LEFT, RIGHT, BOTH = "left", "right", "both"
SIDES = (LEFT, RIGHT, BOTH)
# Columns of counts: the first answer is better, the second is, neither.
WIN, LOSS, DRAW = 0, 1, 2
# What a rater says → the outcome of a row whose first answer stood on the left.
OUTCOME_OF = {LEFT: FIRST, RIGHT: SECOND, TIE: TIE, BOTH_BAD: BOTH_BAD}
