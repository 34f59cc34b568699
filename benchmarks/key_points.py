"""Quality of the key points of invented comments, with all defaults; optionally also of BERTopic.

    python -m benchmarks.key_points [--seed 1] [--held-out] [--bertopic] [--weights FOLDER]
    python -m benchmarks.key_points --surveys [--held-out] [--bertopic]
    python -m benchmarks.key_points --surveys --encoders mpnet multilingual
    python -m benchmarks.key_points --released ../shared/data

The seed splits the eight sets of `benchmarks.comments` into halves: settings are chosen on one
half, and ``--held-out`` uses the other. A statement counts under the key point where it was
placed; a statement without a theme (chatter) lowers the purity of its key point. ``contradict`` is
the share of placed statements that say the opposite of their key point's most frequent theme;
``worst`` is the largest such share of a key point with at least ten statements. ``sure`` is the
share of all statements that are surely placed, without those used as key points. ``right`` is the
share of these statements that have the same theme as the statement used as their key point.
``proposed`` are the themes above the key points; ``of true`` is their number divided by the number
of aspects. The last two figures compare the aspects of statements with these themes.

``--surveys`` uses the six handwritten surveys of `benchmarks.comments.survey_files` instead, whose
authors did not know the software: three, or the other three with ``--held-out``.

BERTopic is not part of the project: install it (``pip install bertopic``) for the comparison.

``--encoders`` also shows the results of installed optional encoders: mpnet in addition to the
shipped encoder, multilingual instead of it.

``--released`` finds the key points of ArgKP's dev and test cells and of the test half of Debate,
and compares them with the reference: at the usual setting, and at the best setting of each cell
(an oracle). ``--weights`` selects weights from a training other than the shipped one.
"""

import argparse
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cqa_site.settings")

Placed = Sequence[int]
# The key point of each statement with its score and certainty, and the theme of each key point, if
# the method has themes.
Groups = tuple[Placed, Sequence[float], Sequence[bool], Sequence[str]]
Place = Callable[[Sequence[str], Sequence[int]], Groups]
LEAST = 10
WANTED = 0.85
NOISE = ("exclude", "include")


class ShippedTools:
    """The tools of an analysis, without a database; by default with the shipped weights."""

    def __init__(self, weights: str = "", *, sides: bool = True, encoder: str = "shipped") -> None:
        from argsum.scorers.actions.encoders import reader_of
        from argsum.scorers.actions.models import (
            BiEncoder,
            Regressor,
            resolve,
        )
        from argsum.scorers.methods.encoders import SURE_FROM, filler_classifier_in
        from argsum.scorers.models import SHIPPED_MATCH, SHIPPED_QUALITY
        from cqa_site.judging.embedding import PACKAGED_MODEL, SentenceEmbedder, side_in

        source = weights or resolve(SHIPPED_MATCH)
        self.encoder_name, reader = encoder, reader_of(encoder)
        self.match = [SentenceEmbedder(source), reader and reader.embedder]
        self.match = self.match[encoder == "multilingual" : 1 + (encoder != "shipped")]
        has_match = encoder != "multilingual"
        self.side = side_in(Path(source)) if sides and has_match else None
        self.filler_classifier = filler_classifier_in(Path(source)) if has_match else None
        self.sure_from = SURE_FROM.get(encoder)
        line = Regressor(Path(resolve(SHIPPED_QUALITY)), BiEncoder(PACKAGED_MODEL, "benchmark"))
        line.embedding.embedder = SentenceEmbedder()
        self.line = line

    @property
    def tells_sides(self) -> bool:
        """Whether vectors encode the side of a text."""
        return self.side is not None

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """Return the match scorer's vectors, extended by the sides of the texts."""
        from argsum.scorers.methods.encoders import side_by_side

        parts = [each.encode(texts) for each in self.match]
        vectors = side_by_side(parts)
        return vectors if self.side is None else self.side.added(vectors, parts[0])

    def filler(self, texts: Sequence[str]) -> np.ndarray:
        """Return which texts the match scorer's classifier considers filler."""
        if self.filler_classifier is None:
            return np.zeros(len(texts), dtype=bool)
        return self.filler_classifier.is_filler(texts, self.match[0].encode(texts))

    def quality(self, texts: Sequence[str]) -> np.ndarray:
        """Return the quality scorer's scores."""
        return self.line.scores(texts)

    def say(self, share: float, what: str, until: float | None = None) -> None:
        """Ignore progress messages."""


def ours(weights: str, encoder: str = "shipped") -> Place:
    """Return a function that runs key point analysis with the usual settings."""
    from argsum.analysis.methods.key_points import find_points

    tools = ShippedTools(weights, encoder=encoder)

    def place(texts: Sequence[str], counts: Sequence[int]) -> Groups:
        result = find_points(texts, tools, counts=counts)
        return result.placed, result.scores, result.sure, result.themes

    return place


