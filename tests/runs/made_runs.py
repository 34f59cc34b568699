"""Runs that really ran, with a scripted endpoint, for tests of pages."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from unittest import mock

from annotation.judges.actions.relevance_judge import PROMPTS, SINGLE, target_of
from annotation.labelling.models import LabelRound
from cqa_site.people.models import Study, User
from cqa_site.runs.actions.endpoints import create_endpoint, first_prompts, save_prompt
from cqa_site.runs.actions.runs import RunPlan, start_run
from cqa_site.runs.carrying import clients
from cqa_site.runs.carrying.worker import drain_inline
from cqa_site.runs.models import Endpoint, PromptVersion, Run
from cqa_site.runs.planning import write_calls
from tests.runs.judging import ENDPOINT, answer_by_text, outlasting

SENTINEL = "sk-SENTINEL-0123456789abcdef-WXYZ"
_in_its_own_thread = asyncio.run


def _run_elsewhere(work):
    """A browser test's thread has an event loop of its own; a request needs another thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(_in_its_own_thread, work).result()


def make_endpoint(study: Study, actor: User, name: str = "Stub", **values) -> Endpoint:
    """A probed endpoint with a key, where nobody answers."""
    values = {"name": name} | ENDPOINT | values
    endpoint = create_endpoint(study=study, actor=actor, values=values, key=SENTINEL)
    schema = {"works": True, "evidence": "the reply kept to a schema of one field"}
    found = {"json_schema": schema, "logprobs": {"works": False, "evidence": "HTTP 400"}}
    Endpoint.objects.filter(pk=endpoint.pk).update(
        probed_at="2026-01-01T00:00Z", capabilities=found
    )
    endpoint.refresh_from_db()
    return endpoint


def first_prompt(study: Study, actor: User) -> PromptVersion:
    """The single form as it comes with the project."""
    first_prompts(study, PROMPTS, actor)
    return study.prompt_versions.get(kind=SINGLE, number=1)


def make_prompt(study: Study, actor: User) -> PromptVersion:
    """A second version of the single form, which no run has used."""
    first = first_prompt(study, actor)
    system = first.system.replace("You rate sentences", "You judge sentences")
    texts = {"name": "Shorter", "system": system, "user": first.user}
    note = "judge instead of rate"
    return save_prompt(study=study, actor=actor, kind=first.kind, note=note, **texts)


def make_run(
    label_round: LabelRound,
    endpoint: Endpoint,
    actor: User,
    answer: Callable = answer_by_text,
    **chosen,
) -> Run:
    """Start a run over a round and carry it as far as it goes by itself."""
    plan = {
        "kind": "relevance",
        "endpoint": endpoint,
        "prompt": first_prompt(label_round.study, actor),
        "target": target_of(label_round),
        "params": {"temperature": 0, "max_tokens": 200},
    }
    return carry_run(label_round.study, actor, answer, RunPlan(**plan | chosen))


@contextmanager
def scripted(answer: Callable) -> Iterator[None]:
    """Every endpoint answers by the script, whatever drains and whichever loop runs."""
    client = outlasting(answer)
    makers = {Endpoint.Kind.REMOTE: lambda endpoint: client}
    with mock.patch.dict(clients.MAKERS, makers), mock.patch("asyncio.run", _run_elsewhere):
        yield


def carry_run(study: Study, actor: User, answer: Callable, plan: RunPlan) -> Run:
    """Start a run of any kind and carry it as far as it goes by itself."""
    with scripted(answer):
        run = start_run(study=study, actor=actor, plan=plan)
        # Where the test is one transaction, nothing was rung for.
        write_calls(run)
        drain_inline()
    run.refresh_from_db()
    return run
