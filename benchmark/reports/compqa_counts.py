"""How much the released files of CompQA hold, and how well it could be read and linked."""

from collections import Counter

from benchmark.methods.compqa_rubric import COMPQA
from benchmark.methods.human_links import LETTERS, OPENING

from .compqa_compare import Key, Measured
from .compqa_release import Release


def count_values(release: Release) -> dict[Key, Measured]:
    """How many answers, pairs, judgements and human rows there are, and how rows were linked."""
    return {("counts", cell): Measured(found) for cell, found in _counts(release).items()}


def _counts(release: Release) -> dict[str, tuple[int, ...]]:
    answers = release.answers
    by_system: Counter[str] = Counter()
    for file in release.files:
        by_system[file.system] += len(file.answers)
    others = tuple(by_system[system] for system in ("cam", "yahoo", "human"))
    with_aspect = _pairs_with_aspect(release)
    return {
        "answers": (len(answers),),
        "… of the six models": (len(answers) - sum(others),),
        "… of CAM / Yahoo / Human": others,
        "… with the text of an earlier one of the file": (_repeated_texts(release),),
        "files": (len(release.files),),
        "object pairs": (len({(each.object1, each.object2) for each in answers}),),
        "… with an aspect, without Yahoo's": (with_aspect,),
        "… as section 2.2 has it": (with_aspect,),
        **_judge_counts(release),
        **_human_counts(release),
    }


def _repeated_texts(release: Release) -> int:
    texts = [[each.answer.text for each in file.answers] for file in release.files]
    return sum(len(each) - len(set(each)) for each in texts)


def _pairs_with_aspect(release: Release) -> int:
    """Yahoo's questions have aspects of their own."""
    found = {
        (each.answer.object1, each.answer.object2)
        for file in release.files
        for each in file.answers
        if each.answer.aspect and file.system != "yahoo"
    }
    return len(found)


def _judge_counts(release: Release) -> dict[str, tuple[int, ...]]:
    judged = [each for file in release.files for each in file.answers]
    top = {each.key: each.maximum for each in COMPQA.criteria}
    off = [
        sum(not 0 <= value <= top[key] for key, value in each.judgement.given.items())
        for each in judged
    ]
    return {
        "judgements without all 15 scores": (
            sum(not each.paper_points(COMPQA) for each in judged),
        ),
        "scores of the judge out of range": (sum(off),),
        "… judgements with such, unscored here": (
            sum(not each.judgement.is_scored for each in judged),
        ),
    }


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