def bertopic() -> Place:
    """Return a function that runs BERTopic with its defaults, on vectors of the packaged model."""
    from bertopic import BERTopic

    from cqa_site.judging.embedding import SentenceEmbedder

    embedder = SentenceEmbedder()

    def place(texts: Sequence[str], _counts: Sequence[int]) -> Groups:
        topics, _shares = BERTopic().fit_transform(list(texts), embedder.encode(texts))
        return [int(topic) for topic in topics], [], [], []

    return place


def figures(placed: Placed, themes: Sequence[str | None], contradicts) -> list[float]:
    """Return key points, share placed, purity, ARI, contradicting share, and its maximum."""
    from argsum.scorers.methods.figures import adjusted_rand

    known = [row for row, theme in enumerate(themes) if theme]
    index = adjusted_rand([str(themes[row]) for row in known], [placed[row] for row in known])
    right = against = total = 0
    worst = 0.0
    points = sorted(set(placed) - {-1})
    for point in points:
        own = [themes[row] for row, place in enumerate(placed) if place == point]
        commonest = Counter(theme for theme in own if theme).most_common(1)
        most = commonest[0][0] if commonest else None
        opposed = sum(bool(theme and most and contradicts(theme, most)) for theme in own)
        right += sum(theme == most for theme in own if theme)
        against += opposed
        total += len(own)
        if len(own) >= LEAST:
            worst = max(worst, opposed / len(own))
    of = max(total, 1)
    return [len(points), total / len(placed), right / of, index or 0.0, against / of, worst]


def first_band(groups: Groups, themes: Sequence[str | None]) -> list[float]:
    """Return the share of surely placed statements, and the share of them with the right theme.

    The third number is the largest share that could be surely placed, with a share ``WANTED`` of
    these placements right, if scores separated right from wrong placements without error. Key
    points themselves are left out.
    """
    placed, scores, sure, _themes = groups
    if not any(sure):
        return [0.0, float("nan"), float("nan")]
    best = {
        point: max((row for row, at in enumerate(placed) if at == point), key=scores.__getitem__)
        for point in set(placed) - {-1}
    }
    rows = [row for row, point in enumerate(placed) if point != -1 and row != best[point]]
    right = [bool(themes[row]) and themes[row] == themes[best[placed[row]]] for row in rows]
    own = [is_right for row, is_right in zip(rows, right, strict=True) if sure[row]]
    most = min(len(rows), sum(right) / WANTED) / len(placed)
    return [len(own) / len(placed), sum(own) / max(1, len(own)), most]


def of_themes(groups: Groups, aspects: Sequence[str | None]) -> list[float]:
    """Return the number of themes, its ratio to the number of aspects, the purity, and the ARI."""
    from argsum.scorers.methods.figures import adjusted_rand

    placed, _scores, _sure, themes = groups
    if not themes:
        return [float("nan")] * 4
    own = [
        (aspect, themes[point])
        for aspect, point in zip(aspects, placed, strict=True)
        if aspect and point != -1
    ]
    commonest: dict[str, Counter[str]] = {}
    for aspect, theme in own:
        commonest.setdefault(theme, Counter())[aspect] += 1
    right = sum(counts.most_common(1)[0][1] for counts in commonest.values())
    number = len(set(themes))
    names = list(commonest)
    index = adjusted_rand([aspect for aspect, _theme in own], [names.index(t) for _a, t in own])
    return [number, number / len({each for each in aspects if each}), right / len(own), index or 0]


def released(data: Path, weights: str, encoder: str = "shipped") -> None:
    """Print a line for each part of the released data."""
    from argsum.papers.reports.release import KeyPointRelease
    from argsum.scorers.actions.training_data import cells_in

    argkp = cells_in(data / "argsum/argkp2021")
    parts = {
        f"ArgKP {split}": [
            (each.name, [each.arguments[row] for row in each.judged], each.reference())
            for each in argkp[split]
        ]
        for split in ("dev", "test")
    }
    parts["Debate, test half"] = [
        (f"{each.topic} {each.stance}", each.arguments, each.reference)
        for each in KeyPointRelease(data).debate_cells
    ]
    # Each cell has one side of a debate.
    tools = ShippedTools(weights, sides=False, encoder=encoder)
    print(f"{'':<20}{'cells':>6}{'at the usual setting':>24}{'of the best':>24}{'precision':>12}")
    for part, cells in parts.items():
        print(f"{part:<20}{len(cells):>6}{_against_references(cells, tools)}", flush=True)


