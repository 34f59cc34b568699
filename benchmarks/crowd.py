"""A simulated crowd over HTTP: from a crowd link through all steps to the completion code.

    python -m benchmarks.crowd                      # 500 people on PostgreSQL, or on SQLite
    python -m benchmarks.crowd --people 60 --kills 2

Each person opens the link with IDs, consents, answers the screening and the quiz, trains,
qualifies, labels, and leaves with a code. These are real requests to the production web server,
which is killed and restarted in between. People differ in how they answer (`KINDS`); their times
are not simulated. The output shows the outcomes of each kind and the invariants: no item before
qualification, no exit without an outcome, and the wanted number of counted labels per item.
"""

import argparse
import html
import json
import random
import re
import threading
import time
import uuid
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from benchmarks.crowd_world import LEVELS, RIGHT, number_of, truth
from benchmarks.databases import postgres_answers, postgres_database
from benchmarks.http_annotator import CSRF, PAGE, Annotator
from benchmarks.label_round_server import LabelRoundServer

STEP = re.compile(r'name="step" value="([a-z]+)"')
VERSION = re.compile(r'name="version" value="([^"]*)"')
EXERCISE = re.compile(r'name="item" value="([^"]+)"')
CHOICE = re.compile(r'name="(q\d+)" value="([^"]+)"[^>]*>\s*([^<]+)')
CASE = re.compile(r"case\W+(?:<[^>]+>\W*)*(\d+)")
HEADING = re.compile(r"<h1>\s*(.*?)\s*</h1>", re.S)
LONGEST_SECONDS = 3_600


@dataclass(frozen=True)
class Habits:
    """How a person answers: accuracy before and after a fall, and other behaviour."""

    share: float
    accuracy: float = 0.92
    later: float | None = None
    is_constant: bool = False
    copies: bool = False
    reads: bool = True


KINDS = {
    "honest (.92)": Habits(0.55),
    "tired (.92, then .60)": Habits(0.10, later=0.60),
    "guessing": Habits(0.10, accuracy=0.25, reads=False),
    "guessing after the steps": Habits(0.05, later=0.25),
    "one value always": Habits(0.05, is_constant=True),
    "copying the last label": Habits(0.08, copies=True),
    "a language model (.85)": Habits(0.07, accuracy=0.85),
}
# Honest people who take part one after another when all others have left.
LATE, LATE_PEOPLE, LEASE_SECONDS = "honest (.92)", 12, 65
# The last label of each sentence, which a copying person sees.
LAST: dict[int, int] = {}


