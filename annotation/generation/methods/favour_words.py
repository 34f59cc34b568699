"""English words by which a comparative sentence takes a side, for `favoured_object`.

Written from grammar and common sense, not from labels; a word that praises one thing and blames
another is in none of the lists.
"""

from annotation.corpus.methods.comparison_words import WORD_LISTS


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


GAIN = _words(
    "better superior preferable easier faster quicker swifter simpler safer cheaper healthier "
    "nicer smarter smoother cleaner fresher friendlier fairer greener kinder lighter livelier "
    "neater prettier quieter sharper sleeker stronger sturdier tastier wiser comfier handier"
)
LOSS = _words(
    "worse inferior slower weaker poorer riskier costlier pricier deadlier uglier dumber bulkier "
    "clumsier messier flimsier noisier dirtier clunkier crappier nastier"
)
# After "more" or "less", and between "as" and "as".
GOOD = _words(
    "accurate affordable attractive beautiful capable comfortable compact consistent convenient "
    "delicious dependable durable easy economical effective efficient elegant enjoyable ergonomic "
    "fast flexible friendly fun good healthy helpful intelligent interesting intuitive natural "
    "nutritious pleasant popular portable powerful practical precise productive quick refined "
    "reliable responsive robust safe secure sensible simple sophisticated stable strong "
    "successful suitable sustainable tasty useful user-friendly valuable versatile well"
)
BAD = _words(
    "annoying bad boring brittle bulky clumsy complex complicated confusing costly cumbersome "
    "dangerous deadly difficult error-prone expensive fragile frustrating harmful noisy painful "
    "polluting poor risky slow toxic ugly unreliable unstable vulnerable wasteful weak"
)
CHOOSE = _words(
    "prefer prefers preferred choose chooses chose favor favors favored favour favours favoured "
    "recommend recommends recommended"
)
WIN = _words(
    "beat beats outperform outperforms outperformed outclass outclasses outclassed outshine "
    "outshines surpass surpasses surpassed trumps trounces trounced"
)
BEATEN = _words("beaten outperformed outclassed outshone surpassed trumped trounced")
TAKES_TO = _words("superior inferior preferable")
NEGATION = WORD_LISTS["negation"] | _words("hardly barely nowhere ain't")
# A sentence that begins so asks, with or without its mark.
ASKING = _words("is are was were do does did can could will would should has have had")
UNSURE = WORD_LISTS["condition"] | _words("want wants wanted stop")
# To do one of these faster is a loss, and to do it more slowly may be a gain.
DECLINE = _words(
    "age ages break breaks collapse crash crashes decay decays decline declines degrade degrades "
    "deteriorate deteriorates die dies dying fade fades fail fails failing lose loses losing lost "
    "rot rots rust rusts spoil spoils tire tires wear wears"
)
PACE = _words("faster quicker slower")
# What may stand between a comma and the comparing word that goes on with its subject.
BETWEEN = WORD_LISTS["degree"] | WORD_LISTS["being"] | _words("and or also more less times x")
# An object after one of these is a circumstance, not what is compared.
CIRCUMSTANCE = _words("on in with for at from by to over under unlike than versus vs against")
STOPS = frozenset(",;:.!?()[]–—") | _words("but while whereas although though because")
