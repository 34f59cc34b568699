"""An OpenID Connect provider of our own: a small server on this machine that can lie on demand.

It keeps the rules itself (one use of a code, the address to return to, PKCE, the client's secret),
so that what it accepts would be accepted elsewhere.
"""

import base64
import hashlib
import hmac
import json
import secrets
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

CLIENT, SECRET, KEY_ID = "counterpoint", "the-client-secret-" * 2, "key-1"
PERSON = {"sub": "person-1", "email": "ada@uni.example", "email_verified": True, "name": "Ada"}


class FakeProvider:
    """Serve until closed; `reset` makes it honest again."""

    def __init__(self):
        self.key = rsa.generate_private_key(65537, 2048)
        self.other_key = rsa.generate_private_key(65537, 2048)
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.server.daemon_threads = True
        self.issuer = f"http://127.0.0.1:{self.server.server_port}"
        Thread(
            target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()
        self.reset()

    def reset(self):
        """Forget all codes and lies."""
        self.codes, self.asked = {}, []
        # Claims of the ID token that differ; None leaves one out.
        self.claims, self.userinfo = {}, {}
        self.signing, self.key_id = "RS256", KEY_ID
        # By address: a function of the handler that answers instead.
        self.instead = {}
        self.description = {}

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def allow(self, query, person=None):
        """What happens when a person says yes at the provider: a code for this request."""
        code = secrets.token_urlsafe(16)
        self.codes[code] = (query, {**PERSON, **(person or {})})
        return code

    def describe(self):
        ends = {"authorization": "authorize", "token": "token", "userinfo": "userinfo"}
        return {
            "issuer": self.issuer,
            **{f"{name}_endpoint": f"{self.issuer}/{end}" for name, end in ends.items()},
            "jwks_uri": f"{self.issuer}/keys",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
            **self.description,
        }

    def keys(self):
        public = jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return {"keys": [{**public, "kid": KEY_ID, "use": "sig", "alg": "RS256"}]}

    def exchange(self, form):
        """Tokens for a code, or None where one of the rules is broken."""
        query, person = self.codes.pop(form.get("code", ""), ({}, {}))
        proof = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(proof).rstrip(b"=").decode()
        rules = (
            form.get("client_secret") == SECRET,
            form.get("redirect_uri") == query.get("redirect_uri"),
            query.get("code_challenge_method") == "S256",
            query.get("code_challenge") == challenge,
        )
        if not person or not all(rules):
            return None
        access = secrets.token_urlsafe(16)
        self.codes[access] = (query, person)
        tokens = {"access_token": access, "id_token": self.id_token(query, person)}
        return tokens | {"token_type": "Bearer", "expires_in": 60}

    def id_token(self, query, person):
        now = int(time.time())
        # Who is signed in here is asked again only where the request says so.
        shown = now if query.get("max_age") == "0" else now - 3600
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300}
        claims |= {"nonce": query.get("nonce"), "auth_time": shown}
        claims = {**person, **claims, **self.claims}
        return self.sign({name: value for name, value in claims.items() if value is not None})

    def sign(self, claims):
        headers = {"kid": self.key_id}
        if self.signing == "none":
            return jwt.encode(claims, "", algorithm="none", headers=headers)
        if self.signing == "HS256 with the public key":
            pem = self.key.public_key().public_bytes(
                Encoding.PEM, PublicFormat.SubjectPublicKeyInfo
            )
            return _hmac_token(claims, pem, headers)
        if self.signing == "HS256 with the client's secret":
            return jwt.encode(claims, SECRET, algorithm="HS256", headers=headers)
        key = self.other_key if self.signing == "another key" else self.key
        token = jwt.encode(claims, key, algorithm="RS256", headers=headers)
        return token.rpartition(".")[0] + "." if self.signing == "cut off" else token


def _hmac_token(claims, secret, headers):
    """PyJWT refuses to make such a token."""

    def part(value):
        return base64.urlsafe_b64encode(value).rstrip(b"=")

    head = part(json.dumps({"alg": "HS256", "typ": "JWT", **headers}).encode())
    body = head + b"." + part(json.dumps(claims).encode())
    return (body + b"." + part(hmac.new(secret, body, "sha256").digest())).decode()


def _handler(provider):
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args):
            """Quiet."""

        def do_GET(self):
            path = urlsplit(self.path).path
            if path == "/authorize":
                self.authorize()
            elif not self.lie(path):
                found = {
                    "/.well-known/openid-configuration": provider.describe,
                    "/keys": provider.keys,
                    "/userinfo": self.userinfo,
                }[path]()
                self.answer(200 if found else 401, found or {})

        def do_POST(self):
            size = int(self.headers.get("Content-Length", 0))
            form = {k: v[0] for k, v in parse_qs(self.rfile.read(size).decode()).items()}
            provider.asked.append(form)
            if not self.lie("/token"):
                found = provider.exchange(form)
                self.answer(200 if found else 400, found or {"error": "invalid_grant"})

        def authorize(self):
            """A person who is signed in here and says yes at once."""
            query = dict(parse_qsl(urlsplit(self.path).query))
            back = urlencode({"state": query["state"], "code": provider.allow(query)})
            self.send_response(302)
            self.send_header("Location", f"{query['redirect_uri']}?{back}")
            self.end_headers()

        def userinfo(self):
            access = self.headers.get("Authorization", "").removeprefix("Bearer ")
            _query, person = provider.codes.get(access, ({}, None))
            return person and {**person, **provider.userinfo}

        def lie(self, path):
            if path not in provider.instead:
                return False
            with suppress(OSError):  # whoever asked hung up
                provider.instead[path](self)
            return True

        def answer(self, status, body):
            text = json.dumps(body).encode() if not isinstance(body, bytes) else body
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

    return Handler