class Participant(Annotator):
    """A person from a crowd platform."""

    def __init__(self, port: int, links: list[str], name: str, habits: Habits, each: int) -> None:
        self.secret, base, self.steps, self.survey = links
        super().__init__(port, base, int(name[1:]))
        self.name, self.habits, self.each = name, habits, each
        self.answered, self.tries = 0, 0

    def take_part(self, deadline: float) -> str:
        """Open the link and take every step; return the outcome shown in the person's browser."""
        ids = f"?PROLIFIC_PID={self.name}&STUDY_ID=s&SESSION_ID=x{self.name}"
        _status, page = self._insist("GET", f"/join/{self.secret}/{ids}", None, deadline)
        if CSRF.search(page) is None or b"Start" not in page:
            return "not let in"
        self._post("/join/start/", {}, page, deadline)
        if not self._pass_steps(deadline):
            return self._end(deadline)
        self._label_all(deadline)
        return self._end(deadline)

    def _post(self, path: str, fields: dict, page: bytes, deadline: float) -> tuple[int, bytes]:
        token = CSRF.search(page)
        self.token = token[1].decode() if token else self.token
        return self._insist("POST", path, fields, deadline)

    # Steps

    def _pass_steps(self, deadline: float) -> bool:
        """Do one step after another; return whether the work begins."""
        for _ in range(60):
            _status, page = self._insist("GET", self.steps, None, deadline)
            text = html.unescape(page.decode())
            kind = STEP.search(text)
            if kind is None:
                return PAGE.search(page) is not None
            fields = {"step": kind[1], "version": VERSION.search(text)[1]}
            self._post(self.steps, fields | self._step_fields(kind[1], text), page, deadline)
        raise RuntimeError(f"{self.name} is caught in the steps")

    def _step_fields(self, kind: str, text: str) -> dict:
        if kind == "consent":
            return {"then": "decline" if self.random.random() < 0.02 else "agree"}
        if kind == "screening":
            return self._choices(text, is_right=self.random.random() < 0.98)
        if kind == "reading":
            has_read = self.habits.reads and self.random.random() < 0.9
            return self._choices(text, is_right=has_read)
        number = int(CASE.search(text.partition("<form")[2])[1])
        has_care = self.habits.reads and self.random.random() < self.habits.accuracy
        label = truth(number) if has_care else self.random.randrange(LEVELS)
        return {"item": EXERCISE.search(text)[1], "label": label}

    def _choices(self, text: str, *, is_right: bool) -> dict:
        """Return the right choice for each question on a page, or a random one."""
        choices = defaultdict(list)
        for name, value, words in CHOICE.findall(text):
            choices[name].append((words.strip() in RIGHT, value))
        picked = {name: max(pairs) for name, pairs in choices.items()}
        if not is_right:
            picked = {name: self.random.choice(pairs) for name, pairs in choices.items()}
        return {name: value for name, (_is_right, value) in picked.items()}

    # Work

    def _label_all(self, deadline: float) -> None:
        waiting, state = self._open_page(deadline)
        stops_after = self.each // 2 if self.random.random() < 0.03 else None
        while time.monotonic() < deadline:
            if stops_after is not None and self.answered >= stops_after:
                self._stop(deadline)
                return
            if not waiting:
                # Other people have reserved the remaining items; the page checks again later.
                if state != "held":
                    return
                time.sleep(5)
                waiting, state = self._open_page(deadline)
                continue
            item, *waiting = waiting
            number = number_of("".join(part["text"] for part in item["segments"]))
            fields = {"item": item["id"], "label": self._label_of(number)}
            fields |= {"client_key": uuid.uuid4().hex}
            reply = json.loads(self._submit(self.base + "answer/", fields, deadline))
            self.answered += 1
            waiting, state = reply["next"], reply["state"]

    def _label_of(self, number: int) -> int:
        habits, accuracy = self.habits, self.habits.accuracy
        if habits.is_constant:
            return 0
        if habits.copies and number in LAST:
            return LAST[number]
        if habits.later is not None and self.answered >= self.each * 0.4:
            accuracy = habits.later
        is_right = self.random.random() < accuracy
        wrong = (truth(number) + self.random.randrange(1, LEVELS)) % LEVELS
        LAST[number] = truth(number) if is_right else wrong
        return LAST[number]

    def _stop(self, deadline: float) -> None:
        _status, page = self._insist("GET", "/join/stop/", None, deadline)
        self._post("/join/stop/", {"choice": "keep"}, page, deadline)

    def _end(self, deadline: float) -> str:
        """Finish, answer the survey if there is one, and return the heading of the last page."""
        page = self._insist("GET", "/join/done/", None, deadline)[1]
        if b"Finish</button>" in page:
            self._post("/join/done/", {}, page, deadline)
            page = self._insist("GET", "/join/done/", None, deadline)[1]
        if CHOICE.search(text := page.decode()):
            self._post(self.survey, self._choices(text, is_right=False), page, deadline)
            page = self._insist("GET", "/join/done/", None, deadline)[1]
        heading = HEADING.search(page.decode())
        return html.unescape(heading[1]) if heading else "no heading"


