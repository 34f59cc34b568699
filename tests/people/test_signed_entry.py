"""Entries that a platform signs: a valid token opens the link, anything else stores nothing."""

import base64
import hashlib
import hmac
import json
import random
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from cqa_site.people.models import AuditEvent, User
from cqa_site.rounds.crowd import tokens
from cqa_site.rounds.crowd.participation import completion_code
from cqa_site.rounds.crowd.platform import connect_link, signature_of
from cqa_site.rounds.models import Participant, ParticipantLink, PlatformEvent
from tests.worlds import built_once, parts_of
from .crowd import IDS, Lab, come_in, label_items, make_link, open_link

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PUBLIC_PEM = KEY.public_key().public_bytes(
    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
)
ISSUER, SECRET = "https://platform.example", "hook-secret-of-the-platform"


def published(kid="k1", key=KEY, **more):
    row = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
    return row | {"kid": kid, "use": "sig", "alg": "RS256"} | more


lab = built_once(Lab)


people, label_round = parts_of("lab", "people", "label_round")


@pytest.fixture(autouse=True)
def platform(monkeypatch, settings):
    """The platform's keys, and how often they were fetched."""
    cache.clear()
    settings.CROWD_TOKEN_ISSUER = ISSUER
    fetched = []
    monkeypatch.setattr(tokens, "fetch_keys", lambda: fetched.append(1) or {"k1": published()})
    yield fetched
    cache.clear()


def claims(**more):
    now = int(time.time())
    usual = {"iss": ISSUER, "aud": "testserver", "exp": now + 300, "iat": now, "prolific": IDS}
    return {name: value for name, value in (usual | more).items() if value is not None}


def token(key=KEY, alg="RS256", headers=None, **more):
    return jwt.encode(claims(**more), key, algorithm=alg, headers={"kid": "k1"} | (headers or {}))


def encoded(part):
    text = part if isinstance(part, bytes) else json.dumps(part).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def hmac_with_public_key():
    """The trick that takes a public key for a shared secret."""
    head = f"{encoded({'alg': 'HS256', 'typ': 'JWT', 'kid': 'k1'})}.{encoded(claims())}"
    digest = hmac.new(PUBLIC_PEM, head.encode(), hashlib.sha256).digest()
    return f"{head}.{encoded(digest)}"


def with_header(**header):
    _head, body, signature = token().split(".")
    return f"{encoded({'alg': 'RS256', 'typ': 'JWT', 'kid': 'k1'} | header)}.{body}.{signature}"


def changed(**more):
    head, _body, signature = token().split(".")
    return f"{head}.{encoded(claims(**more))}.{signature}"


def ids(**more):
    return {name: value for name, value in (IDS | more).items() if value is not None}


