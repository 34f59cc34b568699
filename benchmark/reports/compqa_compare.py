"""Our figures of CompQA beside the paper's and the release's, each with a verdict."""

from collections.abc import Iterable, Mapping

from cqa_site.web.published import Figure, Key, Measured, Published
from cqa_site.web.published import compare as compare_with

from .compqa_published import PUBLISHED

__all__ = ["Figure", "Key", "Measured", "compare"]


def compare(
    values: Mapping[Key, Measured], published: Iterable[Published] = PUBLISHED
) -> list[Figure]:
    """Put ours beside each published figure; see `cqa_site.web.published.compare`."""
    return compare_with(values, published)
