"""Nothing leaves but to checked addresses, and nothing comes back beyond the bounds."""

import asyncio
import json
import time
from dataclasses import replace

import httpx2
import pytest

from cqa_site.judging.chat import CallFailed, ChatRequest, Failure
from cqa_site.judging.transport import connections, egress
from cqa_site.judging.transport.egress import AllowedNetwork, EgressFailed, fetch, guarded_client
from cqa_site.judging.transport.openai_client import OpenAIClient
from .llmstub import StubServer

# {port} is where the canary listens; whatever form leads to this machine would reach it.
HOSTILE = """
https://127.0.0.1:{port} https://localhost:{port} https://127.1:{port} https://127.0.1:{port}
https://2130706433:{port} https://0x7f000001:{port} https://0x7f.0.0.1:{port}
https://0177.0.0.1:{port} https://017700000001:{port} https://127.000.000.001:{port}
https://0:{port} https://0.0.0.0:{port} https://127.255.255.254:{port} https://127.0.0.1.:{port}
https://[::1]:{port} https://[::]:{port} https://[::ffff:127.0.0.1]:{port}
https://[::ffff:7f00:1]:{port} https://[0:0:0:0:0:ffff:127.0.0.1]:{port}
https://[::127.0.0.1]:{port} https://[64:ff9b::7f00:1]:{port} https://[64:ff9b:1::7f00:1]:{port}
https://[2002:7f00:1::]:{port} https://[2001:0:7f00:1::]:{port} https://[fe80::1%25lo]:{port}
https://[fe80::1]:{port} https://[fc00::1]:{port} https://[ff02::1]:{port}
https://169.254.169.254 https://2852039166 https://0xA9FEA9FE https://[::ffff:169.254.169.254]
https://[fd00:ec2::254] https://metadata.internal https://168.63.129.16 https://192.0.0.192
https://100.100.100.200 https://10.0.0.1 https://192.168.0.1 https://172.16.0.1
https://224.0.0.1 https://255.255.255.255 https://①②⑦.⓪.⓪.①:{port} https://127。0。0。1:{port}
https://mixed.test:{port} https://mixed-six.test:{port} https://mapped.test:{port}
https://none.test:{port} https://unknown.test:{port} https://nonsense.test:{port}
http://127.0.0.1:{port} http://localhost:{port} http://public.test:{port} http://1.1.1.1:{port}
https://user:secret@127.0.0.1:{port} https://user@public.test:{port} https://@127.0.0.1:{port}
https://public.test@127.0.0.1:{port} https://127.0.0.1:{port}#@public.test
https://127.0.0.1:{port}\\@public.test ftp://127.0.0.1:{port} file:///etc/passwd
gopher://127.0.0.1:{port} ws://127.0.0.1:{port} wss://127.0.0.1:{port} unix:///run/docker.sock
http+unix://%2Frun%2Fdocker.sock 127.0.0.1:{port} //127.0.0.1:{port} https:// https://:{port}
https://[::1 https://[::1]]:{port} https://127.0.0.1:{port}:{port} https://127.0.0.1:99999999
https://127.0.0.1:65536 https://1.1.1.1:70000 https://.foo:{port}
https://a..b:{port} https://.:{port} https://%31%32%37.0.0.1:{port} https://127.0.0.1%00.test:{port}
"""
ODD = [f"https://{'a' * 70}.test", "https://" + "a" * 300, "https://127.0.0.1 :80", ""]
ANSWERS = {
    "metadata.internal": ["169.254.169.254"],
    "mixed.test": ["1.1.1.1", "127.0.0.1"],
    "mixed-six.test": ["1.1.1.1", "::1"],
    "mapped.test": ["::ffff:127.0.0.1"],
    "public.test": ["1.1.1.1"],
    "none.test": (),
    "unknown.test": OSError(),
    "nonsense.test": ["/run/docker.sock"],
}
REQUEST = ChatRequest("m", ({"role": "user", "content": "?"},), deadline=5.0)
# A real resolver is asked for odd spellings; a busy machine may take seconds for it.
PATIENT = replace(REQUEST, deadline=30.0)


def post_json(url, document, *, headers=(), **options):
    headers = {"Content-Type": "application/json", **dict(headers)}
    return fetch(
        url, method="POST", body=json.dumps(document).encode(), headers=headers, **options
    )


def refused(awaitable, *kinds):
    with pytest.raises((EgressFailed, CallFailed)) as problem:
        asyncio.run(awaitable)
    assert problem.value.kind in (kinds or (Failure.BLOCKED,)), problem.value
    return problem.value


async def ask(client, request=REQUEST):
    try:
        return await client.complete(request)
    finally:
        await client.close()


