"""How often the check of a summary in prose keeps wrong sentences and drops right ones.

    python -m benchmarks.prose [--held-out] [--encoder shipped | mpnet | multilingual]

No language model is involved. The right sentences of `comments/summaries.tsv` were written by
hand from statements of the surveys and cite the lines of these statements; ``joined`` combines
two of them into one sentence that cites the statements of both. Wrong sentences are generated
from a seed:

``elsewhere``  a sentence cites statements on other aspects;
``one theme``  it cites statements of one other aspect and side;
``opposite``   it cites statements on the same aspect that take the other side;
``detail``     it cites other statements on the same aspect and side, which say something else;
``half``       two sentences are combined, citing only the statements of the first.

Each sentence is checked as on a site, with the key points that the analysis finds. ``kept`` is the
share that would be printed. The last two figures are the shares of right and of wrong citations
that remain in a sentence that cites both. Cut-offs may be chosen on three surveys in English and
German; ``--held-out`` uses the fourth.
"""

import argparse
import csv
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cqa_site.settings")

SUMMARIES = Path(__file__).parent / "comments" / "summaries.tsv"
DEVELOPMENT, HELD_OUT = ("bikes", "fourday", "termine"), ("recycling",)
KINDS = ("right", "joined", "elsewhere", "one theme", "opposite", "detail", "half")
REPEATS = 10


@dataclass(frozen=True)
class CheckedSentence:
    """A sentence with the positions of the statements it cites, and of those it should cite."""

    kind: str
    text: str
    cites: list[int]
    right: frozenset[int]


def read_summaries(survey: str) -> list[tuple[str, list[int]]]:
    """Return the right sentences of a survey, and the positions of the statements each cites."""
    with SUMMARIES.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    # Lines are counted from 1, and the first line is the heading.
    return [
        (row["sentence"], [int(line) - 2 for line in row["lines"].split(",")])
        for row in rows
        if row["survey"] == survey
    ]


def sentences_of(survey: str, themes: list[str | None], seed: int) -> Iterator[CheckedSentence]:
    """Yield right and wrong sentences; ``themes`` are those of the survey's statements."""
    draw = Random(seed)
    summaries = read_summaries(survey)
    aspects = [theme and theme[:-2] for theme in themes]

    def some(wanted: list[int], size: int) -> list[int]:
        return draw.sample(wanted, min(size, len(wanted)))

    for text, cites in summaries:
        theme, aspect = themes[cites[0]], aspects[cites[0]]
        places = range(len(themes))
        yield CheckedSentence("right", text, cites, frozenset(cites))
        elsewhere = [at for at in places if themes[at] and aspects[at] != aspect]
        pools = {
            "elsewhere": elsewhere,
            "opposite": [at for at in places if aspects[at] == aspect and themes[at] != theme],
            "detail": [at for at in places if themes[at] == theme and at not in cites],
        }
        for _repeat in range(REPEATS):
            other = draw.choice(sorted({str(themes[at]) for at in elsewhere}))
            pools["one theme"] = [at for at in places if themes[at] == other]
            for kind, pool in pools.items():
                if pool:
                    yield CheckedSentence(kind, text, some(pool, len(cites)), frozenset())
            further, more = draw.choice(summaries)
            if aspects[more[0]] == aspect:
                continue
            link = draw.choice([", and ", "; ", ", but ", " while ", ". "])
            if link != ". ":
                further = further[0].lower() + further[1:]
            whole = f"{text.rstrip('.')}{link}{further}"
            yield CheckedSentence("joined", whole, [*cites, *more], frozenset([*cites, *more]))
            yield CheckedSentence("half", whole, cites, frozenset(cites))
            mixed = [*cites, *some(elsewhere, len(cites))]
            yield CheckedSentence("citations", text, mixed, frozenset(cites))


def check_survey(survey: str, encoder: str, seed: int) -> dict[str, list[float]]:
    """Map each kind of sentence or citation to a list of results: 1 for kept and 0 for dropped."""
    from argsum.analysis.methods.key_points import find_points
    from argsum.prose.methods import NEAR_FROM, SUPPORTED, compared, support_of, texts_of
    from benchmarks.comments.survey_files import read_survey
    from benchmarks.key_points import ShippedTools

    tools = ShippedTools(encoder=encoder)
    said = [part for comment in read_survey(survey).comments for part in comment.statements]
    texts = [part.text for part in said]
    different = list(dict.fromkeys(texts))
    found = find_points(different, tools, counts=[texts.count(text) for text in different])
    at = dict(zip(different, found.placed, strict=True))
    placed = [{at[text]} - {-1} for text in texts]
    rows = tools.vectors(texts)
    checked = list(sentences_of(survey, [part.theme for part in said], seed))
    read = list(dict.fromkeys(text for row in checked for text in texts_of(row.text)))
    vectors = dict(zip(read, tools.vectors(read), strict=True))
    vectors |= dict(zip(texts, rows, strict=True))
    outcomes: dict[str, list[float]] = {}
    for row in checked:
        points = set().union(*(placed[cite] for cite in row.cites))
        others = rows[compared(placed, points, row.cites)]
        cited = {cite: texts[cite] for cite in row.cites}
        support = support_of(row.text, cited, vectors, others, NEAR_FROM.get(encoder))
        outcomes.setdefault(row.kind, []).append(support.verdict == SUPPORTED)
        if row.kind == "citations":
            for cite in cited:
                name = "right citation" if cite in row.right else "wrong citation"
                outcomes.setdefault(name, []).append(cite in support.cites)
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--encoder", default="shipped")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    import django

    django.setup()
    surveys = HELD_OUT if options.held_out else DEVELOPMENT
    columns = (*KINDS, "right citation", "wrong citation")
    print(f"{'kept':<12}" + "".join(f"{name:>16}" for name in columns))
    for survey in surveys:
        outcomes = check_survey(survey, options.encoder, options.seed)
        cells = [f"{np.mean(outcomes[name]):.3f} of {len(outcomes[name])}" for name in columns]
        print(f"{survey:<12}" + "".join(cell.rjust(16) for cell in cells), flush=True)


if __name__ == "__main__":
    main()
