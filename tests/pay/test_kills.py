"""The platform against a site that is killed on the way: one outcome and one payment each."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from benchmarks.label_round_server import ROOT, LabelRoundServer
from cqa_site.pay.stand_in import PlatformStandIn

pytestmark = pytest.mark.long

PEOPLE, DELIVERIES, KILLS = 1_000, 13, 5
PATIENCE_SECONDS, SLOWEST_SECONDS = 90, 1.5
FILL = """
import json, sys
from datetime import timedelta
from decimal import Decimal
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.db import transaction
from django.contrib.sessions.backends.db import SessionStore
from cqa_site.pay.stand_in import HOOK_SECRET, STUDY, TOKEN
from cqa_site.people.views.sign_in import BACKEND
from cqa_site.rounds.crowd.platform import connect_link
from tests.pay.crowd import Crowd

@transaction.atomic
def prepare(people, works):
    plan = {"ordinary": 20, "votes_per_item": 60}
    fields = {"max_participants": 5000, "required_items": 1, "item_bonus": Decimal("0.10")}
    crowd = Crowd(plan=plan, **fields)
    about = {"platform_study": STUDY, "hook_secret": HOOK_SECRET, "api_token": TOKEN}
    connect_link(link=crowd.link, actor=crowd.researcher, **about)
    for number in range(people):
        ids = {"participant": f"PID{number:05}", "session": f"SUB{number:05}"}
        person = crowd.come(number, is_verified=True, **ids)
        works(crowd, person)
    session = SessionStore()
    session[SESSION_KEY] = str(crowd.researcher.pk)
    session[BACKEND_SESSION_KEY] = BACKEND
    session[HASH_SESSION_KEY] = crowd.researcher.get_session_auth_hash()
    session.save()
    people = [str(person.user.public_id) for person in crowd.link.participants.order_by("pk")]
    print(json.dumps({
        "page": crowd.page("crowd_submissions"), "secret": crowd.secret, "people": people,
        "hook": f"/crowd/hooks/{crowd.link.public_id}/", "session": session.session_key,
        "crowd": crowd.page("crowd_submissions").split(str(crowd.link.public_id))[0],
    }))
"""
HOLDS = "lambda crowd, person: crowd.hold(person)"
DOES_ONE = "lambda crowd, person: crowd.do_one(person)"
OUTCOMES = """
import json
from cqa_site.people.models import AuditEvent
from cqa_site.rounds.lifecycle import find_violations
from cqa_site.rounds.models import CrowdPayment, Participant, PlatformEvent
from annotation.labelling.models import Slot
people = Participant.objects.order_by("pk")
print(json.dumps({
    "people": list(people.values_list("session_id", "platform_status", "outcome")),
    "ended": list(AuditEvent.objects.filter(verb="participant_ended").values_list("subject")),
    "events": PlatformEvent.objects.count(),
    "payments": list(CrowdPayment.objects.values_list("submission", "payee", "state")),
    "leased": Slot.objects.filter(state="leased").count(),
    "violations": list(find_violations()),
}))
"""


class KilledSite:
    """A site with its worker, which a thread kills and starts again."""

    def __init__(self, platform: PlatformStandIn, works: str) -> None:
        self.server = LabelRoundServer()
        self.environment = self.server.environment | platform.settings
        self.environment |= {"PYTHONPATH": str(ROOT), "EGRESS_LOOPBACK": "true"}
        self.server.fill = lambda: None
        self.server.prepare()
        self.about = self.python(f"{FILL}\nprepare({PEOPLE}, {works})")
        platform.hook = self.address + self.about["hook"]
        platform.entry = f"{self.address}/join/{self.about['secret']}/"
        self.kills = 0
        self.process = None
        self.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"

    def python(self, script: str) -> dict:
        command = [sys.executable, "-c", f"import django; django.setup()\n{script}"]
        how = {"cwd": ROOT, "env": self.environment, "capture_output": True, "text": True}
        result = subprocess.run(command, check=False, **how)
        assert result.returncode == 0, result.stderr[-3000:]
        return json.loads(result.stdout.splitlines()[-1])

    def start(self) -> None:
        command = [sys.executable, "manage.py", "site", "--port", str(self.server.port)]
        how = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
        how |= {"cwd": ROOT, "env": self.environment, "start_new_session": True}
        self.process = subprocess.Popen(command, **how)
        self.wait_until(lambda: self.ask("/healthz")[0] == 200)

    def wait_until(self, is_so) -> None:
        end = time.monotonic() + PATIENCE_SECONDS
        while not is_so():
            assert time.monotonic() < end, "the site does not start or end"
            time.sleep(0.2)

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.kills += 1
        # Its children notice that it is gone, and free the port.
        self.wait_until(lambda: not self.ask("/healthz")[0])

    def kill_often(self, is_done, pauses: random.Random) -> None:
        for _time in range(KILLS):
            time.sleep(pauses.uniform(2, 6))
            if is_done():
                return
            self.kill()
            self.start()

    def ask(self, path: str, cookies: str = "", **fields) -> tuple[int, str, str]:
        """Status, address and cookies; 0 if there is no answer. With ``fields`` a POST."""
        headers = {"Cookie": f"csrftoken={'x' * 32}; {cookies}", "X-CSRFToken": "x" * 32}
        body = urllib.parse.urlencode(fields, doseq=True).encode() if fields else None
        request = urllib.request.Request(self.address + path, body, headers)
        opener = urllib.request.build_opener(NoRedirect)
        try:
            with opener.open(request, timeout=30) as reply:
                return reply.status, reply.read().decode(), ""
        except urllib.error.HTTPError as reply:
            kept = "; ".join(
                text.split(";")[0] for text in reply.headers.get_all("Set-Cookie") or ()
            )
            return reply.code, reply.headers.get("Location", ""), kept
        except OSError:
            return 0, "", ""

    def press(self, path: str, **fields) -> int:
        """What the researcher's button answers, pressed again until there is an answer."""
        cookies = f"sessionid={self.about['session']}"
        while (status := self.ask(path, cookies, **({"now": 1} | fields))[0]) in (0, 500, 503):
            time.sleep(0.2)
        return status

    def close(self) -> None:
        self.kill()
        self.server.remove()


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments):
        return None