@pytest.fixture
def dialled(monkeypatch):
    """Addresses that connections were opened to; none of them is."""
    opened = []

    async def create_connection(loop, factory, host, port, **_options):
        opened.append(host)
        raise ConnectionRefusedError

    monkeypatch.setattr(asyncio.BaseEventLoop, "create_connection", create_connection)
    return opened


def test_the_canary_hears_who_comes(canary):
    refused(
        fetch(
            f"http://127.0.0.1:{canary.port}", allowed=[AllowedNetwork("127.0.0.1", canary.port)]
        ),
        Failure.CONNECTION,
    )
    assert canary.connections == 1


@pytest.mark.parametrize("address", HOSTILE.split() + ODD)
def test_hostile_addresses_reach_nothing(address, canary, resolver):
    resolver.answers = dict(ANSWERS)
    url = address.replace("{port}", str(canary.port))
    # What resolvers make of odd spellings differs; that nothing is reached does not.
    kinds = (Failure.BLOCKED, Failure.CONNECTION)
    first = refused(fetch(f"{url}/v1", deadline=PATIENT.deadline), *kinds)
    second = refused(ask(OpenAIClient(f"{url}/v1", "sk-0123456789"), PATIENT), *kinds)
    assert canary.connections == 0
    if first.kind is Failure.CONNECTION:
        assert "resolved" in str(first)
    for problem in (first, second):
        for word in ("127.", "169.254", "::1", "1.1.1.1", "internal"):
            assert word not in str(problem)


def test_a_second_answer_of_the_resolver_is_never_asked_for(resolver, dialled):
    resolver.answers = {"judge.test": [["1.1.1.1"], ["127.0.0.1"], ["127.0.0.1"]]}
    refused(fetch("https://judge.test"), Failure.CONNECTION)
    assert (resolver.lookups, dialled) == (["judge.test"], ["1.1.1.1"])
    refused(fetch("https://judge.test"))
    assert dialled == ["1.1.1.1"]
    # Every checked address is tried, in order.
    dialled.clear()
    resolver.answers = {"judge.test": ["2606:4700::1111", "1.1.1.1", "1.1.1.1"]}
    failure = refused(fetch("https://judge.test"), Failure.CONNECTION)
    assert (dialled, str(failure)) == (["2606:4700::1111", "1.1.1.1"], "no connection")


def test_a_dead_first_address_does_not_hide_a_second_one(stub, resolver):
    listed = [AllowedNetwork(f"127.0.0.{n}", stub.port) for n in (1, 2)]
    resolver.answers = {"judge.test": ["127.0.0.2", "127.0.0.1"]}
    reply = asyncio.run(fetch(f"http://judge.test:{stub.port}/stub/counts", allowed=listed))
    assert reply.status == 200


def test_plain_http_is_for_listed_addresses_alone(resolver, dialled):
    resolver.answers = {"judge.test": ["1.1.1.1"], "both.test": ["1.1.1.1", "10.0.0.1"]}
    listed = [AllowedNetwork("10.0.0.0/24", 80)]
    refused(fetch("http://judge.test", allowed=listed))
    refused(fetch("http://both.test", allowed=listed))
    refused(fetch("http://10.0.0.1:81", allowed=listed))
    assert dialled == []
    refused(fetch("http://10.0.0.1", allowed=listed), Failure.CONNECTION)
    refused(fetch("https://judge.test", allowed=listed), Failure.CONNECTION)
    assert dialled == ["10.0.0.1", "1.1.1.1"]


def test_the_environment_names_no_proxy_and_no_password(
    canary, stub, allowed, monkeypatch, tmp_path
):
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{canary.port}")
        monkeypatch.setenv(name.upper(), f"http://127.0.0.1:{canary.port}")
    monkeypatch.delenv("NO_PROXY", raising=False)
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    assert asyncio.run(fetch(f"{stub.base_url}/models", allowed=allowed)).status == 200
    assert "authorization" not in stub.stub.last_headers
    assert asyncio.run(ask(OpenAIClient(stub.base_url, "k", allowed))).text
    assert canary.connections == 0


