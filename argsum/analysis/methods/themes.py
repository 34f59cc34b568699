"""Group key points about the same thing into themes, and name the themes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from argsum.datasets.methods.statements import WORDS
from argsum.systems.methods.clusters import numbered
from argsum.systems.methods.inputs import Scores
from cqa_site.stats.arrays import IntArray
from .statements import WORD, group_means

# The vectors do not encode the side of statements, because a theme combines praise and complaints
# about the same thing.

# Proposed themes per square root of the number of key points. Chosen on the development sets of
# benchmarks/key_points.py (docs/papers/argsum.md).
PER_ROOT = 1.6


def number_of_themes(points: int) -> int:
    """Return how many themes to propose for a number of key points.

    Examples
    --------
    >>> [number_of_themes(points) for points in (0, 1, 3, 7, 30, 100)]
    [0, 1, 2, 4, 9, 16]
    """
    return min((points + 1) // 2, round(PER_ROOT * math.sqrt(points)))


def theme_groups(vectors: Scores, placed: IntArray, points: int) -> list[int]:
    """Return the theme of each key point, numbered from 0 by first appearance.

    ``vectors``, shape (n, d), are those of the statements, without side coordinates. ``placed``
    are the positions of their key points, or -1.
    """
    if points < 2:
        return [0] * points
    from scipy.cluster.hierarchy import fcluster, linkage

    means, _sizes = group_means(vectors, placed, points)
    means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9)
    merges = linkage(means.astype(np.float64), "ward")
    return numbered(fcluster(merges, number_of_themes(points), "maxclust"))


# Function words and words of judgement. Other words are left out because other themes have them.
_COMMON: Mapping[str, str] = {
    "en": (
        "a about again all also always am any anyone anything away back bad because been before "
        "being best better big both bring came come could day days did didn't different doesn't "
        "don't done down each easy else enough even ever every everyone everything far feel few "
        "find fine first get gets getting give given go goes going gone good got great had hard "
        "hate hardly her here him his hope how i'd i'm i've idea if into isn't it's its just keep "
        "kept knew know last least left less let like little long look lot lots love loved made "
        "make makes many may maybe me mine might most much must my myself need needed needs "
        "never new next nice no nobody none nothing now off often ok okay old once one only "
        "other others our out over own people perhaps please point poor pretty problem put "
        "quite rather really right said same saw say says see seem seems several she should "
        "since so some somebody someone something sometimes soon still such sure take takes "
        "terrible than thank thanks that's their them then these they thing things think this "
        "those though thought three through time times today together told took top tried try "
        "trying twice two under until up us use used using usually want wanted way we'd we're "
        "we've week weeks well went were while who whole why will wish within without won't "
        "work worked working works worse worst would wrong year years yes yet you're "
        "after although am around ask asked awful between can't couldn't during either found full "
        "half happy home however instead isn't mostly open someone's start too wasn't whatever "
        "whenever where wonderful excellent horrible perfect fantastic actually already almost "
        "anyway barely behind clearly completely despite especially extremely finally fully "
        "honestly nearly simply though unless definitely absolutely"
    ),
    "de": (
        "aber alle allem allen alles als also am an andere anderen ans arbeiten auch bei beim "
        "bin bis bitte bleibt braucht da dabei dadurch dafür damit danach dann daran darf das "
        "dass davon dazu deshalb deutlich dich dir doch dort drei du durch echt egal einfach "
        "einmal endlich er erst etwas euch fast fehlt finde ganz gar geben geht gehört gemacht "
        "genau genug gerade gerne geworden gibt ging gleich große großen gut gute guten hab "
        "habe hatte hatten hier hin hinter ihm ihn ihnen ihr ihre immer in ins ja jede jeden "
        "jeder jedes jetzt kam kann kein keinen kleine können könnte konnte kommt kommen lange "
        "lang lassen lässt leider lieber macht machen mal manchmal mehrere mein meine meinen "
        "meiner meist mich mir muss müssen musste nach neue neuen neu nichts nie niemand noch "
        "nun ob ohne schlecht schnell schon schön seit seitdem sein seine selbst sieht sich so "
        "sogar sollte sollten soll sondern sonst später statt steht super toll um und uns unser "
        "unsere unter viel viele vielen vom vor vorher während wäre warum was weg weil weiter "
        "weniger wenigstens wer wieder will wirklich wo wollte worden wurde wurden würde zu "
        "zwar zwei zwischen"
    ),
    "fr": (
        "a ai alors après assez autre autres avais avait avoir beaucoup bien bon bonne car cela "
        "celui cet chaque chez comme comment contre d'un d'une dans depuis dernier deux devant "
        "doit donc dont du elles en encore enfin entre eux faire fallait faut fois font grand "
        "grande ici ils j'ai jamais jour jours jusqu'à l'on lui ma mais mal mauvais même mes "
        "mieux moi moins mon nouveau nouvelle on ont ou où par parce parfois peu peut plutôt "
        "pourquoi pourtant presque puis quand quatre quelque rien sa sans ses seul seulement si "
        "soit son souvent surtout ta tard tellement temps toujours tous tout toute toutes "
        "toujours trois va vers voit vraiment y"
    ),
}
_STOP = {
    code: WORDS.get(code, frozenset()) | frozenset(_COMMON.get(code, "").split())
    for code in {*WORDS, *_COMMON}
}
_ANY = frozenset(chain.from_iterable(_STOP.values()))
# Words that precede a noun in these languages. German nouns have a capital letter.
_BEFORE_NOUNS = frozenset(
    """
    a an the my our your their his her this these that those every each no any more some le la les
    l un une des du de mon ma mes notre nos votre vos leur leurs ce cette ces el los las una unos
    unas mi su nuestro nuestra il lo gli i uno het een mijn onze o os as um uma meu minha
    """.split()  # noqa: SIM905
)
SHORTEST, MOST_WORDS = 3, 2
# Maximum number of characters in a name; the database allows 120.
LONGEST = 80
# A word can name a theme if at least two of its statements, and this share of them, contain it.
FEWEST, LEAST_SHARE = 2, 0.04
# Weight of a word that is never a noun. A word that is always a noun has the weight 1.
NO_NOUN = 0.35
# The second word of a name must be at least this typical, relative to the first.
SECOND = 0.5


def theme_names(
    texts: Sequence[str],
    placed: Sequence[int],
    points: Sequence[str],
    themes: Sequence[int],
    language: str = "",
) -> list[str]:
    """Return a name for each theme: its typical words or, failing that, its largest key point.

    Parameters
    ----------
    texts, placed : length n
        Statements, and the position of each statement's key point, or -1.
    points, themes : length k
        Texts of key points, largest first, and the number of each key point's theme.
    language
        Two-letter code. Words in any other language count as content words.
    """
    stop = _STOP.get(language, _ANY)
    words = _WordForms()
    counts = [Counter[str]() for _theme in range(max(themes, default=-1) + 1)]
    sizes = [0] * len(counts)
    for text, place in zip(texts, placed, strict=True):
        stems = words.read(text, stop, has_noun_case=language == "de")
        if place >= 0:
            counts[themes[place]].update(stems)
            sizes[themes[place]] += 1
    spread = Counter(chain.from_iterable(counts))
    names: list[str] = []
    for theme, own in enumerate(counts):
        least = max(FEWEST, math.ceil(LEAST_SHARE * sizes[theme]))
        typical = {
            stem: n * math.log(1 + len(counts) / spread[stem]) * words.weight(stem)
            for stem, n in own.items()
            if n >= least
        }
        names.append(words.name(typical))
    largest = [points[themes.index(theme)] for theme in range(len(names))]
    # Whitespace is joined, because browsers change line breaks when they send them.
    return [
        name if name and names.count(name) == 1 else cut(" ".join(text.split()), LONGEST)
        for name, text in zip(names, largest, strict=True)
    ]


def cut(text: str, longest: int) -> str:
    """Return a text, truncated if it is too long."""
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"


class _WordForms:
    """Stems of content words, with their spellings and how often each is a noun."""

    def __init__(self) -> None:
        self.forms: dict[str, Counter[str]] = {}
        self.uses: Counter[str] = Counter()
        self.nouns: Counter[str] = Counter()

    def read(self, text: str, stop: frozenset[str], *, has_noun_case: bool) -> set[str]:
        """Return the stems in a text."""
        forms = WORD.findall(text)
        plain = [form.lower() for form in forms]
        is_content = [len(w) >= SHORTEST and w not in stop and w.isalpha() for w in plain]
        stems = set()
        for at, word in enumerate(plain):
            if not is_content[at]:
                continue
            stem = _stem(word)
            stems.add(stem)
            self.forms.setdefault(stem, Counter())[forms[at] if at or has_noun_case else word] += 1
            self.uses[stem] += 1
            ends = at + 1 == len(plain) or not is_content[at + 1]
            before = set(plain[max(0, at - 2) : at])
            self.nouns[stem] += (
                at > 0 and forms[at][0].isupper()
                if has_noun_case
                else ends and bool(before & _BEFORE_NOUNS)
            )
        return stems

    def weight(self, stem: str) -> float:
        """Return the weight of a stem, which is larger the more often it is a noun."""
        share = self.nouns[stem] / self.uses[stem]
        return NO_NOUN + (1 - NO_NOUN) * min(1.0, 1.5 * share)

    def name(self, typical: Mapping[str, float]) -> str:
        """Return the most typical stems in their usual spelling, or an empty string."""
        ranked = sorted(typical, key=lambda stem: (-typical[stem], stem))[:MOST_WORDS]
        chosen = [stem for stem in ranked if typical[stem] >= SECOND * typical[ranked[0]]]
        name = ", ".join(self.forms[stem].most_common(1)[0][0] for stem in chosen)
        return name[:1].upper() + name[1:]


def _stem(word: str) -> str:
    for ending in ("ies", "es", "s", "y", "en", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
