"""Small invented sample files for every format, and functions that recognize each format."""

import io
import re

from django.utils.translation import gettext as _

from annotation.corpus.methods.column_guess import guess_mapping, is_own_export
from annotation.corpus.methods.generic_table import REQUIRED_FIELDS
from annotation.imports.methods.question_list import question_columns
from cqa_site.files.format_parts import Look, Sample, csv_of, json_of
from cqa_site.tabular import write_xlsx

PAIR = ("tea", "coffee")
SENTENCES = (
    "Tea keeps me calm for hours while coffee makes my hands shake.",
    "Coffee wakes me up faster than tea ever did.",
    "I drink tea on most afternoons.",
    "Tea and coffee are both grown in the mountains.",
    "A pot of tea costs half of what the same amount of coffee costs.",
    "Coffee smells better than tea, and that is all I ask of it.",
    "Our office has a new coffee machine.",
    "For a long night of work coffee beats tea, because it has more caffeine.",
    "Tea stains a cup less than coffee does.",
    "Somebody left the kettle on again.",
)
ANSWERS = (
    "Tea is calmer and cheaper [1, 5]. Coffee works faster [2]. For the evening take tea.",
    "Coffee has more caffeine and works at once [2, 8]; tea is the gentler drink [1].",
)
# A name with the system and scenario, as in released files.
ANSWER_FILE = "sample_model_scenario_4.json"


def _records() -> list[dict[str, object]]:
    about: dict[str, object] = {"object1": PAIR[0], "object2": PAIR[1], "aspect": None}
    return [about | {"comparison": text} for text in ANSWERS]


def _numbered() -> list[str]:
    return [f"{number}. {text}" for number, text in enumerate(SENTENCES, 1)]


def _table() -> bytes:
    return csv_of(("object1", "object2", "text"), [(*PAIR, text) for text in SENTENCES])


def _crowd() -> bytes:
    fields = ("task_id", "assignment_id", "worker_id", "status", "started", "link")
    columns = (
        "INPUT:input",
        "OUTPUT:R-4",
        "GOLDEN:R-4",
        *(f"ASSIGNMENT:{name}" for name in fields),
    )
    rows = [
        (
            f"**{PAIR[0]}** vs **{PAIR[1]}**\n\n*Rate the sentence:*\n\n{text}",
            (place + worker % 2) % 4,
            place % 4 if place == 0 else "",
            f"task-{place}",
            f"suite-{worker}",
            f"worker-{worker}",
            "APPROVED",
            "2024-01-15T10:00:00",
            "",
        )
        for worker in (1, 2, 3)
        for place, text in enumerate(SENTENCES)
    ]
    return csv_of(columns, rows, delimiter="\t")


def _experts() -> bytes:
    target = io.BytesIO()
    rows = [(" vs ".join(PAIR), text, place % 4) for place, text in enumerate(_numbered())]
    write_xlsx(target, ("comparison", "arguments", "relevance"), rows, sheet="Batch")
    return target.getvalue()


def _final() -> bytes:
    arguments = [
        {"index": place, "argument": text, "relevance": place % 4, "relevance_gpt": place % 3}
        for place, text in enumerate(SENTENCES, 1)
    ]
    return json_of([{"obj1": PAIR[0], "obj2": PAIR[1], "arguments": arguments}])


def _silver() -> bytes:
    about = {"object1": PAIR[0], "object2": PAIR[1], "aspect": ""}
    return json_of([about | {"arguments": _numbered(), "gpt_answers": list(ANSWERS)}])


def _gold() -> bytes:
    about = {"object1": PAIR[0], "object2": PAIR[1], "aspect": "", "question": ""}
    return json_of([about | {"comparison": [ANSWERS[0]]}])


def _questions() -> bytes:
    rows = [
        (*PAIR, "taste", "Which tastes better, tea or coffee?"),
        (*PAIR, "price", ""),
        ("bus", "tram", "", "Is a bus or a tram better for a small town?"),
    ]
    return csv_of(("object1", "object2", "aspect", "wording"), rows)


