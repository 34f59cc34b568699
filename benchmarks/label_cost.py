"""Processor time and statements per submit for each kind of task, compared with a bare view.

    .venv/bin/python -m benchmarks.label_cost [--submits 200]

Everything runs in one process through the same middleware, on SQLite, without a server or a
network. The bare view reads session and user, inserts one row and updates one, which is the cost
of any view that stores something. The kinds of rounds alternate with it, so that ratios within a
run can be compared. The kinds differ in their responses: a label returns the next items, a sheet
the next page.
"""

import argparse
import os
import statistics
import tempfile
import time
from typing import Any

from benchmarks.http_annotator import Annotator, SheetWorker

KINDS = ("label", "score", "count", "prefer", "edit")
WARM_UP = 20
HEAD = f"{'kind':8}{'submits':>8}{'ms, median':>12}{'ms, mean':>10}{'x bare':>8}{'statements':>12}"


class InProcess:
    """Mix-in for annotators: requests go directly to Django, and submits are measured."""

    client: Any
    costs: list[float]
    statements: list[int] | None = None

    def request(
        self, method: str, path: str, fields: dict[str, Any] | None = None
    ) -> tuple[int, bytes]:
        """Send one request; return status and body."""
        is_submit = bool(fields) and "client_key" in (fields or {})
        headers = {"Accept": "application/json" if is_submit else "text/html"}
        if is_submit:
            headers["Prefer"] = "return=representation"
        begun = time.process_time()
        with counted(self.statements if is_submit else None):
            reply = getattr(self.client, method.lower())(path, fields or {}, headers=headers)
        if is_submit:
            self.costs.append(time.process_time() - begun)
        if method == "GET" and reply.status_code == 302:
            return self.request("GET", reply["Location"])
        self.address = reply.get("Content-Location", path)
        self.queries = 0
        return reply.status_code, reply.content


class Labels(InProcess, Annotator):
    """Labels one item after another."""


class Sheets(InProcess, SheetWorker):
    """Fills one sheet after another."""


class counted:  # a context manager
    """Append the number of statements in the block to a list; do nothing without a list."""

    def __init__(self, numbers: list[int] | None) -> None:
        self.numbers = numbers

    def __enter__(self) -> None:
        if self.numbers is not None:
            from django.db import connection
            from django.test.utils import CaptureQueriesContext

            self.captured = CaptureQueriesContext(connection)
            self.captured.__enter__()

    def __exit__(self, *error: object) -> None:
        if self.numbers is not None:
            self.captured.__exit__(*error)
            self.numbers.append(len(self.captured))


def bare(request: Any) -> Any:
    """Insert one row and update one in a transaction, for a signed-in user."""
    from django.db import transaction
    from django.http import JsonResponse

    from cqa_site.people.models import AuditEvent, Membership

    with transaction.atomic():
        event = AuditEvent.objects.create(actor=request.user, verb="bare", subject="bare")
        Membership.objects.filter(user=request.user).update(is_active=True)
    return JsonResponse({"saved": event.pk})


def worker_of(kind: str, submits: int) -> Any:
    """Return a signed-in annotator of an open round of this kind."""
    from django.test import Client

    from benchmarks.made_rounds import make
    from cqa_site.people.models import User

    items = {"kind": kind, "items": submits + 120, "controls": 40, "votes": 2, "people": 1}
    _study, _round, base = make(items | {"password": "a pass phrase for nobody"})
    person = User.objects.get(email="a0@bench.example")
    client = Client()
    client.force_login(person, backend="allauth.account.auth_backends.AuthenticationBackend")
    made = Labels(0, base, 1) if kind == "label" else Sheets(0, base, 1, kind)
    made.client, made.costs = client, []
    return made


def run(kind: str, worker: Any, submits: int) -> None:
    """Submit until ``submits`` costs have been recorded."""
    deadline = time.monotonic() + 600
    while len(worker.costs) < submits:
        state = worker.label_until_done(min(deadline, time.monotonic() + 1))
        if state != "deadline":
            raise SystemExit(f"{kind}: {state} after {len(worker.costs)} submits")


def bare_costs(client: Any, submits: int) -> list[float]:
    """Return the processor seconds of each call of the bare view."""
    costs = []
    for _submit in range(submits):
        begun = time.process_time()
        reply = client.post("/bare/", {})
        costs.append(time.process_time() - begun)
        assert reply.status_code == 200, reply.content
    return costs


def measure(submits: int) -> None:
    """Print a row for each kind, followed by the bare view measured at the same time."""
    from django.core.management import call_command
    from django.urls import path

    import cqa_site.urls

    cqa_site.urls.urlpatterns.append(path("bare/", bare))
    print(HEAD)
    for kind in KINDS:
        worker = worker_of(kind, submits)
        run(kind, worker, WARM_UP)
        bare_costs(worker.client, WARM_UP)
        worker.costs.clear()
        base = bare_costs(worker.client, submits // 2)
        run(kind, worker, submits - 20)
        base += bare_costs(worker.client, submits // 2)
        costs, worker.statements = list(worker.costs), []
        run(kind, worker, len(costs) + 10)
        usual = statistics.median(base)
        row(kind, costs, usual, worker.statements)
        row("(bare)", base, usual, [])
        call_command("flush", verbosity=0, interactive=False)


def row(name: str, costs: list[float], usual: float, statements: list[int]) -> None:
    """Print one row."""
    median, mean = statistics.median(costs), statistics.fmean(costs)
    shown = f"{statistics.median(statements):12.0f}" if statements else " " * 12
    times = f"{1000 * median:12.2f}{1000 * mean:10.2f}{median / usual:8.2f}"
    print(f"{name:8}{len(costs):8}{times}{shown}")


def main() -> None:
    """Create a throw-away site and measure in it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submits", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "cqa_site.settings",
            "DATA_DIR": folder,
            "STATIC_ROOT": f"{folder}/static",
            "ALLOWED_HOSTS": "testserver,localhost",
        }
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0, interactive=False)
        call_command("createcachetable", verbosity=0)
        call_command("collectstatic", verbosity=0, interactive=False)
        measure(options.submits)


if __name__ == "__main__":
    main()
