"""A local crowd platform with invented participants, for the demo and the tests.

It signs entries, publishes its keys, lists submissions, accepts payment orders and reports
status changes, in the format that the site expects from Prolific.
"""

import json
import threading
import time
import urllib.error
import urllib.request
import uuid
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from cqa_site.rounds.crowd.platform import STATUS_EVENT, signature_of

STUDY, TOKEN, HOOK_SECRET = "STAND-IN-1", "stand-in-token", "stand-in-secret"
# The actions that the page offers to a participant.
ACTIONS = {"RETURNED": "Return", "TIMED-OUT": "Time out", "APPROVED": "Approve"}
PATIENCE_SECONDS = 10.0


@dataclass
class StandInSubmission:
    """One invented participant and their status."""

    participant: str
    status: str = "ACTIVE"
    code: str = ""


@dataclass
class PlatformStandIn:
    """The platform's state; its server runs within a ``with`` block.

    ``entry`` is the URL of a crowd link, and ``hook`` the URL for its webhooks; ``paid`` lists
    every payment, repeated payments included, as submission and amount.
    """

    entry: str = ""
    hook: str = ""
    port: int = 0
    submissions: dict[str, StandInSubmission] = field(default_factory=dict)
    orders: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    paid: list[tuple[str, str]] = field(default_factory=list)
    # Called before an order is paid; used by tests to break the connection.
    before_paying: Any = None

    def __post_init__(self) -> None:
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.key_name = uuid.uuid4().hex
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), _handler_of(self))
        self.port = self._server.server_port

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def settings(self) -> dict[str, str]:
        """Return settings for a site that uses this platform."""
        return {"CROWD_KEYS_URL": f"{self.address}/keys", "CROWD_API_URL": self.address}

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def invent(self, count: int, first: int = 0) -> None:
        """Add participants with one submission each."""
        for number in range(first, first + count):
            self.submissions[f"SUB{number:05}"] = StandInSubmission(f"PID{number:05}")

    def signed_entry(self, submission: str) -> str:
        """Return a participant's entry URL with a token that is valid for ten minutes."""
        ids = {"PROLIFIC_PID": self.submissions[submission].participant, "STUDY_ID": STUDY}
        ids["SESSION_ID"] = submission
        now, host = int(time.time()), urlsplit(self.entry).netloc
        claims = {"iss": self.address, "aud": host, "iat": now, "exp": now + 600, "prolific": ids}
        token = jwt.encode(claims, self.key, algorithm="RS256", headers={"kid": self.key_name})
        return f"{self.entry.partition('?')[0]}?{urlencode(ids | {'prolific_token': token})}"

    def report(self, submission: str, status: str) -> None:
        """Change a status and tell the site."""
        self.submissions[submission].status = status
        self.send(self.webhook(submission, status))

    def webhook(self, submission: str, status: str, at: float | None = None) -> dict[str, Any]:
        """Return a status report, which can be sent any number of times."""
        message = {"event_type": STATUS_EVENT, "resource_id": submission, "status": status}
        headers = {"X-Event-ID": uuid.uuid4().hex, "X-Timestamp": str(at or time.time())}
        return {"body": json.dumps(message).encode(), "headers": headers}

    def send(self, report: dict[str, Any]) -> int:
        """Sign and send a report; return the status code, or 0 if there is no response."""
        now = str(int(time.time()))
        headers = report["headers"] | {
            "Content-Type": "application/json",
            "X-Prolific-Request-Timestamp": now,
            "X-Prolific-Request-Signature": signature_of(HOOK_SECRET, now, report["body"]),
        }
        request = urllib.request.Request(self.hook, report["body"], headers)  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as reply:  # noqa: S310
                return int(reply.status)
        except urllib.error.HTTPError as refusal:
            return refusal.code
        except OSError:
            return 0

    def keys(self) -> dict[str, Any]:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [public | {"kid": self.key_name, "use": "sig", "alg": "RS256"}]}

    def listed(self, page: int, size: int) -> dict[str, Any]:
        rows = [
            {
                "id": name,
                "participant_id": row.participant,
                "status": row.status.replace("-", " "),
                "study_code": row.code or None,
            }
            for name, row in self.submissions.items()
        ]
        return {"results": rows[(page - 1) * size : page * size]}

    def take_order(self, lines: str) -> dict[str, Any]:
        """Create an order without paying it; return an empty dict if a submission is unknown."""
        rows = [(name, amount) for name, amount in (line.split(",") for line in lines.split())]
        if any(name not in self.submissions for name, _amount in rows):
            return {}
        self.orders[order := uuid.uuid4().hex] = rows
        return {"id": order, "amount": sum(round(100 * float(amount)) for _name, amount in rows)}

    def pay_order(self, order: str) -> bool:
        """Pay an order, even if it was paid before; return whether it exists."""
        if self.before_paying:
            self.before_paying()
        self.paid.extend(self.orders.get(order, ()))
        return order in self.orders

    def page(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(row.participant)}</td><td>{row.status}</td>"
            f"<td>{escape(row.code) or '–'}</td>"
            f"<td><a href='/enter/{name}'>Take part</a></td><td>{_forms(name)}</td>"
            f"<td>{', '.join(sum_ for who, sum_ in self.paid if who == name) or '–'}</td></tr>"
            for name, row in self.submissions.items()
        )
        return (
            "<!doctype html><html lang='en'><meta charset='utf-8'><title>Stand-in</title>"
            "<style>body{font:16px system-ui;margin:2rem}td,th{padding:.3rem .8rem;"
            "text-align:left}form{display:inline}</style><h1>Stand-in crowd platform</h1>"
            f"<p><a href='{escape(urljoin(self.entry, '/'))}'>Back to Counterpoint</a></p>"
            "<p>The participants are invented. Open each one in a separate private window, "
            "because each belongs to one browser.</p><table><tr><th>Participant<th>Status"
            f"<th>Code<th>Study<th>Change status<th>Bonuses</tr>{rows}</table></html>"
        )