SAMPLES = {
    "toloka": Sample("sample-crowd.tsv", _crowd, goals=("relevance", "judge")),
    "expert_workbook": Sample("sample-experts.xlsx", _experts),
    "final_labels": Sample("sample-final-labels.json", _final, goals=("relevance", "judge")),
    "silver": Sample("sample-comparisons.json", _silver, goals=("answers",)),
    "gold": Sample("sample-edited.json", _gold),
    "answers": Sample(ANSWER_FILE, lambda: json_of(_records()), goals=("answers",)),
    "questions": Sample("sample-questions.csv", _questions, goals=("answers",)),
    "table": Sample("sample-arguments.csv", _table, goals=("relevance", "judge")),
}


def fits_toloka(look: Look) -> str:
    """Recognize the columns of an export from a Toloka pool."""
    has_output = any(name.startswith("OUTPUT:") for name in look.columns)
    if not has_output or not look.has("ASSIGNMENT:task_id", "ASSIGNMENT:worker_id"):
        return ""
    return _("it has the columns OUTPUT:… and ASSIGNMENT:… of a Toloka pool")


def fits_experts(look: Look) -> str:
    """Recognize a workbook whose first sheet has the experts' columns."""
    if look.kind != "xlsx" or not look.bare >= {"comparison", "arguments", "relevance"}:
        return ""
    return _("its first sheet has the columns comparison, arguments and relevance")


def fits_final_labels(look: Look) -> str:
    """Recognize comparisons with labelled arguments."""
    arguments = look.first.get("arguments")
    if not look.has("obj1", "obj2") or not isinstance(arguments, list):
        return ""
    if not all(isinstance(argument, dict) for argument in arguments):
        return ""
    return _("each record has obj1, obj2 and a list of labelled arguments")


def fits_silver(look: Look) -> str:
    """Recognize comparisons with numbered arguments and answers."""
    if not look.has("object1", "object2", "arguments", "gpt_answers"):
        return ""
    return _("each record has numbered arguments and gpt_answers")


def fits_gold(look: Look) -> str:
    """Recognize comparisons with a list of texts."""
    if not look.has("object1", "object2") or not isinstance(look.first.get("comparison"), list):
        return ""
    return _("each record has a list of texts under “comparison”")


def fits_answers(look: Look) -> str:
    """Recognize one unscored answer per record."""
    is_text = isinstance(look.first.get("comparison"), str)
    if look.kind != "json" or not is_text or not look.has("object1", "object2"):
        return ""
    if look.has("score_dict"):
        return ""
    return _("each record has two objects and one answer under “comparison”")


def fits_questions(look: Look) -> str:
    """Recognize two objects per row without columns specific to arguments or answers."""
    columns = question_columns(look.columns)
    if not {"object1", "object2"} <= set(columns) or look.bare & {"text", "comparison", "label"}:
        return ""
    if look.has("gpt_answers") or look.has_points or fits_final_labels(look):
        return ""
    is_list = len(columns) > 2 or look.bare == {"object1", "object2"}
    if not is_list and not any(name.startswith(("argument", "sentence")) for name in look.bare):
        return ""
    return _("each row names two objects that can be compared, but no answer")


# Question codes from survey programs: Q1, Q2_4, Q2[SQ001].
_NUMBERED_QUESTION = re.compile(r"(?:G\d+)?Q(?:ID)?\d", re.IGNORECASE)


def fits_table(look: Look) -> str:
    """Recognize two objects and a sentence per row."""
    if is_own_export(look.columns):
        return _("its columns are those of a votes export from this site")
    mapping = guess_mapping(look.columns, look.rows)
    if not set(REQUIRED_FIELDS) <= set(mapping) or look.has_points:
        return ""
    if not isinstance(look.first.get(mapping["text"]), str):
        return ""
    if all(_NUMBERED_QUESTION.match(mapping[name]) for name in ("object1", "object2")):
        return ""
    named = _("its columns %(object1)s and %(object2)s are the two objects, %(text)s the sentence")
    return named % mapping
