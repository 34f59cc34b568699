"""Answers with every kind of citation, experts' versions of them, vectors without a model."""

import hashlib
import json
import uuid

import numpy as np

from annotation.consensus.models import FinalLabel
from annotation.editing.actions import rounds as editing_rounds
from annotation.editing.models import EditingRound, EditingSheet, Revision
from annotation.faithfulness.actions import figures
from annotation.faithfulness.actions.coherence import KIND, PROMPTS, target_of
from annotation.labelling.models import label_rounds_of
from cqa_site.judging.embedding import EmbeddingsUnavailable
from cqa_site.people.models import Study, User
from cqa_site.rounds.lifecycle import close_round, open_round
from cqa_site.runs import jobs
from cqa_site.runs.actions.endpoints import first_prompts
from cqa_site.runs.actions.runs import RunPlan
from cqa_site.runs.models import Endpoint, Job, Run
from cqa_site.tabular.cells import text_key
from tests.annotation.made_answers import make_answer, make_list, make_question
from tests.cast import make_label_round
from tests.runs.made_runs import carry_run

# Sentences of the list are "tea beats coffee in point 0." and so on, numbered from 1.
TEXT = """Summary:
Tea beats coffee in point 0 and in other ways [1].

Main Aspects:
- Points: Tea beats coffee in point 1 [2, 3].
- Price: Tea costs far less everywhere [9].
- Taste: Coffee tastes much stronger [generated].
- Sleep: Tea keeps nobody awake.

Best Option:
Tea [2 and see above]"""


def make_faithful(study: Study, questions: int = 3, choices: int = 1, text: str = TEXT) -> list:
    """Answers of one model to some questions; arguments 1 and 2 of each list are relevant."""
    name = f"Labels {label_rounds_of(study).count()}"
    label_round = make_label_round(study, ordinary=0, controls=0, name=name)
    answers = []
    for number in range(questions):
        question = make_question(study, ("tea", f"coffee {number}" if number else "coffee"))
        listed = make_list(question)
        for entry, label in zip(listed.entries.order_by("number"), (3, 2, 0), strict=True):
            FinalLabel.objects.create(
                label_round=label_round, argument=entry.argument, label=label, provenance="votes"
            )
        answers += [
            make_answer(question, text=text, listed=listed, choice=choice)
            for choice in range(1, choices + 1)
        ]
    return answers


def compute(study: Study, embedding: str = "") -> Job:
    """Ask for the figures and let the worker make them."""
    job = figures.request_figures(study=study, embedding=embedding)
    jobs.drain()
    job.refresh_from_db()
    return job


def make_closed_round(study: Study, experts: list[User], actor: User, *, calibration: int = 1):
    """A round over the answers of the study, each expert with the calibration answers alone."""
    name = f"Calibration {EditingRound.objects.filter(study=study).count()}"
    sizes = {"calibration": calibration, "individual": 0, "leave": editing_rounds.LEAVE_NOTHING}
    plan = editing_rounds.EditingPlan(name=name, seed=1, experts=tuple(experts), **sizes)
    planned = editing_rounds.plan_round(study=study, plan=plan, actor=actor)
    open_round(round_=planned, actor=actor)
    close_round(round_=planned, actor=actor)
    planned.refresh_from_db()
    return planned


def hand_in(sheet: EditingSheet, text: str, seconds: int = 60) -> Revision:
    """The next revision of a sheet."""
    return Revision.objects.create(
        sheet=sheet,
        number=sheet.events.count() + 1,
        content={"text": text, "reasons": [], "comment": ""},
        text_sha256=text_key(text),
        active_seconds=seconds,
        client_key=uuid.uuid4().hex,
    )


class WordVectors:
    """Stands for `SentenceEmbedder`: equal words give equal vectors, and nothing is loaded."""

    def __init__(self, model: str) -> None:
        self.name = model
        self.read: list[str] = []

    def encode(self, texts, progress=None):
        self.read += texts
        return np.stack([vector_of(text) for text in texts]) if texts else np.zeros((0, 16))


class NoVectors(WordVectors):
    """A model that is not there."""

    def encode(self, texts, progress=None):
        raise EmbeddingsUnavailable("The weights are missing.")


def vector_of(text: str):
    """Of length 1, the same wherever it is made."""
    vector = np.zeros(16, dtype=np.float32)
    for word in text.casefold().split():
        vector[int(hashlib.sha256(word.encode()).hexdigest(), 16) % 16] += 1
    return vector / max(float(np.linalg.norm(vector)), 1e-6)


def say(is_coherent: bool = True) -> str:
    """A usable reply of the coherence judge."""
    return json.dumps({"reason": "It says the same.", "coherent": is_coherent})


def say_by_number(request) -> str:
    """Citations of number 3 are not coherent; others are."""
    return say("Number: 3\n" not in request.messages[-1]["content"])


def make_coherence(
    study: Study, endpoint: Endpoint, actor: User, answer=say_by_number, **chosen
) -> Run:
    """A run over the citations of the study, carried as far as it goes by itself."""
    usual = {
        "kind": KIND,
        "endpoint": endpoint,
        "prompt": first_prompts(study, PROMPTS, actor)[0],
        "target": target_of(**chosen.pop("target", {})),
        "params": {"temperature": 0, "max_tokens": 200},
        "preflight": "off",
    }
    return carry_run(study, actor, answer, RunPlan(**usual | chosen))
