"""A round, a scripted endpoint and a started run, for the tests of the engine."""

import json
from collections.abc import Callable
from unittest import mock

import pytest

from annotation.judges.actions.relevance_judge import PROMPTS, target_of
from annotation.labelling.models import LabelRound
from cqa_site.people.models import Role, Study, User
from cqa_site.runs.actions.endpoints import create_endpoint, first_prompts
from cqa_site.runs.actions.runs import RunPlan, start_run
from cqa_site.runs.carrying import clients
from cqa_site.runs.models import Endpoint, Run
from tests.cast import make_label_round, make_member, make_study
from tests.judging.scripted import ScriptedClient

# Where nobody answers.
ENDPOINT = {
    "base_url": "https://models.example/v1", "model": "stub-1", "price_in": 1, "price_out": 2,
}  # fmt: skip


def good(label: int = 2) -> str:
    """A usable answer of the single form."""
    return json.dumps({"reason": "It compares both.", "label": label})


def answer_by_text(request) -> str:
    """A label that depends on the prompt, so that values spread."""
    return good(sum(map(ord, request.messages[-1]["content"])) % 4)


class Lab:
    """One study with a round, an endpoint and somebody who starts runs."""

    def __init__(self, items: int = 30) -> None:
        self.study: Study = make_study()
        self.researcher: User = make_member(self.study, Role.RESEARCHER)
        self.label_round: LabelRound = make_label_round(self.study, ordinary=items, controls=0)
        self.single, self.batch = first_prompts(self.study, PROMPTS, self.researcher)
        self.endpoint = self.make_endpoint("Stub")

    def make_endpoint(self, name: str, **values) -> Endpoint:
        """An endpoint nobody can reach; it is probed already."""
        values = {"name": name} | ENDPOINT | values
        endpoint = create_endpoint(study=self.study, actor=self.researcher, values=values)
        Endpoint.objects.filter(pk=endpoint.pk).update(probed_at="2026-01-01T00:00Z")
        endpoint.refresh_from_db()
        return endpoint

    def plan(self, **values) -> RunPlan:
        """A plan over the whole round that asks nothing before it goes on."""
        chosen = {"endpoint": self.endpoint, "prompt": self.single}
        chosen |= {"kind": "relevance", "target": target_of(self.label_round), "preflight": "off"}
        chosen |= {"params": {"temperature": 0, "max_tokens": 200}}
        return RunPlan(**chosen | values)

    def start(self, **values) -> Run:
        """Start a run; with jobs inline it is over when the transaction's hooks ran."""
        return start_run(study=self.study, actor=self.researcher, plan=self.plan(**values))


def outlasting(answer: Callable | list) -> ScriptedClient:
    """A client by a script; the engine closes a lane's client, and this serves all of them."""
    client = ScriptedClient(answer)
    client.close = mock.AsyncMock()
    return client


def script(monkeypatch: pytest.MonkeyPatch, answer: Callable | list) -> ScriptedClient:
    """Let every remote endpoint answer from a script."""
    client = outlasting(answer)
    monkeypatch.setitem(clients.MAKERS, Endpoint.Kind.REMOTE, lambda endpoint: client)
    return client
