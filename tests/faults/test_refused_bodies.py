"""Requests refused before their body is read, on connections that go on afterwards."""

import http.client
from itertools import cycle, islice

import pytest

CONNECTIONS = 200
TOKEN = """
import django; django.setup()
from cqa_site.people.models import User
from cqa_site.people.access import create_token
print(create_token(user=User.objects.first(), name="x", scope="write")[1])
"""


SIZES = (300, 60_000, 900_000)


@pytest.fixture(scope="module")
def site(sqlite_sites):
    sqlite_sites.start()
    yield sqlite_sites
    sqlite_sites.kill()


@pytest.fixture(scope="module")
def refusals(site):
    """Address, headers and the status that refuses a body there."""
    bearer = {"Authorization": f"Bearer {site.python('-c', TOKEN).strip()}"}
    text = {"Content-Type": "text/plain"}
    return [
        ("/api/v1/me/", {}, 401),
        ("/api/v1/me/", bearer, 405),
        ("/api/v1/studies/", bearer | text, 415),
        (f"{site.work}answer/", text, 403),
        ("/accounts/login/", {"Content-Type": "application/x-www-form-urlencoded"}, 403),
        ("/nowhere/", {}, 404),
        ("/?a=%00", {}, 400),
    ]


def post(connection, refusal, body, **headers):
    """Send a body in packets of its own; return whether the connection goes on."""
    address, usual, status = refusal
    connection.putrequest("POST", address)
    for name, value in (usual | headers).items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    connection.send(body)
    response = connection.getresponse()
    response.read()
    assert response.status == status, address
    return not response.will_close


def is_broken(port, refusal, size):
    """Whether the request after a refused one is lost."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        assert post(connection, refusal, b"x" * size, Content_Length=str(size))
        connection.auto_open = 0
        connection.request("GET", "/healthz")
        return connection.getresponse().status != 200
    except (OSError, http.client.HTTPException):
        return True
    finally:
        connection.close()


def test_connections_outlive_a_refused_body(site, refusals):
    pairs = islice(zip(cycle(refusals), cycle(SIZES)), CONNECTIONS)
    assert sum(is_broken(site.port, refusal, size) for refusal, size in pairs) == 0


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"x" * 2_000_000, {"Content_Length": "2000000"}),
        (b"3\r\nabc\r\n0\r\n\r\n", {"Transfer_Encoding": "chunked"}),
    ],
)
def test_a_connection_goes_on_or_is_said_to_close(site, refusals, body, headers):
    """More than is read away, and a body that no view of the site can read."""
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=30)
    goes_on = post(connection, refusals[0], body, **headers)
    assert goes_on == ("Transfer_Encoding" in headers)
    connection.request("GET", "/healthz")
    assert connection.getresponse().status == 200
    connection.close()
