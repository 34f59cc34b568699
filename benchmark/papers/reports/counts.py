"""How much the released files of CompQA hold, and how well it could be read and linked."""

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from benchmark.imports.methods.human_links import LETTERS, OPENING
from benchmark.imports.methods.judged_files import JudgedFile
from benchmark.judges.methods.judgement_keys import Reading
from benchmark.rubrics.methods.compqa_rubric import COMPQA
from cqa_site.reproduction.figures import Key, Measured

from .names import NAMES
from .release import Release

COUNTS, PAIRS = "counts", "table 1"
Values = dict[Key, Measured]
Pair = tuple[str, str]


def count_values(release: Release) -> Values:
    """How many answers, pairs, judgements and human rows there are, and how rows were linked."""
    found = {(COUNTS, cell): Measured(numbers) for cell, numbers in _counts(release).items()}
    return found | pair_values(_pairs(release), release.arguments)


def pair_values(aspects: Mapping[Pair, bool], arguments: Mapping[Pair, int] | None) -> Values:
    """Table 1: pairs of objects, those with an aspect, and how many arguments each has.

    ``arguments`` maps pairs to numbers of arguments; None if nobody knows.
    """
    found: Values = {
        (PAIRS, "pairs"): Measured((len(aspects),)),
        (PAIRS, "pairs with an aspect"): Measured((sum(aspects.values()),)),
    }
    known = arguments or {}
    numbers = [known[pair] for pair in aspects if pair in known]
    if not numbers:
        return found
    mean = float(np.mean(numbers))
    counted = {
        "arguments: mean": mean,
        "arguments: least": min(numbers),
        "arguments: most": max(numbers),
        "pairs with more than the mean": sum(each > mean for each in numbers),
    }
    n = len(numbers)
    return found | {(PAIRS, cell): Measured((value,), n) for cell, value in counted.items()}


def _pairs(release: Release) -> dict[tuple[str, str], bool]:
    """Pair → whether it has an aspect. Yahoo's questions have aspects of their own."""
    found: dict[tuple[str, str], bool] = {}
    for file in release.files:
        for each in file.answers:
            pair = each.answer.object1, each.answer.object2
            has_aspect = bool(each.answer.aspect) and file.system != "yahoo"
            found[pair] = found.get(pair, False) or has_aspect
    return found


def _counts(release: Release) -> dict[str, tuple[int, ...]]:
    by_system: Counter[str] = Counter()
    for file in release.files:
        by_system[file.system] += len(file.answers)
    others = tuple(by_system[system] for system in ("cam", "yahoo", "human"))
    total = len(release.answers)
    with_aspect = sum(_pairs(release).values())
    found = {
        "answers": (total,),
        "… of the six models": (total - sum(others),),
        "… of CAM / Yahoo / Human": others,
        "… with the text of an earlier one of the file": (_repeated_texts(release),),
        "files": (len(release.files),),
        "pairs with an aspect, as section 2.2 has it": (with_aspect,),
    }
    for judge, files in release.judged.items():
        found |= dict(_judge_counts(NAMES.get(judge, judge), files))
    return found | (_human_counts(release) if release.people else {})


def _repeated_texts(release: Release) -> int:
    texts = [[each.answer.text for each in file.answers] for file in release.files]
    return sum(len(each) - len(set(each)) for each in texts)


def _judge_counts(
    judge: str, files: tuple[JudgedFile, ...]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Sheets that the paper cannot use, why not, and values off the scale."""
    judged = [each for file in files for each in file.answers]
    readings = Counter(each.judgement.reading for each in judged)
    missing = [each for each in judged if each.judgement.reading is Reading.MISSING_KEYS]
    both = sum("not asked for" in each.judgement.detail for each in missing)
    top = {each.key: each.maximum for each in COMPQA.criteria}
    off = [
        sum(not 0 <= value <= top[key] for key, value in each.asked.given.items())
        for each in judged
    ]
    yield f"{judge}: sheets", (len(judged),)
    unusable = sum(each.paper_points(COMPQA) is None for each in judged)
    yield f"{judge}: sheets without all 15 scores", (unusable,)
    yield (
        f"{judge}: … some criteria only / numbered otherwise / both / empty",
        (
            len(missing) - both,
            readings[Reading.RENUMBERED],
            both,
            readings[Reading.EMPTY],
        ),
    )
    yield f"{judge}: values off the scale", (sum(off),)
    yield (
        f"{judge}: sheets that are unscored here",
        (sum(not each.judgement.is_scored for each in judged),),
    )


def _human_counts(release: Release) -> dict[str, tuple[int, ...]]:
    people, links = release.people, release.links
    return {
        "human rows": (len(people),),
        "… linked to their answer": (len(links.links),),
        "… by all letters / the first 300": (links.made_by(LETTERS), links.made_by(OPENING)),
        "… with 0 in the column score": (sum(each.stated_score == 0 for each in people),),
        "… swallowed by another row's text": (sum(each.swallowed for each in people),),
        "human scores out of range": (sum(len(each.off_scale) for each in people),),
    }
