"""A passkey in software: what a browser and a device answer, and what a hostile one would."""

import hashlib
import json
import secrets

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2 import cbor
from fido2.cose import ES256
from fido2.utils import websafe_encode

ORIGIN, HOST = "https://testserver", "testserver"
PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40


class Passkey:
    """One key of one person, in as many devices as a test likes."""

    def __init__(self, handle=b""):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.id = secrets.token_bytes(16)
        self.handle, self.count = handle, 0

    def make(self, options, origin=ORIGIN, flags=PRESENT | VERIFIED):
        """The answer to being made."""
        asked = options["publicKey"]
        self.handle = asked["user"]["id"]
        public = ES256.from_cryptography_key(self.key.public_key())
        attested = bytes(16) + len(self.id).to_bytes(2) + self.id + cbor.encode(dict(public))
        data = self.data(flags | ATTESTED) + attested
        client = client_data("webauthn.create", asked["challenge"], origin)
        attestation = cbor.encode({"fmt": "none", "attStmt": {}, "authData": data})
        return self.answer(clientDataJSON=client, attestationObject=attestation)

    def use(self, options, *, origin=ORIGIN, flags=PRESENT | VERIFIED, handle=None, key=None):
        """The answer to being used."""
        self.count += 1
        data = self.data(flags)
        client = client_data("webauthn.get", options["publicKey"]["challenge"], origin)
        signed = (key or self.key).sign(
            data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256())
        )
        found = self.answer(clientDataJSON=client, authenticatorData=data, signature=signed)
        found["response"]["userHandle"] = handle or self.handle
        return found

    def data(self, flags):
        return hashlib.sha256(HOST.encode()).digest() + bytes([flags]) + self.count.to_bytes(4)

    def answer(self, **response):
        parts = {name: websafe_encode(value) for name, value in response.items()}
        name, is_kept = websafe_encode(self.id), {"credProps": {"rk": True}}
        known = {"id": name, "rawId": name, "type": "public-key"}
        return known | {"clientExtensionResults": is_kept, "response": parts}


def client_data(kind, challenge, origin):
    return json.dumps({"type": kind, "challenge": challenge, "origin": origin}).encode()
