"""Which language texts are in, and what that means for models that were made for English."""

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from argsum.datasets.methods.language import SAMPLE, language_of
from argsum.datasets.models import CellArgument, Dataset

NAMES = {
    "en": gettext_lazy("English"),
    "de": gettext_lazy("German"),
    "fr": gettext_lazy("French"),
    "es": gettext_lazy("Spanish"),
    "it": gettext_lazy("Italian"),
    "nl": gettext_lazy("Dutch"),
    "pt": gettext_lazy("Portuguese"),
    "ru": gettext_lazy("Russian"),
    "el": gettext_lazy("Greek"),
    "ar": gettext_lazy("Arabic"),
    "he": gettext_lazy("Hebrew"),
    "hi": gettext_lazy("Hindi"),
    "ja": gettext_lazy("Japanese"),
    "ko": gettext_lazy("Korean"),
    "zh": gettext_lazy("Chinese"),
}
# So many texts without a language that is known are worth a word.
FEWEST = 20


def warning_of(dataset: Dataset) -> str:
    """What to think of where the kept texts are not English; "" where they are."""
    texts = _sample(CellArgument.objects.filter(cell__dataset=dataset))
    return not_english(language_of(texts), is_known=len(texts) >= FEWEST)


def not_english(code: str, *, is_known: bool = True) -> str:
    """The same of a language; of one without a name only if there was enough text to say."""
    if code == "en" or not (code or is_known):
        return ""
    if not code:
        return _(
            "The packaged model was made for English, and these texts do not look like it: texts "
            "that say the same may not be found together. A multilingual model by name does "
            "better."
        )
    text = _(
        "The packaged model was made for English: these texts look %s, and texts that say the "
        "same may not be found together. A multilingual model by name does better."
    )
    return text % NAMES[code]


def _sample(rows: QuerySet[CellArgument]) -> list[str]:
    return list(rows.filter(left_out="").order_by("pk").values_list("text", flat=True)[:SAMPLE])