@pytest.fixture
def platform():
    with PlatformStandIn() as platform:
        platform.invent(PEOPLE)
        yield platform


@pytest.fixture
def site_of(platform):
    made = []

    def make(works):
        made.append(KilledSite(platform, works))
        return made[0]

    yield make
    for site in made:
        site.close()


ENDS = {"RETURNED": "returned", "TIMED-OUT": "timed_out", "AWAITING-REVIEW": "running"}


def reports_of(platform, chance):
    """For each submission three reports, of which the newest decides; 13 deliveries each."""
    deliveries, last = [], {}
    began = time.time()
    for submission in platform.submissions:
        statuses = ["ACTIVE", "ACTIVE", chance.choice(list(ENDS))]
        times = [began + at for at in range(3)]
        reports = [
            platform.webhook(submission, status, at)
            for status, at in zip(statuses, times, strict=True)
        ]
        last[submission] = statuses[-1]
        more = chance.choices(reports, k=DELIVERIES - len(reports))
        deliveries += [*reports, *more]
    chance.shuffle(deliveries)
    return deliveries, last


def test_webhooks_in_any_order_give_one_outcome_each(platform, site_of):
    site, chance = site_of(HOLDS), random.Random(7)
    deliveries, last = reports_of(platform, chance)
    answered = []

    def deliver(report):
        # A platform repeats what was not accepted.
        while (status := platform.send(report)) in (0, 500, 503):
            time.sleep(0.2)
        answered.append(status)

    with ThreadPoolExecutor(9) as pool:
        killing = pool.submit(site.kill_often, lambda: len(answered) == len(deliveries), chance)
        list(pool.map(deliver, deliveries))
        killing.result()
    outcome = site.python(OUTCOMES)
    assert Counter(answered) == {204: PEOPLE * DELIVERIES}
    assert site.kills == KILLS
    assert outcome["events"] == 3 * PEOPLE
    assert outcome["people"] == [
        [submission, status, ENDS[status]] for submission, status in last.items()
    ]
    ended = Counter(subject for (subject,) in outcome["ended"])
    assert len(ended) == sum(ENDS[status] != "running" for status in last.values())
    assert set(ended.values()) == {1}
    assert outcome["violations"] == []


def test_no_payment_is_doubled_or_goes_to_somebody_else(platform, site_of):
    site, chance = site_of(DOES_ONE), random.Random(8)
    page, crowd = site.about["page"], site.about["crowd"]
    # An order takes its time, so that some are under way at a kill; some break off.
    platform.before_paying = lambda: time.sleep(chance.uniform(0, SLOWEST_SECONDS))

    def reassign(number):
        """The researcher releases a place, and somebody else comes with the same id."""
        person = site.about["people"][number]
        ids = {"PROLIFIC_PID": f"PID{number:05}", "STUDY_ID": "STUDY-1"}
        ids["SESSION_ID"] = f"SUB-other-{number}"
        entry = f"/join/{site.about['secret']}/?{urllib.parse.urlencode(ids)}"
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            assert site.press(f"{crowd}people/{person}/release/") == 302
            _status, _address, cookies = site.ask(entry)
            status, address, _more = site.ask("/join/start/", cookies, go=1)
            if status == 302 and "start" not in address:
                return
            time.sleep(0.5)
        raise AssertionError(status)

    def confirm_and_send():
        """Confirm whatever the page offers, and send it; enter what the platform says."""
        cookies = f"sessionid={site.about['session']}"
        end = time.monotonic() + 15 * 60
        while time.monotonic() < end:
            text = site.ask(page, cookies)[1]
            keys = [part.split('"')[0] for part in text.split('name="payment" value="')[1:]]
            if keys:
                confirm = partial(site.press, f"{page}confirm/", payment=keys[:300])
                # Twice at once, as from two tabs.
                with ThreadPoolExecutor(2) as tabs:
                    list(tabs.map(lambda press: press(), [confirm] * 2))
            site.press(f"{page}send/")
            for batch in {part.split('"')[0] for part in text.split('name="batch" value="')[1:]}:
                # Whoever looks waits until nothing can be under way any more.
                time.sleep(SLOWEST_SECONDS + 1)
                paid = set(platform.orders.get(batch, ())) & set(platform.paid)
                choice = "paid" if paid else "unpaid"
                site.press(f"{page}{choice}/", batch=batch, looked="on")
            if len(platform.paid) >= PEOPLE and not keys:
                return
            time.sleep(0.5)

    with ThreadPoolExecutor(6) as pool:
        killing = pool.submit(site.kill_often, lambda: False, chance)
        paying = pool.submit(confirm_and_send)
        list(pool.map(reassign, range(PEOPLE)))
        killing.result()
        paying.result()
    outcome = site.python(OUTCOMES)
    assert site.kills == KILLS
    assert Counter(submission for submission, _amount in platform.paid) == dict.fromkeys(
        platform.submissions, 1
    )
    assert {amount for _submission, amount in platform.paid} == {"0.10"}
    assert sorted((submission, payee) for submission, payee, _state in outcome["payments"]) == [
        (name, row.participant) for name, row in platform.submissions.items()
    ]
    assert outcome["violations"] == []
