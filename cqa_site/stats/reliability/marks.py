"""Krippendorff's customary marks of alpha."""

# From here on conclusions are firm; from the second one on they are tentative.
FIRM, TENTATIVE = 0.8, 0.667
