"""What a writer learns from: key points with their arguments, of a dataset or of files."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from django.utils.translation import gettext as _

from argsum.datasets.methods.argkp_files import read_argkp
from argsum.datasets.models import Dataset, KeyPointMatch
from argsum.scorers.methods.writing_recipe import Example
from cqa_site.tabular import UnreadableFile

from .models import ScorerRefused
from .training_data import DEV, TRAIN

Examples = dict[str, list[Example]]
# Split, topic, stance, key point; then quality and text of one argument that makes it.
Row = tuple[tuple[str, str, int, str], float | None, str]


def examples_of(dataset: Dataset) -> Examples:
    """A key point of the dataset with every argument that matches it; one query."""
    rows = KeyPointMatch.objects.filter(argument__cell__dataset=dataset, is_match=True)
    ordered = rows.order_by(
        "argument__cell__position", "key_point__position", "argument__position"
    )
    return _examples(
        ((split, topic, stance, point), quality, text)
        for split, topic, stance, point, quality, text in ordered.values_list(
            "argument__cell__split",
            "argument__cell__topic",
            "argument__cell__stance",
            "key_point__text",
            "argument__quality",
            "argument__text",
        )
    )


def examples_in(folder: Path) -> Examples:
    """The same from the three files per split of ArgKP-2021, which name no quality.

    Raises
    ------
    ScorerRefused
        If the files cannot be read; the message names file, row and column.
    """
    try:
        read = read_argkp(folder, name=folder.name)
    except UnreadableFile as problem:
        raise ScorerRefused(str(problem)) from problem
    if read.problems:
        raise ScorerRefused(str(read.problems[0]))
    return _examples(
        (
            (cell.split, cell.topic, cell.stance, cell.key_points[point].text),
            cell.arguments[argument].quality,
            cell.arguments[argument].text,
        )
        for cell in read.cells
        for (argument, point), is_match in sorted(cell.matches.items())
        if is_match
    )


def require_examples(examples: Examples) -> None:
    """Raises ScorerRefused if nothing can be learned, or nothing can choose the weights."""
    for split in (TRAIN, DEV):
        if not examples.get(split):
            raise ScorerRefused(
                _("The %s split has no key point with an argument that matches it.") % split
            )


def _examples(rows: Iterable[Row]) -> Examples:
    """Arguments best first; those without a quality last, in the order in which they came."""
    clusters: dict[tuple[str, str, int, str], list[tuple[float, str]]] = defaultdict(list)
    for key, quality, text in rows:
        clusters[key].append((float("-inf") if quality is None else quality, text))
    found: Examples = defaultdict(list)
    for (split, topic, stance, point), rated in clusters.items():
        best = sorted(rated, key=lambda pair: -pair[0])
        found[split].append(Example(topic, stance, tuple(text for _q, text in best), point))
    return found