def forged():
    """Tokens, each with what is wrong with it."""
    now = int(time.time())
    unsigned = f"{encoded({'alg': 'none', 'kid': 'k1'})}.{encoded(claims())}."
    yield from {
        "no token's shape": "abc",
        "empty": "",
        "two parts": "a.b",
        "alg none": unsigned,
        "alg None": with_header(alg="None"),
        "HS256 with the public key": hmac_with_public_key(),
        "HS256 with a guess": jwt.encode(claims(), "x" * 32, "HS256", headers={"kid": "k1"}),
        "alg missing": with_header(alg=None),
        "RS512": token(alg="RS512"),
        "PS256": token(alg="PS256"),
        "another key": token(key=OTHER_KEY),
        "own jwk in the header": token(key=OTHER_KEY, headers={"jwk": published(key=OTHER_KEY)}),
        "jku": token(key=OTHER_KEY, headers={"jku": "http://127.0.0.1:1/keys"}),
        "x5u": token(key=OTHER_KEY, headers={"x5u": "http://127.0.0.1:1/keys"}),
        "kid as a path": token(headers={"kid": "../../etc/passwd"}),
        "kid as an address": token(headers={"kid": "http://127.0.0.1:1/keys"}),
        "kid unknown": token(headers={"kid": "k2"}),
        "kid empty": token(headers={"kid": ""}),
        "kid a number": with_header(kid=1),
        "kid a list": with_header(kid=["k1"]),
        "crit": with_header(crit=["exp"]),
        "changed after signing": changed(prolific=ids(PROLIFIC_PID="PID-other")),
        "signature cut": token()[:-8],
        "signature missing": token().rsplit(".", 1)[0] + ".",
        "wrong issuer": token(iss="https://elsewhere.example"),
        "no issuer": token(iss=None),
        "wrong audience": token(aud="elsewhere.example"),
        "no audience": token(aud=None),
        "audience of a longer name": token(aud="testserver.example"),
        "expired": token(exp=now - 61),
        "no expiry": token(exp=None),
        "expiry no number": token(exp="soon"),
        "not yet valid": token(nbf=now + 300),
        "issued in the future": token(iat=now + 300),
        "other study": token(prolific=ids(STUDY_ID="STUDY-2")),
        "no study": token(prolific=ids(STUDY_ID=None)),
        "no submission": token(prolific=ids(SESSION_ID=None)),
        "no participant": token(prolific=ids(PROLIFIC_PID=None)),
        "ids missing": token(prolific=None),
        "ids as text": token(prolific=json.dumps(IDS)),
        "ids as a list": token(prolific=list(IDS.values())),
        "id a number": token(prolific=ids(PROLIFIC_PID=5)),
        "id with markup": token(prolific=ids(PROLIFIC_PID="<b>x</b>")),
        "id too long": token(prolific=ids(PROLIFIC_PID="P" * 129)),
        "oversized": token(padding="x" * 3000),
    }.items()


def connect(link, people, hook_secret=SECRET):
    about = {"platform_study": IDS["STUDY_ID"], "hook_secret": hook_secret}
    connect_link(link=link, actor=people["admin"], **about)


@pytest.fixture
def signed(label_round, people):
    """A link that requires tokens for one study, and its secret."""
    link, secret = make_link(label_round, people, entry="signed")
    connect(link, people)
    return link, secret


def stored():
    """How many rows there are of whatever an entry could store."""
    return [model.objects.count() for model in (Participant, User, Session, AuditEvent)]


def enter(client, secret, text, **more):
    return open_link(client, secret, {tokens.TOKEN_PARAM: text} | more)


def come_by(secret, text=None, client=None):
    """A browser that opened a signed link and pressed the button, and the answer."""
    client = client or Client()
    enter(client, secret, text or token())
    return client, client.post("/join/start/")


def test_a_signed_token_opens_the_link_and_marks_the_person_verified(signed):
    client = Client()
    assert enter(client, signed[1], token(), **IDS).url == "/join/start/"
    assert "/label/" in client.post("/join/start/").url
    person = Participant.objects.get()
    assert (person.is_verified, person.session_id) == (True, IDS["SESSION_ID"])


def test_forged_expired_and_foreign_tokens_store_nothing(signed, subtests):
    bad = dict(forged())
    assert len(bad) >= 40
    before = stored()
    for name, text in bad.items():
        with subtests.test(name):
            # An address that is too long is refused before it is read.
            status = 400 if name == "oversized" else 403
            assert enter(Client(), signed[1], text).status_code == status
            assert stored() == before
    # No token, two, and ids beside a valid one that are not those it signs.
    assert open_link(Client(), signed[1]).status_code == 403
    two = Client().get(reverse("join", args=[signed[1]]), {tokens.TOKEN_PARAM: [token(), token()]})
    assert two.status_code == 403
    for name in IDS:
        reply = enter(Client(), signed[1], token(), **(IDS | {name: "OTHER-1"}))
        assert reply.status_code == 403
    assert stored() == before


