"""5,000 waiting jobs of one person: an import of somebody else does not wait for them."""

import os
import time

import pytest

from tests.faults.fault_site import wait_until
from tests.faults.nursery import Nursery, output_of
from tests.faults.test_brokers import listens

BACKLOG = 5_000
DEADLINE = 5.0
BROKERS = {
    "filesystem": ("filesystem://", 0),
    "redis": (os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379/5"), 6379),
    "rabbitmq": (os.environ.get("TEST_AMQP_URL", "amqp://guest:guest@127.0.0.1:5672//"), 5672),
}
# Each job holds a thread of the worker for as long as a small export does.
HANDLER = """
import time
from cqa_site.runs import jobs
jobs.handles("drill")(lambda work: time.sleep(0.05))
"""
BACKLOG_OF_ONE = """
import sys
import django
django.setup()
from django.db import transaction
from cqa_site.people.models import Study, User
from cqa_site.runs import jobs
study, actor = Study.objects.get(), User.objects.get(email="a0@bench.example")
with transaction.atomic():
    for number in range(int(sys.argv[1])):
        jobs.enqueue(study=study, kind="drill", key=str(number), actor=actor)
"""
IMPORT = """
import django
django.setup()
from cqa_site.files.actions.files import request_apply, store_upload
from cqa_site.files.actions.import_jobs import check_import
from cqa_site.files.formats import FORMATS
from cqa_site.people.models import Study, User
study, actor = Study.objects.get(), User.objects.get(email="boss@bench.example")
sample = FORMATS["argument_list"].sample
file = store_upload(
    study=study, kind="argument_list", name="list.csv", chunks=[sample.make()], actor=actor,
    options=dict(sample.options),
)
check_import(import_file=file)
file.refresh_from_db()
request_apply(import_file=file, leave_out_rejected=False, update_changed=False, actor=actor)
"""
PURGE = """
from cqa_site.celery import app
app.control.purge()
"""
STATES = "SELECT state, count(*) FROM runs_job WHERE kind {} 'drill' GROUP BY state"


def states(site, comparison: str) -> dict[str, int]:
    return dict(site.sql(STATES.format(comparison)))


@pytest.mark.long
@pytest.mark.parametrize(
    ("site", "broker"),
    [("sqlite", "filesystem"), ("postgres", "redis"), ("postgres", "rabbitmq")],
    indirect=["site"],
)
def test_an_import_does_not_wait_for_the_jobs_of_another_person(site, broker):
    url, port = BROKERS[broker]
    if port and not listens(port):
        pytest.skip(f"no broker listens on 127.0.0.1:{port}")
    with Nursery(site.environment, CELERY_BROKER_URL=url) as nursery:
        output_of(nursery.later(BACKLOG_OF_ONE, str(BACKLOG)), 300)
        nursery.celery(f"fair-{broker}", after=HANDLER)
        try:
            wait_until(lambda: states(site, "=").get("done", 0) > 20, 60)
            nursery.python(IMPORT)
            asked = time.monotonic()
            wait_until(
                lambda: states(site, "<>") == {"done": 1},
                DEADLINE,
                lambda: f"{states(site, '<>')}, of the other person {states(site, '=')}",
                every=0.02,
            )
            print(f"imported within {time.monotonic() - asked:.2f} s")
            assert states(site, "=")["ready"] > BACKLOG / 2
        finally:
            nursery.kill_all()
            nursery.python(PURGE)
            # So that the jobs can be deleted.
            site.sql("UPDATE files_importfile SET job_id = NULL")
    assert not site.sql("SELECT id FROM runs_job WHERE losses > 0 OR fence > 1")
    site.check_integrity()
