"""A small site with a backup of it, and empty databases to restore into."""

import shutil
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from django.apps import apps
from django.core.management import call_command
from django.db import connections

from annotation.judges.actions.relevance_judge import target_of
from annotation.labelling.models import LabelRound
from cqa_site.people.models import User
from cqa_site.runs import jobs
from cqa_site.runs.actions.runs import RunPlan, start_run
from cqa_site.runs.ledger import gates
from cqa_site.runs.models import Endpoint, Run
from cqa_site.upkeep.backups.tables import SQLITE, registered, with_file
from tests import cast
from tests.annotation.retrieval.made_retrieval import make_corpus
from tests.conftest import written_by_hand
from tests.runs.made_runs import first_prompt, make_endpoint

PASSPHRASE = "correct horse battery"
SECRET = "sk-a-key-of-an-endpoint-0123"
TEXT = "Tea – “naïve” 𝕏,\n\ttwo lines\\ and a \\. of COPY"
UPLOAD = b"object1,object2\n" * 5000
NUMBERS = {"b": [1.0, 1e16, -0.0, 2.5e-7, 10**20], "a": {"z": None, "y": TEXT}, "ä": True}


def make_lab() -> Endpoint:
    """One study with people, a round, a run under way, and an endpoint with rare values."""
    study = cast.make_study("Bär & Söhne")
    boss = cast.make_member(study, "admin")
    label_round = cast.make_label_round(study)
    make_corpus(study)
    study.description = TEXT
    study.save()
    endpoint = make_endpoint(study, boss, price_in="0.123456")
    start_under_way(label_round, endpoint, boss)
    endpoint.capabilities = NUMBERS
    gates.set_key(endpoint, SECRET)
    endpoint.save()
    return endpoint


def start_under_way(label_round: LabelRound, endpoint: Endpoint, actor: User) -> None:
    """A run that has sent nothing yet, beside a job that plans it."""
    plan = RunPlan(
        kind="relevance",
        endpoint=endpoint,
        prompt=first_prompt(label_round.study, actor),
        target=target_of(label_round),
        params={"max_tokens": 200},
    )
    with mock.patch.object(jobs, "ring"):
        run = start_run(study=label_round.study, actor=actor, plan=plan)
    Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING)


def make_empty(path: Path) -> None:
    """A database file with all tables and no row."""
    path.touch()
    with registered("empty", with_file(path)) as alias:
        make_tables(alias)


def make_tables(alias: str) -> None:
    call_command("migrate", database=alias, run_syncdb=True, verbosity=0)
    with connections[alias].schema_editor() as editor:
        for operation in written_by_hand():
            operation.code(apps, editor)


def config_of(path: Path) -> dict:
    return {"ENGINE": SQLITE, "NAME": str(path), "OPTIONS": {}}


def copy_of(path: Path, folder: Path) -> dict:
    """Settings of a copy of an empty file."""
    folder.mkdir(parents=True, exist_ok=True)
    return config_of(Path(shutil.copy(path, folder / "site.sqlite3")))


@contextmanager
def opened(config: dict):
    """The alias of a database, for queries."""
    with registered("looked-at", config) as alias:
        yield alias


def flipped(source: Path, target: Path, at: int) -> Path:
    """A copy in which one bit is another."""
    content = bytearray(source.read_bytes())
    content[at] ^= 4
    target.write_bytes(content)
    return target