def _forms(submission: str) -> str:
    return "".join(
        f"<form method='post' action='/status/{submission}/{status}'>"
        f"<button>{word}</button></form>"
        for status, word in ACTIONS.items()
    )


def _handler_of(platform: PlatformStandIn) -> type[BaseHTTPRequestHandler]:
    class StandInHandler(BaseHTTPRequestHandler):
        """Request handler of the platform; any error gives a 404."""

        def do_GET(self) -> None:
            address = urlsplit(self.path)
            parts, values = address.path.strip("/").split("/"), dict(parse_qsl(address.query))
            if parts == ["keys"]:
                self.reply(platform.keys())
            elif parts == ["api", "v1", "submissions"] and self.is_known():
                page, size = int(values.get("page", 1)), int(values.get("page_size", 100))
                self.reply(platform.listed(page, size))
            elif parts[0] == "enter" and parts[-1] in platform.submissions:
                self.redirect(platform.signed_entry(parts[-1]))
            elif parts == ["complete"]:
                self.complete(values.get("participant", ""), values.get("cc", ""))
            elif parts == [""]:
                self.reply(platform.page())
            else:
                self.reply({}, 404)

        def do_POST(self) -> None:
            parts = urlsplit(self.path).path.strip("/").split("/")
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if parts[0] == "status" and parts[1] in platform.submissions:
                platform.report(parts[1], parts[2])
                self.redirect("/")
            elif parts[2:] == ["submissions", "bonus-payments"] and self.is_known():
                order = platform.take_order(json.loads(body)["csv_bonuses"])
                self.reply(order, 201 if order else 400)
            elif parts[2:3] == ["bulk-bonus-payments"] and self.is_known():
                self.reply({}, 202 if platform.pay_order(parts[3]) else 404)
            else:
                self.reply({}, 404)

        def complete(self, participant: str, code: str) -> None:
            for name, row in platform.submissions.items():
                if row.participant == participant and row.status == "ACTIVE":
                    row.code = code
                    platform.report(name, "AWAITING-REVIEW")
            self.redirect("/")

        def is_known(self) -> bool:
            return self.headers.get("Authorization") == f"Token {TOKEN}"

        def redirect(self, address: str) -> None:
            self.send_response(302)
            self.send_header("Location", address)
            self.end_headers()

        def reply(self, content: Any, status: int = 200) -> None:
            is_page = isinstance(content, str)
            data = (content if is_page else json.dumps(content)).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/html" if is_page else "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *arguments: Any) -> None:
            """Suppress the log of requests."""

    return StandInHandler