@pytest.mark.parametrize("status", [101, 300, 301, 302, 303, 304, 307, 308])
def test_redirects_are_not_followed_and_upgrades_are_no_reply(status, stub, allowed, canary):
    listed = [*allowed, AllowedNetwork("127.0.0.1", canary.port)]
    stub.conduct.redirected, stub.conduct.redirect_status = 1.0, status
    stub.conduct.redirect_to = f"http://127.0.0.1:{canary.port}/v1"
    url, upgrade = f"{stub.base_url}/chat/completions", {"Connection": "Upgrade", "Upgrade": "x"}
    refused(post_json(url, {}, allowed=listed, headers=upgrade if status == 101 else {}))
    kind = Failure.CONNECTION if status == 101 else Failure.BLOCKED
    refused(ask(OpenAIClient(stub.base_url, "k", listed)), kind)
    assert stub.counts["redirected"] == 2
    assert canary.connections == 0


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        ("gzipped", Failure.TOO_LARGE, "the reply is compressed"),
        ("huge", Failure.TOO_LARGE, "the reply is larger than 1,048,576 bytes"),
        ("endless", Failure.TOO_LARGE, "the reply is larger than 1,048,576 bytes"),
        ("headers", Failure.CONNECTION, ""),
        ("reset", Failure.CONNECTION, "the connection broke"),
        ("dripped", Failure.TIMEOUT, "no complete reply before the deadline"),
        ("hung", Failure.TIMEOUT, "no complete reply before the deadline"),
    ],
)
def test_a_reply_beyond_its_bounds_is_given_up(fault, kind, words, stub, allowed):
    setattr(stub.conduct, fault, 1.0)
    started, seconds = time.monotonic(), 0.5 if kind is Failure.TIMEOUT else 5.0
    asked = post_json(
        f"{stub.base_url}/chat/completions",
        {"messages": []},
        allowed=allowed,
        deadline=seconds,
        headers={"Accept-Encoding": "gzip, br"},
    )
    failure = refused(asked, kind)
    took = time.monotonic() - started
    assert words in str(failure)
    assert 0.4 < took < 1.5 if kind is Failure.TIMEOUT else took < 3
    assert fault == "headers" or stub.stub.last_headers["accept-encoding"] == "identity"


def test_a_reply_of_exactly_the_largest_size_is_fine(stub, allowed):
    stub.conduct.huge, stub.conduct.huge_bytes = 1.0, 5000
    url = f"{stub.base_url}/chat/completions"
    reply = asyncio.run(post_json(url, {}, allowed=allowed, max_bytes=5000))
    assert len(reply.body) == 5000
    refused(post_json(url, {}, allowed=allowed, max_bytes=4999), Failure.TOO_LARGE)


def test_a_slow_resolver_is_given_up(resolver, dialled):
    resolver.answers = {"slow.test": 5.0}

    async def attempt(**options):
        async with guarded_client(**options) as client:
            await client.get("https://slow.test", timeout=0.4 if not options else 5)

    assert str(refused(attempt(), Failure.TIMEOUT)) == "no complete reply before the deadline"
    failure = refused(attempt(connect_timeout=0.2), Failure.CONNECTION)
    assert str(failure) == "no connection within the time limit"
    assert dialled == []


async def answered_with(data, scheme="http"):
    """Fetch from a server that answers anything with ``data`` and hangs up."""

    async def answer(reader, writer):
        await reader.read(100)
        writer.write(data)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        return await fetch(
            f"{scheme}://127.0.0.1:{port}", allowed=[AllowedNetwork("127.0.0.1", port)]
        )


NOT_HTTP = (
    b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf",
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhalf",
    b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
    b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n12",
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    *(b"SSH-2.0-OpenSSH_9.6\r\n", b""),
)


def test_what_is_not_http_breaks_the_connection():
    for data in NOT_HTTP:
        failure = refused(answered_with(data), Failure.CONNECTION)
        assert str(failure) == "the connection broke", data


def test_every_encoding_but_the_identity_is_refused():
    data = b"HTTP/1.1 200 OK\r\ncontent-encoding: %b\r\ncontent-length: 2\r\n\r\nok"
    assert asyncio.run(answered_with(data % b"Identity")).body == b"ok"
    for encoding in (b"gzip", b"br", b"identity, gzip", b"x"):
        refused(answered_with(data.replace(b"200 OK", b"500 No") % encoding), Failure.TOO_LARGE)


def test_headers_are_sent_as_given_never_split_and_only_named_ones_leave(stub, allowed):
    signed = {"X-Signature": "abc", "Content-Type": "application/vnd.test+json"}
    url = f"{stub.base_url}/models"
    asyncio.run(post_json(url, {"a": 1}, headers=signed, allowed=allowed))
    assert stub.stub.last_headers["x-signature"] == "abc"
    assert stub.stub.last_headers["content-type"] == "application/vnd.test+json"
    refused(
        fetch(url, headers={"X-Signature": "a\r\nX-More: b"}, allowed=allowed),
        Failure.CONNECTION,
        Failure.BLOCKED,
    )
    refused(fetch(url, headers={"X-Signature": "\ud800"}, allowed=allowed))

    async def attempt():
        async with guarded_client(allowed, header_names={"host", "x-kept"}) as client:
            await client.get(f"{stub.base_url}/models", headers={"X-Kept": "1", "X-Lost": "2"})

    asyncio.run(attempt())
    assert set(stub.stub.last_headers) == {"host", "x-kept", "accept-encoding"}