def work(server: LabelRoundServer, links: list[str], options: argparse.Namespace) -> dict:
    """Let everybody take part, a few at a time; return each person's kind and last page."""
    chance = random.Random(options.seed)
    names = list(KINDS)
    shares = [KINDS[name].share for name in names]
    kinds = {f"p{n}": chance.choices(names, shares)[0] for n in range(options.people)}
    deadline = time.monotonic() + LONGEST_SECONDS
    seen: dict[str, str] = {}

    def run(name: str) -> None:
        person = Participant(server.port, links, name, KINDS[kinds[name]], options.each)
        seen[name] = person.take_part(deadline)

    killer = threading.Thread(target=_kill_on_the_way, args=(server, seen, options), daemon=True)
    killer.start()
    with ThreadPoolExecutor(options.at_once) as pool:
        list(pool.map(run, kinds))
    killer.join(timeout=60)
    # Items reserved by people who stopped become available again after a minute.
    time.sleep(LEASE_SECONDS)
    kinds |= {f"p{options.people + n}": LATE for n in range(LATE_PEOPLE)}
    for n in range(LATE_PEOPLE):
        run(f"p{options.people + n}")
    return {"kinds": kinds, "seen": seen}


def _kill_on_the_way(server: LabelRoundServer, seen: dict, options: argparse.Namespace) -> None:
    """Kill the web server with SIGKILL and restart it after each equal part of the crowd."""
    for part in range(1, options.kills + 1):
        while len(seen) < part * options.people // (options.kills + 1):
            time.sleep(0.2)
        server.kill()
        server.start()


def report(done: dict, facts: dict) -> None:
    """Print the tables of outcomes and invariants."""
    kinds, people = done["kinds"], facts["people"]
    rows = defaultdict(Counter)
    for name, kind in kinds.items():
        person = people.get(name)
        rows[kind]["n"] += 1
        if person is None:
            rows[kind]["not let in"] += 1
        elif person["excluded"] or person["stopped_by"]:
            rows[kind]["excluded" if person["excluded"] else person["stopped_by"]] += 1
        else:
            rows[kind][person["outcome"]] += 1
    columns = sorted({name for row in rows.values() for name in row} - {"n"})
    print("| annotators | n |", " | ".join(columns), "|")
    print("|---|" + "---|" * (len(columns) + 1))
    for kind in KINDS:
        cells = [rows[kind]["n"], *(rows[kind][name] for name in columns)]
        print(f"| {kind} |", " | ".join(map(str, cells)), "|")
    print()
    ended = [person for person in people.values() if person["is_ended"]]
    for name in ("answers", "items", "before qualification", "overfilled", "underfilled"):
        print(f"{name:24} {facts[name]:,}")
    print(f"{'ended with an outcome':24} {len(ended)} of {len(people)}")
    running = [name for name, person in people.items() if not person["is_ended"]]
    print("still running:", Counter(done["seen"][name] for name in running))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=500)
    parser.add_argument("--each", type=int, default=100, help="items per person")
    parser.add_argument("--votes", type=int, default=5)
    parser.add_argument("--items", type=int, help="ordinary items; 0.35 x people x each / votes")
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    items = options.items or int(0.35 * options.people * options.each / options.votes)
    wanted = {"items": items, "controls": options.each, "votes": options.votes}
    wanted |= {"each": options.each, "people": options.people + LATE_PEOPLE}
    if not postgres_answers():
        return simulate(LabelRoundServer(), wanted, options)
    with postgres_database() as url:
        return simulate(LabelRoundServer(database_url=url), wanted, options)


def simulate(server: LabelRoundServer, wanted: dict, options: argparse.Namespace) -> None:
    """Simulate the whole crowd on one site."""
    try:
        made = server.python("-m", "benchmarks.crowd_world", "make", json.dumps(wanted))
        links = json.loads(made.splitlines()[-1])
        server.python("manage.py", "collectstatic", "--noinput", "-v0")
        server.start()
        started = time.monotonic()
        done = work(server, links, options)
        seconds = time.monotonic() - started
        facts = json.loads(server.python("-m", "benchmarks.crowd_world", "facts").splitlines()[-1])
        report(done, facts)
        print(f"{seconds:.0f} s, {facts['answers'] / seconds:.0f} labels a second")
        print("integrity:", server.python("manage.py", "check_integrity").strip().splitlines()[-1])
    finally:
        server.remove()


if __name__ == "__main__":
    main()
