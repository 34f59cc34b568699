"""A judging site for fault tests: quick processes, facts about a run, and what must hold."""

import json
import re
import sqlite3
import time
from collections import Counter
from dataclasses import dataclass, field

import psycopg

from benchmarks.judging_site import START, JudgingSite
from tests.faults.fault_scripts import FACTS, INTEGRITY, STEER
from tests.faults.nursery import Nursery
from tests.judging.llmstub import StubServer

RUN_TABLES = (
    "argsum_codedstatement", "argsum_proposedlist", "argsum_pointchange", "argsum_placement",
    "argsum_signoff", "argsum_foundpoint", "argsum_analysis", "annotation_judgelabel",
    "annotation_answer", "annotation_generationrun", "runs_attempt", "runs_call",
    "annotation_relevancerun", "runs_run", "runs_budget", "runs_reply", "runs_gate", "runs_job",
)  # fmt: skip


def case_of(document: dict) -> int:
    """The number in the sentence that a request asks about."""
    return int(re.search(r"in case (\d+)\.", document["messages"][-1]["content"])[1])


# Of every site here; where they differ from the usual ones is said there.
SETTINGS = "tests.faults.settings"


@dataclass
class Judge:
    """Answers for the stub that tests can verify, and how often each sentence was answered."""

    paid: Counter[int] = field(default_factory=Counter)

    def __call__(self, document: dict) -> str:
        case = case_of(document)
        self.paid[case] += 1
        return json.dumps({"reason": f"Reason {case}.", "label": case % 4})


