"""Which language texts are in, by the share of their words that only hold sentences together."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

_WORD = re.compile(r"[^\W\d_]+")
# Words of one language that none of the others has, or nearly none.
WORDS: Mapping[str, frozenset[str]] = {
    code: frozenset(words.split())
    for code, words in {
        "en": (
            "the and is are was were of to for with this that they it be been have has not but "
            "you we my our would should could there their when which what from at as an or if "
            "more very too can will do does did by about because your its than i"
        ),
        "de": (
            "der die das und ist sind war nicht ein eine einen einem einer es ich wir sie mit für "
            "auf auch dass zu zum zur den dem des im von bei oder aber sehr noch wie als nur "
            "werden wird haben hat man kann sich über keine mehr wenn"
        ),
        "fr": (
            "le la les des du un une et est sont était pas pour avec dans sur que qui ce cette "
            "ces il elle nous vous je mais ou très plus aux au ne se par être avoir fait trop "
            "leur notre c'est"
        ),
        "es": (
            "el la los las del un una y es son era no para con en que por se su lo como más pero "
            "muy este esta hay ser está están al yo nos cuando porque todo también sin"
        ),
        "it": (
            "il lo la gli le dei della di un una e è sono era non per con che si nel nella alla "
            "al come più ma molto questo questa anche ci ho ha essere da del troppo sempre"
        ),
        "nl": (
            "de het een en is zijn was niet voor met van op dat die deze dit er ik wij we je ze "
            "maar ook te om aan naar bij heel veel wordt worden heeft hebben kan geen meer als"
        ),
        "pt": (
            "o a os as do da dos das um uma e é são era não para com em no na que por se ao mais "
            "mas muito este esta foi ser está estão eu nós você quando também sem"
        ),
    }.items()
}
# Letters that only one of these languages is mostly written in: first and last of each.
SCRIPTS: Mapping[str, tuple[str, str]] = {
    "ru": ("\u0400", "\u04ff"),
    "el": ("\u0370", "\u03ff"),
    "ar": ("\u0600", "\u06ff"),
    "he": ("\u0590", "\u05ff"),
    "hi": ("\u0900", "\u097f"),
    "ja": ("\u3040", "\u30ff"),
    "ko": ("\uac00", "\ud7af"),
    "zh": ("\u4e00", "\u9fff"),
}
# Too few words say nothing; of running text a third to a half hold it together.
LEAST_WORDS = 20
LEAST_SHARE = 0.15
SAMPLE = 300


def language_of(texts: Iterable[str]) -> str:
    """Guess the language that most of some texts are in.

    Parameters
    ----------
    texts : iterable of str
        A sample is enough; only the first `SAMPLE` are read.

    Returns
    -------
    str
        One of `WORDS` or `SCRIPTS`, or "" where it is none of them, or there is too little text
        to say.

    Examples
    --------
    >>> language_of(["The room is too dark and the chairs are old."] * 3)
    'en'
    >>> language_of(["Der Raum ist zu dunkel und die Stühle sind alt."] * 3)
    'de'
    """
    found: Counter[str] = Counter()
    scripts: Counter[str] = Counter()
    total = 0
    for number, text in enumerate(texts):
        if number == SAMPLE:
            break
        words = _WORD.findall(text.lower())
        total += len(words)
        scripts.update(_script(word[0]) for word in words)
        for code, known in WORDS.items():
            found[code] += sum(word in known for word in words)
    script, most = scripts.most_common(1)[0] if scripts else ("", 0)
    if script and most > total / 2:
        return script
    if total < LEAST_WORDS:
        return ""
    code, number = found.most_common(1)[0]
    return code if number / total >= LEAST_SHARE else ""


def _script(letter: str) -> str:
    return next((code for code, (one, last) in SCRIPTS.items() if one <= letter <= last), "")