def test_neither_a_copied_token_nor_another_submission_or_link_opens_a_second_place(
    signed, label_round, people
):
    """Nor does a token open a link that does not know its study yet."""
    first, _reply = come_by(signed[1])
    assert come_by(signed[1])[1].status_code == 409
    first.get("/accounts/logout/")
    later = Client()
    later.cookies = first.cookies.copy()
    del later.cookies["sessionid"]
    again = token(prolific=ids(SESSION_ID="SESSION-2"))
    assert come_by(signed[1], again, later)[1].status_code == 410
    link, secret = make_link(label_round, people, entry="signed")
    assert enter(Client(), secret, token()).status_code == 403
    connect(link, people, "")
    assert come_by(secret)[1].status_code == 409
    assert Participant.objects.count() == 1


def test_a_link_may_take_both_and_says_who_is_unverified(label_round, people):
    link, secret = make_link(label_round, people, entry="either")
    connect(link, people, "")
    come_in(secret, IDS | {"PROLIFIC_PID": "PID-typed", "SESSION_ID": "SESSION-9"})
    come_by(secret)
    marks = dict(Participant.objects.values_list("participant_id", "is_verified"))
    assert marks == {"PID-typed": False, IDS["PROLIFIC_PID"]: True}
    assert enter(Client(), secret, token(exp=1)).status_code == 403


def test_keys_are_cached_and_an_unknown_name_fetches_them_once_more(signed, platform):
    for _number in range(3):
        enter(Client(), signed[1], token())
    assert len(platform) == 1
    for number in range(5):
        enter(Client(), signed[1], token(headers={"kid": f"new-{number}"}))
    assert len(platform) <= 2


def test_keys_come_from_the_setting_alone_and_their_absence_is_503(signed, settings, monkeypatch):
    rows = [published(), published("ec", kty="EC"), published("enc", use="enc"), {"kid": 1}, 5]
    served = []

    class Keys(BaseHTTPRequestHandler):
        def do_GET(self):
            served.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"keys": rows}).encode())

        def log_message(self, *arguments):
            pass

    monkeypatch.undo()
    settings.EGRESS_ALLOW = "127.0.0.0/8:*"
    server = HTTPServer(("127.0.0.1", 0), Keys)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings.CROWD_KEYS_URL = f"http://127.0.0.1:{server.server_port}/keys"
    try:
        assert set(tokens.fetch_keys()) == {"k1"}
    finally:
        server.shutdown()
        server.server_close()
    assert served == ["/keys"]
    cache.clear()
    settings.CROWD_TOKEN_ISSUER = ISSUER
    before = stored()
    assert enter(Client(), signed[1], token()).status_code == 503
    assert stored() == before


def report(link, event, status, submission=IDS["SESSION_ID"], at=None, **more):
    """Send a report as the platform does; ``more`` spoils it."""
    body = {"event_type": "submission.status.change", "resource_id": submission}
    text = more.get("body", json.dumps(body | {"status": status}).encode())
    stamp = more.get("stamp", str(int(time.time())))
    signature = more.get("signature", signature_of(more.get("secret", SECRET), stamp, text))
    return Client(enforce_csrf_checks=True).post(
        reverse("platform_hook", args=[link.public_id]),
        text,
        content_type="application/json",
        headers={
            "X-Prolific-Request-Signature": signature,
            "X-Prolific-Request-Timestamp": stamp,
            "X-Event-ID": event,
            "X-Timestamp": str(at if at is not None else time.time()),
        },
    )


def test_unsigned_old_and_malformed_reports_change_nothing(signed, label_round, people, subtests):
    link, _secret = signed
    old = str(int(time.time()) - 301)
    cases = {
        "wrong secret": ({"secret": "other"}, 403),
        "no signature": ({"signature": ""}, 403),
        "signature with letters": ({"signature": "é"}, 403),
        "too old": ({"stamp": old}, 403),
        "from the future": ({"stamp": str(int(time.time()) + 400)}, 403),
        "no time": ({"stamp": ""}, 403),
        "no JSON": ({"body": b"{"}, 400),
        "a list": ({"body": b"[]"}, 400),
        "nested": ({"body": b"[" * 60_000}, 400),
        "too large": ({"body": b" " * 70_000}, 413),
        "no submission": ({"submission": ""}, 400),
        "time no number": ({"at": "x"}, 400),
        "time beyond all": ({"at": "1e300"}, 400),
    }
    for name, (more, status) in cases.items():
        with subtests.test(name):
            assert report(link, "E1", "RETURNED", **more).status_code == status
    assert not PlatformEvent.objects.exists()
    other, _secret = make_link(label_round, people)
    assert report(other, "E1", "RETURNED", secret="").status_code == 403


