"""A scripted language model that proposes key points and assigns statements by their words."""

import json
import re

from argsum.analysis.actions.themes import sign_off
from argsum.analysis.models import Analysis
from argsum.coding.actions import assignment, proposal
from argsum.coding.actions.prompts import ASSIGNMENT_PROMPTS, PROPOSAL_PROMPTS
from cqa_site.judging.chat import ChatRequest
from cqa_site.people.models import User
from cqa_site.runs.actions.runs import RunPlan
from cqa_site.runs.models import Endpoint
from tests.argsum.analysis.made_writing import WORDS, blocks, model_plan

TEXTS = {
    "quiet": "The library is quiet.",
    "parking": "There is too little parking.",
    "catalogue": "The new catalogue is good.",
}


def step_of(request: ChatRequest) -> str:
    """Which step of a proposal a request is: read or merge."""
    return re.search(r"^Step: (\w+)$", request.messages[-1]["content"], re.MULTILINE)[1]


def words_in(text: str) -> list[str]:
    return [word for word in WORDS if word in text.lower()]


def list_of(*entries: tuple[str, str, list[int]]) -> str:
    """A reply of key points: theme, text, numbers of records."""
    names = ("theme", "key_point", "from")
    return json.dumps({"key_points": [dict(zip(names, entry, strict=True)) for entry in entries]})


def proposes(request: ChatRequest) -> str:
    """One key point for each theme that the records name, under its word."""
    (records,) = blocks(request)
    found: dict[str, list[int]] = {}
    for record in records:
        for word in words_in(record.get("statement") or record["key_point"]):
            found.setdefault(word, []).append(record["id"])
    # Each sample has words of its own; merging finds those that all agree on.
    own = f", says {records[0]['id']} of {len(records)}: {records[0].get('statement', '')[:9]}"
    end = "." if step_of(request) == "merge" else f"{own}."
    entries = ((word.title(), TEXTS[word][:-1] + end, ids) for word, ids in found.items())
    return list_of(*entries)


def codes_of(request: ChatRequest) -> dict[str, list[str]]:
    """For each statement of a request the codes of the key points that name its themes."""
    codebook, statements = blocks(request)
    codes = {word: each["code"] for each in codebook for word in words_in(each["key_point"])}
    return {
        each["id"]: [codes[word] for word in words_in(each["statement"]) if word in codes]
        or ["none"]
        for each in statements
    }


def says_codes(codes: dict[str, list[str]]) -> str:
    entries = [{"id": name, "reason": "It says so.", "codes": own} for name, own in codes.items()]
    return json.dumps({"statements": entries})


def assigns(request: ChatRequest) -> str:
    return says_codes(codes_of(request))


def statements_in(request: ChatRequest) -> dict[str, str]:
    """The statements that a request shows, by their ids."""
    return {each["id"]: each["statement"] for each in blocks(request)[1]}


def proposal_plan(analysis: Analysis, endpoint: Endpoint, actor: User, **chosen) -> RunPlan:
    """Samples of four statements, all at once."""
    sizes = {"requests": 3, "sample": 4, "points": 5, "themes": 3, "words": 8}
    chosen["target"] = proposal.target_of(analysis, **sizes | chosen.pop("sizes", {}))
    return model_plan(proposal.KIND, PROPOSAL_PROMPTS, analysis, endpoint, actor, **chosen)


def assignment_plan(analysis: Analysis, endpoint: Endpoint, actor: User, **chosen) -> RunPlan:
    """Four statements a request, all at once."""
    sizes = {"batch_size": 4, "most_codes": 2}
    chosen["target"] = assignment.target_of(analysis, **sizes | chosen.pop("sizes", {}))
    return model_plan(assignment.KIND, ASSIGNMENT_PROMPTS, analysis, endpoint, actor, **chosen)


def sign(analysis: Analysis, actor: User):
    analysis.refresh_from_db()
    return sign_off(analysis=analysis, actor=actor, seen=analysis.revision)