def _against_references(cells, tools: ShippedTools) -> str:
    """Return ARI without and with ungrouped arguments, the number of cells, and pair precision."""
    from argsum.analysis.methods.key_points import USUAL, find_points
    from argsum.scorers.methods.encoders import CUTOFFS
    from argsum.scorers.methods.figures import (
        best_per_cell,
        cluster_figure,
        index_of,
        over_cells,
        same_point_precision,
    )

    figures, usual, precision = {}, [], []
    cutoff = CUTOFFS[tools.encoder_name].usual if tools.encoder_name in CUTOFFS else USUAL
    grid = [round(0.2 + 0.025 * step, 3) for step in range(25)]
    for name, texts, reference in cells:
        vectors = tools.vectors(texts)
        kept = Kept(tools, dict(zip(texts, vectors, strict=True)))
        placements = {each: find_points(texts, kept, cutoff=each).placed for each in grid}
        figures[name] = [cluster_figure(f"{t:g}", reference, ids) for t, ids in placements.items()]
        usual.append(cluster_figure("", reference, placements[cutoff]))
        precision.append(same_point_precision(vectors @ vectors.T, reference))
    fixed = [over_cells(index_of(each, noise) for each in usual) for noise in NOISE]
    best = [best_per_cell(figures, noise=noise).over for noise in NOISE]
    known = [each for each in precision if each is not None]
    cells_text = "".join(
        f"{' / '.join(f'{each.mean or 0:.3f} ({each.n})' for each in both):>24}"
        for both in (fixed, best)
    )
    return f"{cells_text}{np.mean(known):>12.3f}"


class Kept:
    """Tools with known vectors of some texts and without quality scores."""

    def __init__(self, tools: ShippedTools, vectors: dict[str, np.ndarray]) -> None:
        self.known = vectors
        self.say, self.tells_sides = tools.say, tools.tells_sides
        self.encoder_name = tools.encoder_name
        self.filler, self.sure_from = tools.filler, tools.sure_from

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """Return the known vectors."""
        return np.stack([self.known[text] for text in texts])

    def quality(self, texts: Sequence[str]) -> np.ndarray:
        """Return unknown qualities, because the wording of key points does not matter here."""
        return np.full(len(texts), np.nan, dtype=np.float32)


def main() -> None:
    import django

    django.setup()
    from benchmarks.comments import make_world, split_worlds
    from benchmarks.comments.survey_files import HELD_OUT, SURVEYS, read_survey

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--bertopic", action="store_true")
    parser.add_argument("--surveys", action="store_true")
    parser.add_argument("--released", type=Path)
    parser.add_argument("--weights", default="")
    parser.add_argument("--encoders", nargs="*", default=[])
    options = parser.parse_args()
    if options.released:
        for encoder in ("shipped", *options.encoders):
            print(encoder)
            released(options.released, options.weights, encoder)
        return
    ways = {"ours": ours(options.weights)} | ({"BERTopic": bertopic()} if options.bertopic else {})
    ways |= {name: ours(options.weights, name) for name in options.encoders}
    heads = (
        "themes",
        "points",
        "placed",
        "purity",
        "ARI",
        "contradict",
        "worst",
        "sure",
        "right",
        "at most",
        "proposed",
        "of true",
        "purity",
        "ARI",
        "s",
    )
    print(f"{'set':<10}{'texts':>7} {'way':<13}" + "".join(f"{head:>11}" for head in heads))
    rows: dict[str, list[list[float]]] = {name: [] for name in ways}
    names: Sequence[str] = split_worlds(options.seed)[options.held_out]
    if options.surveys:
        names = [name for name in SURVEYS if (name in HELD_OUT) == options.held_out]
    for name in names:
        world = read_survey(name) if options.surveys else make_world(name)
        said = Counter(each.text for comment in world.comments for each in comment.statements)
        theme = {each.text: each.theme for one in world.comments for each in one.statements}
        texts = list(said)
        for way, place in ways.items():
            begun = time.perf_counter()
            groups = place(texts, [said[text] for text in texts])
            seconds = time.perf_counter() - begun
            themes = [theme[text] for text in texts]
            row = figures(groups[0], themes, world.contradicts) + first_band(groups, themes)
            row += of_themes(groups, [each and world.themes[each].aspect for each in themes])
            rows[way].append(row)
            shown = [len(world.themes), *row, seconds]
            line = "".join(
                f"{value:>11.3f}" if value % 1 else f"{value:>11.0f}" for value in shown
            )
            print(f"{name:<10}{len(texts):>7} {way:<13}{line}", flush=True)
    for way, of_sets in rows.items():
        means = np.nanmean(of_sets, axis=0)
        line = "".join(f"{value:>11.3f}" for value in means)
        print(f"{'mean':<10}{'':>7} {way:<13}{'':>11}{line}")


if __name__ == "__main__":
    main()
