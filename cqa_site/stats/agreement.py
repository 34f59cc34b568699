"""Every agreement statistic under one name; the modules behind hold one topic each."""

from cqa_site.stats.reliability.alpha import krippendorff_alpha
from cqa_site.stats.reliability.coincidence import LEVELS, Level
from cqa_site.stats.reliability.confusion import coincidences, confusion
from cqa_site.stats.reliability.disagreement import per_item_disagreement, per_label_agreement
from cqa_site.stats.reliability.gwet import gwet_ac
from cqa_site.stats.reliability.kappa import fleiss_kappa
from cqa_site.stats.reliability.pairwise import (
    PAIR_STATISTICS,
    PairStatistic,
    PairwiseMatrix,
    pairwise_agreement,
    pairwise_matrix,
)
from cqa_site.stats.reliability.percent import percent_agreement

__all__ = [
    "LEVELS",
    "PAIR_STATISTICS",
    "Level",
    "PairStatistic",
    "PairwiseMatrix",
    "coincidences",
    "confusion",
    "fleiss_kappa",
    "gwet_ac",
    "krippendorff_alpha",
    "pairwise_agreement",
    "pairwise_matrix",
    "per_item_disagreement",
    "per_label_agreement",
    "percent_agreement",
]
