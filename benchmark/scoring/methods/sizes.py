"""For how many sheets of each answer the worth of their mean is told; pages load this at start."""

SIZES = (1, 2, 3, 5, 10)
