"""What the stub says: JSON that fits the schema asked for, or a label for the texts shown."""

import hashlib
import json
import re
from typing import Any

LABELS = 4


def number_of(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def answer(request: dict[str, Any], salt: str = "") -> str:
    """The same answer for the same messages; ``salt`` makes another one."""
    messages = json.dumps(request.get("messages", []), sort_keys=True) + salt
    asked = request.get("response_format") or {}
    if asked.get("type") == "json_schema":
        return json.dumps(instance(asked["json_schema"]["schema"], messages))
    last = str((request.get("messages") or [{}])[-1].get("content", ""))
    if "two hundred" in last:
        return "one, two, three, " * 200
    if "JSON" not in messages:
        return f"Word {number_of(messages) % 100_000}."
    ids = [int(found) for found in re.findall(r'^\{"id": ?(\d+)', last, re.MULTILINE)]
    if not ids:
        return json.dumps(labelled(messages))
    return json.dumps({"labels": [{"id": one} | labelled(f"{messages}{one}") for one in ids]})


def labelled(text: str) -> dict[str, Any]:
    number = number_of(text)
    return {"reason": f"Reason {number % 1000}.", "label": number % LABELS}


def instance(schema: dict[str, Any], text: str, place: int = 0) -> Any:
    """A value that fits the parts of JSON schema that judges use."""
    number = number_of(f"{text}|{place}")
    if "enum" in schema:
        # Ids of a batch are an enum, too: the place keeps each to one entry.
        values = schema["enum"]
        return values[place - 1] if 0 < place <= len(values) else values[number % len(values)]
    kind = schema.get("type")
    if kind == "object":
        children = schema.get("properties", {}).items()
        return {
            name: instance(child, f"{text}|{name}|{place}", place if name == "id" else 0)
            for name, child in children
        }
    if kind == "array":
        count = schema.get("minItems", 1)
        return [instance(schema["items"], text, place) for place in range(1, count + 1)]
    if kind in ("integer", "number"):
        low, high = schema.get("minimum", 0), schema.get("maximum", 10)
        return low + number % (high - low + 1)
    if kind == "boolean":
        return number % 2 == 0
    return f"Reason {number % 1000}."[: schema.get("maxLength", 1000)]