class TestKeptConnections:
    async def get(self, url, allowed, times=3):
        async with guarded_client(allowed) as client:
            for _ in range(times):
                assert (await client.get(url)).status_code == 200

    def test_are_used_again(self, stub, allowed, resolver):
        resolver.answers = {"judge.test": ["127.0.0.1"]}
        asyncio.run(self.get(f"http://judge.test:{stub.port}/stub/counts", allowed))
        assert (stub.counts["connections"], len(resolver.lookups)) == (1, 1)

    def test_are_given_up_when_old_and_the_name_checked_anew(
        self, stub, allowed, resolver, monkeypatch
    ):
        monkeypatch.setattr(connections, "LONGEST_LIFE", -1.0)
        resolver.answers = {"judge.test": [["127.0.0.1"], ["127.0.0.1"], ["10.0.0.1"]]}
        refused(self.get(f"http://judge.test:{stub.port}/stub/counts", allowed))
        assert (stub.counts["connections"], len(resolver.lookups)) == (2, 3)

    def test_belong_to_their_loop(self, stub, allowed):
        client = guarded_client(allowed)
        url = f"{stub.base_url}/models"
        for _ in range(2):
            assert asyncio.run(client.get(url)).status_code == 200
        asyncio.run(client.aclose())
        assert stub.counts["connections"] == 2

    def test_do_not_wait_for_each_other(self, allowed, stub):
        stub.conduct.latency = 1.0

        async def many():
            async with guarded_client(allowed) as client:
                url = f"{stub.base_url}/chat/completions"
                await asyncio.gather(*(client.post(url, json={}) for _ in range(150)))

        asyncio.run(many())
        # HTTP libraries stop at 100 unless told otherwise.
        assert stub.counts["most_in_flight"] > 100


class TestTls:
    @pytest.fixture(autouse=True)
    def _trusted(self, authority, monkeypatch, resolver):
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
        resolver.answers = {"judge.test": ["127.0.0.1"]}

    async def asked(self, server, times=1, **options):
        """Requests in a row to a server whose address is listed."""
        url = f"https://judge.test:{server.port}/v1/models"
        async with guarded_client([AllowedNetwork("127.0.0.1", server.port)]) as client:
            for _ in range(times):
                assert (await client.get(url, **options)).status_code == 200

    def test_the_name_stays_the_name_and_is_agreed_on_once(self, authority):
        names = []
        with StubServer(tls=authority.context("judge.test", names)) as server:
            asyncio.run(self.asked(server, times=3))
            assert (names, server.counts["connections"]) == (["judge.test"], 1)
            assert server.stub.last_headers["host"] == f"judge.test:{server.port}"

    def test_another_name_does_not_do_and_cannot_be_set_from_outside(self, authority):
        with StubServer(tls=authority.context("other.test")) as server:
            failure = refused(self.asked(server), Failure.CERTIFICATE)
            named = {"extensions": {"sni_hostname": "other.test"}}
            refused(self.asked(server, **named), Failure.CERTIFICATE)
            listed = [AllowedNetwork("127.0.0.1", server.port)]
            client = OpenAIClient(f"https://judge.test:{server.port}/v1", "k", listed)
            refused(ask(client), Failure.CERTIFICATE)
            assert server.counts["requests"] == 0
        assert str(failure) == "the certificate could not be verified"

    def test_an_unknown_authority_does_not_do(self, authority, monkeypatch):
        monkeypatch.delenv("SSL_CERT_FILE")
        monkeypatch.delenv("SSL_CERT_DIR", raising=False)
        with StubServer(tls=authority.context("judge.test")) as server:
            refused(self.asked(server), Failure.CERTIFICATE)

    def test_a_server_without_tls_is_no_certificate_problem(self):
        data = b"HTTP/1.1 400 Bad Request\r\n\r\n"
        failure = refused(answered_with(data, "https"), Failure.CONNECTION)
        assert str(failure) == "the connection broke"


def test_a_deadline_is_never_missing(stub, allowed, monkeypatch):
    monkeypatch.setattr(egress, "LONGEST_DEADLINE", 0.3)
    stub.conduct.hung = 1.0

    async def attempt(timeout):
        async with guarded_client(allowed) as client:
            await client.post(f"{stub.base_url}/chat/completions", json={}, timeout=timeout)

    started = time.monotonic()
    refused(attempt(None), Failure.TIMEOUT)
    refused(attempt(httpx2.Timeout(20)), Failure.TIMEOUT)
    assert time.monotonic() - started < 10
