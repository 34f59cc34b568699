"""The request that stands before an answer in training data: the one a run would send for it.

An answer is learned under the prompt of its scenario, with the numbered arguments it was written
from, so that every number it cites stands before it and a tuned model is trained on what it will
be asked. An answer that cites numbers under a scenario without arguments, or under none, gets the
prompt of the next scenario that shows them.
"""

from collections.abc import Iterable, Mapping, Sequence

from annotation.answers.methods.citations import find_citations
from annotation.answers.models.answers import Answer
from annotation.answers.reports.argument_lists import numbered_texts
from annotation.corpus.models.questions import Question
from annotation.generation.actions.prompts import PROMPTS, WITH_ARGUMENTS, parts_of, write_request
from cqa_site.judging.prompts import PromptParts, load_prompt_file
from cqa_site.people.models import Study

Messages = Sequence[Mapping[str, str]]
SHOWN = {"uses_aspect": True, "uses_wording": True}
PLAIN = {0: "answer_1", 1: "answer_1", 2: "answer_2", 3: "answer_3", 4: "answer_4"}
CITING = {0: "answer_2", 1: "answer_2", 2: "answer_2", 3: "answer_4", 4: "answer_4"}
AT_ONCE = 2_000


def cannot_be_asked(answers: Sequence[int]) -> set[int]:
    """Keys of answers that cite a number under which no argument is stored."""
    unfit = set()
    for start in range(0, len(answers), AT_ONCE):
        rows = Answer.objects.filter(pk__in=answers[start : start + AT_ONCE])
        found = list(rows.values_list("pk", "text", "argument_list_id"))
        lists = numbered_texts({key for _pk, _text, key in found if key is not None})
        unfit |= {
            pk for pk, text, key in found if not cited_numbers(text) <= lists.get(key, {}).keys()
        }
    return unfit


def requests_of(study: Study, answers: Iterable[Answer]) -> dict[int, Messages]:
    """Answer → chat messages that ask for it; a bounded number of queries."""
    rows = list(answers)
    lists = numbered_texts({row.argument_list_id for row in rows if row.argument_list_id})
    newest = _newest(study)
    return {row.pk: _request(row, lists.get(row.argument_list_id, {}), newest) for row in rows}


def bare_requests(study: Study, questions: Iterable[Question]) -> list[Messages]:
    """Questions as scenario 1 asks them: without arguments, so that nothing has to be drawn."""
    parts = _newest(study)["answer_1"]
    return [write_request(parts, question, SHOWN, None).messages for question in questions]


def cited_numbers(text: str) -> set[int]:
    """Every number that a text cites."""
    return {number for each in find_citations(text) for number in each.numbers}


def _request(
    answer: Answer, arguments: Mapping[int, str], newest: Mapping[str, PromptParts]
) -> Messages:
    kind = (CITING if cited_numbers(answer.text) else PLAIN)[answer.scenario]
    own = answer.prompt
    parts = parts_of(own) if own is not None and own.kind == kind else newest[kind]
    shown = arguments if kind in WITH_ARGUMENTS else None
    return write_request(parts, answer.question, SHOWN, shown).messages


def _newest(study: Study) -> dict[str, PromptParts]:
    """The newest prompt of each scenario; the project's own where the study has none yet."""
    stored = study.prompt_versions.filter(kind__in=PROMPTS).order_by("number")
    found = {version.kind: parts_of(version) for version in stored}
    for kind in PROMPTS.keys() - found.keys():
        own = load_prompt_file(PROMPTS[kind].file).parts
        found[kind] = PromptParts(own.system, own.user, PROMPTS[kind].layout)
    return found