def test_a_return_frees_the_slots_once_keeps_the_work_and_takes_no_code_away(signed, label_round):
    link, secret = signed
    done, _reply = come_by(secret, token(prolific=ids(PROLIFIC_PID="P2", SESSION_ID="S2")))
    label_items(Participant.objects.get(), link.required_items)
    done.post("/join/done/")
    client, _reply = come_by(secret)
    person = Participant.objects.get(session_id=IDS["SESSION_ID"])
    label_items(person, 1)
    held = label_round.assignments.filter(rater__user=person.user, slot__isnull=False)
    assert held.count() > 1
    for _number in range(3):
        assert report(link, "E1", "RETURNED").status_code == 204
    assert held.count() == 1  # the one that is labelled
    person.refresh_from_db()
    assert (person.outcome, completion_code(person)) == ("returned", "")
    assert "The platform ended your submission" in client.get("/join/done/").text
    report(link, "E2", "TIMED-OUT", "S2")
    late = Participant.objects.get(session_id="S2")
    assert (late.outcome, late.platform_status) == ("completed", "TIMED-OUT")
    assert completion_code(late) == link.completed_code
    assert AuditEvent.objects.filter(verb="participant_ended").count() == 2


def test_reports_in_any_order_and_repeated_leave_the_newest_status(signed):
    """Each of three events of three submissions arrives four times in all orders."""
    link, secret = signed
    people = [f"P{number}" for number in range(3)]
    for name in people:
        come_by(secret, token(prolific=ids(PROLIFIC_PID=name, SESSION_ID=f"S-{name}")))
    now = time.time()
    steps = [("RESERVED", now - 30), ("ACTIVE", now - 20), ("RETURNED", now - 10)]
    sent = [(name, *step) for name in people for step in steps] * 4
    random.Random(5).shuffle(sent)
    for name, status, at in sent:
        assert report(link, f"E-{name}-{status}", status, f"S-{name}", at).status_code == 204
    rows = Participant.objects.values_list("outcome", "platform_status")
    assert list(rows) == [("returned", "RETURNED")] * 3
    assert PlatformEvent.objects.count() == 9
    assert AuditEvent.objects.filter(verb="participant_ended").count() == 3


def test_the_page_stores_the_connection_and_never_shows_the_secret(
    researcher, label_round, people
):
    link, _secret = make_link(label_round, people, entry="signed")
    place = [label_round.study.public_id, label_round.public_id]
    page = reverse("crowd_links", args=place)
    assert "Signed entries are refused until" in researcher.get(page).text
    assert 'value="projectId"' in researcher.get(f"{page}?platform=connect").text, "a preset"
    address = reverse("crowd_link_connect", args=[*place, link.public_id])

    def connected(study, secret=""):
        said = {"platform_study": study, "hook_secret": secret}
        return researcher.post(address, said, follow=True).text

    assert "Copy the ID from the platform" in connected("a b")
    text = connected("STUDY-1", SECRET)
    assert "STUDY-1" in text
    assert SECRET not in text
    connected("STUDY-2")
    link = ParticipantLink.objects.get(pk=link.pk)
    assert link.platform_study == "STUDY-2"
    assert link.hook_ciphertext
    assert SECRET.encode() not in bytes(link.hook_ciphertext)


def test_sona_gets_its_own_placeholder():
    link = ParticipantLink(
        platform="SONA", return_url="https://a.example/credit?survey_code={participant}"
    )
    assert tokens.PLATFORM_ID.fullmatch("12345")
    assert link.address_for("C", "a&b") == "https://a.example/credit?survey_code=a%26b"