@dataclass
class FaultSite(JudgingSite):
    """A site whose Python runs in forks, and whose database can be asked directly."""

    settings: str = SETTINGS
    nursery: Nursery | None = None
    judge: Judge = field(default_factory=Judge)
    made: int = 0

    @property
    def is_postgres(self) -> bool:
        return bool(self.database_url)

    def python(self, *arguments: str, **variables: str) -> str:
        """As in every site; code goes to the nursery, where starting costs nothing."""
        if self.nursery and arguments[0] == "-c":
            return self.nursery.python(*arguments[1:])
        return super().python(*arguments, **variables)

    def stub(self, **conduct) -> StubServer:
        """A stub on the one port that the site may reach, with a fresh judge."""
        self.judge = Judge()
        return StubServer(port=self.stub_port, answer=self.judge, **conduct)

    def offer(self, stub: StubServer, *, limit: int = 64, deadline: int = 5) -> str:
        """Make an endpoint for the stub; return its name."""
        self.made += 1
        name = f"Stub {self.made}"
        self.add_endpoint(stub.base_url, limit=limit, deadline=deadline, name=name)
        return name

    def begin(
        self, stub: StubServer, *, limit: int = 64, deadline: int = 5, first: str = "", **values
    ) -> str:
        """Start a run on an endpoint of its own; ``first`` is code that runs before."""
        name = self.offer(stub, limit=limit, deadline=deadline)
        return self.python("-c", first + START, json.dumps({"endpoint": name} | values)).split()[
            -1
        ]

    def steer(self, run: str, verb: str, **values) -> None:
        """Pause, resume, cancel, … a run, as its researcher."""
        self.python("-c", STEER, run, verb, json.dumps(values))

    def sql(self, text: str) -> list[tuple]:
        """Run one statement, committed; rows if it has any."""
        if self.is_postgres:
            with psycopg.connect(self.database_url, autocommit=True) as connection:
                cursor = connection.execute(text)
                return cursor.fetchall() if cursor.description else []
        connection = sqlite3.connect(self.folder / "site.sqlite3", timeout=20)
        try:
            with connection:
                return connection.execute(text).fetchall()
        finally:
            connection.close()

    def is_locked(self) -> bool:
        """Whether somebody holds SQLite's lock for writing now; PostgreSQL has none."""
        if self.is_postgres:
            return False
        connection = sqlite3.connect(self.folder / "site.sqlite3", timeout=0, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
        else:
            connection.execute("ROLLBACK")
            return False
        finally:
            connection.close()

    def state_of(self, run: str) -> str:
        """The state of a run."""
        return self.sql(f"SELECT state FROM runs_run WHERE public_id = '{self.key(run)}'")[0][0]

    def has_planned(self) -> bool:
        """Whether no job waits or is being done."""
        return not self.sql("SELECT id FROM runs_job WHERE state IN ('ready', 'leased')")

    def leases(self) -> set[tuple[int, int]]:
        """Call and fence of everything in flight."""
        return set(self.sql("SELECT id, fence FROM runs_call WHERE state = 'leased'"))

    def lost(self) -> set[tuple[int, int]]:
        """Call and fence of every attempt whose worker died or was too late."""
        return set(
            self.sql("SELECT call_id, fence FROM runs_attempt WHERE outcome IN ('lost', 'stale')")
        )

    def forget_runs(self) -> None:
        """Delete every run with all that hangs on it."""
        for table in RUN_TABLES:
            self.sql(f"DELETE FROM {table}")
        if not self.is_postgres:
            # No room left inside the file for the scenario that fills the disk.
            self.sql("VACUUM")

    def attempts(self) -> int:
        """How often any call left."""
        return self.sql("SELECT count(*) FROM runs_attempt")[0][0]

    def key(self, run: str) -> str:
        """A run's id as the database keeps it."""
        return run if self.is_postgres else run.replace("-", "")

    def stale(self) -> int:
        """Attempts that came too late."""
        return self.sql("SELECT count(*) FROM runs_attempt WHERE outcome = 'stale'")[0][0]

    def ended(self) -> int:
        """Results in the database."""
        return self.sql("SELECT count(*) FROM annotation_judgelabel")[0][0]

    def wait(self, run: str, seconds: float, state: str = "done") -> None:
        """Until the run is in a state."""
        wait_until(lambda: self.state_of(run) == state, seconds, lambda: self.summary(run))

    def summary(self, run: str) -> dict:
        """The facts without those for each sentence."""
        by_case = ("labels", "lost", "stored", "timeouts")
        return {name: fact for name, fact in self.facts(run).items() if name not in by_case}

    def facts(self, run: str) -> dict:
        """What the ledger says about a run; numbers of sentences are strings."""
        return json.loads(self.python("-c", FACTS, run).splitlines()[-1])

    def check(self, run: str, *, kept: int | None = None) -> dict:
        """What must hold after every scenario; returns the facts.

        Every planned call ended with one result, every label is the one the judge gave, each
        paid answer is kept or belongs to an attempt that was lost or ran out of time, and all
        invariants hold. ``kept`` is how many results there must be, if not all.
        """
        self.check_integrity()
        facts = self.facts(run)
        assert facts["state"] == "done", facts
        ended = facts["calls"].get("done", 0) + facts["calls"].get("unscored", 0)
        assert ended == facts["planned"] == facts["rows"] == len(facts["labels"])
        labels = {int(case): label for case, label in facts["labels"].items()}
        scored = {case: label for case, label in labels.items() if label is not None}
        assert {case: case % 4 for case in scored} == scored
        assert len(scored) == facts["calls"].get("done", 0)
        if kept is not None:
            assert len(scored) == kept, facts["reasons"]
        assert facts["reserved"] == 0
        self.check_paid(facts)
        return facts

    def check_integrity(self) -> None:
        """`manage.py check_integrity` finds nothing."""
        assert "Every invariant holds" in self.python("-c", INTEGRITY)

    def check_paid(self, facts: dict) -> None:
        """No sentence was answered more often than its attempts explain."""
        for case, paid in self.judge.paid.items():
            stored = facts["stored"].get(str(case), 0)
            unkept = facts["lost"].get(str(case), 0) + facts["timeouts"].get(str(case), 0)
            assert stored <= paid <= stored + unkept, (case, paid, stored, unkept)


def wait_until(is_so, seconds: float, about=lambda: "", every: float = 0.1) -> None:
    """Ask again and again; fail with what ``about`` says."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, f"not within {seconds} s: {about()}"
        time.sleep(every)
