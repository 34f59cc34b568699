"""Replies that failed, were cut, or hold something else than an answer, and what each is worth.

Every shape is the body of a 200: bytes as they are, or a choice put into a completion.
"""

import json
from dataclasses import dataclass
from typing import Any

from cqa_site.judging.chat import Failure
from cqa_site.judging.extraction import UnscoredReason

GOOD = '{"reason": "both named", "label": 2}'
USAGE = {"prompt_tokens": 100, "completion_tokens": 10}


@dataclass(frozen=True)
class Shape:
    """One shape: what the server sends, and the label or the reason for none."""

    body: bytes
    expected: int | UnscoredReason | Failure


def told(text: Any, finish: Any = "stop", **message: Any) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": text} | message, "finish_reason": finish}


def sent(choice: dict[str, Any], **fields: Any) -> bytes:
    return json.dumps({"model": "stub-1", "choices": [choice], "usage": USAGE} | fields).encode()


def _texts() -> dict[str, tuple[str, int | UnscoredReason]]:
    """Texts of a reply that ended by itself."""
    draft = '{"label": 3}'
    marks = {
        "think": ("<think>", "</think>"),
        "thinking": ("<thinking>", "</thinking>"),
        "upper case in brackets": ("[THINK]", "[/THINK]"),
        "words in brackets": ("[REASONING]", "[/REASONING]"),
        "reasoning": ("<reasoning>", "</reasoning>"),
        "triangles": ("◁think▷", "◁/think▷"),
        "channels": (
            "<|channel|>analysis<|message|>",
            "<|end|><|start|>assistant<|channel|>final<|message|>",
        ),
        "channels without marks": ("analysisWe rate. ", "assistantfinal"),
        "bars": ("<|begin_of_thought|>", "<|end_of_thought|>"),
        "capitals with bars": ("<|START_THINKING|>", "<|END_THINKING|>"),
        "a namespace": ("<seed:think>", "</seed:think>"),
        "an attribute": ('<think duration="3">', "</think>"),
        "a scratchpad": ("<scratchpad>", "</scratchpad>"),
        "a reflection": ("<reflection>", "</reflection>"),
        "unused tokens": ("<unused94>thought\n", "<unused95>"),
        "a fence": ("```thinking\n", "\n```\n"),
        "angles": ("〈think〉", "〈/think〉"),
        "guillemets": ("«thinking»", "«/thinking»"),
        "another script": ("【思考】", "【/思考】"),
        "escapes": ("&lt;think&gt;", "&lt;/think&gt;"),
        "two words": ("[BEGIN THINKING]", "[END THINKING]"),
        "a box": ('<details type="reasoning">', "</details>"),
        "lines in brackets": ("(thinking)\n", "\n(/thinking)\n"),
        "a sentence": ("Here is my thought process: ", "\nHere is my response:\n"),
    }
    found: dict[str, tuple[str, int | UnscoredReason]] = {}
    for name, (start, stop) in marks.items():
        found[f"draft in {name}"] = (f"{start}{draft}{stop}{GOOD}", 2)
        found[f"draft in {name}, unclosed"] = (f"{start}\n{draft}", UnscoredReason.TRUNCATED)
        if name not in ("a fence", "a box", "a sentence"):
            found[f"draft before the end of {name}"] = (f"{draft}\n{stop}{GOOD}", 2)
    return found | {
        "draft in words, answer in words": (
            "Maybe 3. The answer should be 2.", UnscoredReason.NO_JSON,
        ),
        "the answer should be, after a draft": (
            f"Maybe 3.\nThe answer should be {GOOD}", UnscoredReason.NO_JSON,
        ),
        "the answer should be, on a line of its own": (
            f"Maybe 3.\nThe answer should be:\n```json\n{GOOD}\n```", UnscoredReason.NO_JSON,
        ),
        "a draft, then should be": (
            f"{draft}\n\nThe answer should be 2.", UnscoredReason.AMBIGUOUS,
        ),
        "a draft, then another thought": (
            f"{draft}\nWait, the second one is not named.", UnscoredReason.AMBIGUOUS,
        ),
        "a draft, then another label": (f"{draft}\n\nFinal label: 2", UnscoredReason.AMBIGUOUS),
        "a draft, then a number": (f"{draft}\n\n**2**", UnscoredReason.AMBIGUOUS),
        "a draft, then no": (f"{draft}\n\nNo, 2.", UnscoredReason.AMBIGUOUS),
        "a draft, then it is": (f"{draft}\n\nOn balance it is 2.", UnscoredReason.AMBIGUOUS),
        "a draft under a heading": (f"### Reasoning\n{draft}", UnscoredReason.NO_JSON),
        "other labels in the explanation": (
            f"{GOOD}\nBoth are named:\n1. tea\n2. coffee\nLabel 3 would need a reason.", 2,
        ),
        "a draft before an answer in brackets": (f"(thinking)\n{draft}\n(answer)\n{GOOD}", 2),
        "a draft, then done thinking": (
            f"Thinking...\n3?\n{draft}\n...done thinking.\n", UnscoredReason.EMPTY,
        ),
        "an answer below done thinking": (f"Thinking...\n{draft}\n...done thinking.\n\n{GOOD}", 2),
        "a draft that calls itself one": (f"First draft: {draft}", UnscoredReason.NO_JSON),
        "the same label again behind it": (f"{GOOD}\n\nThe label is 2: both are named.", 2),
        "a raw line break in a text": ('{"reason": "both\nnamed", "label": 2}', 2),
        "a raw line break in a fence": ('```\n{"reason": "a\r\n\tb", "label": 2}\n```', 2),
        "a raw control character": ('{"reason": "a\x01b", "label": 2}', UnscoredReason.NO_JSON),
        "quotes in quotes": ('{"reason": "it says "both"", "label": 2}', UnscoredReason.NO_JSON),
        "a label as a word": ('{"label": "two"}', UnscoredReason.WRONG_TYPE),
    }  # fmt: skip


def _finishes() -> dict[str, tuple[Any, int | UnscoredReason | Failure]]:
    """Finish reasons over a text that looks whole."""
    return {
        "stop": ("stop", 2),
        "STOP": ("STOP", 2),
        "end_turn": ("end_turn", 2),
        "eos_token": ("eos_token", 2),
        "none": (None, 2),
        "empty": ("", 2),
        "length": ("length", UnscoredReason.TRUNCATED),
        "max_tokens": ("max_tokens", UnscoredReason.TRUNCATED),
        "MAX_OUTPUT_TOKENS": ("MAX_OUTPUT_TOKENS", UnscoredReason.TRUNCATED),
        "model_length": ("model_length", UnscoredReason.TRUNCATED),
        "content_filter": ("content_filter", UnscoredReason.REFUSED),
        "SAFETY": ("SAFETY", UnscoredReason.REFUSED),
        "error": ("error", Failure.SERVER),
        "abort": ("abort", Failure.SERVER),
        "tool_calls": ("tool_calls", UnscoredReason.UNFINISHED),
        "an unknown word": ("quux", UnscoredReason.UNFINISHED),
        "a number": (3, UnscoredReason.UNFINISHED),
    }


BUSY = {"code": 502, "message": "upstream broke"}


def shapes() -> dict[str, Shape]:
    """All of them by name."""
    found = {name: Shape(sent(told(text)), worth) for name, (text, worth) in _texts().items()}
    for name, (finish, worth) in _finishes().items():
        found[f"finish reason: {name}"] = Shape(sent(told(GOOD, finish)), worth)
    parts = [{"type": "text", "text": GOOD[:9]}, {"type": "text", "text": GOOD[9:]}]
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": '{"label": 3}'}]}
    loud = {"type": "reasoning", "text": '{"label": 3}'}
    bodies: dict[str, tuple[bytes, int | UnscoredReason | Failure]] = {
        "an error in a choice": (sent(told(GOOD) | {"error": BUSY}), Failure.SERVER),
        "an error in words in a choice": (sent(told(GOOD) | {"error": "boom"}), Failure.SERVER),
        "an error in a message": (sent(told(GOOD, error=BUSY)), Failure.SERVER),
        "an error beside choices": (sent(told(GOOD), error=BUSY), Failure.SERVER),
        "an error without a number": (sent(told(""), error={"type": "x"}), Failure.SERVER),
        "no error beside choices": (sent(told(GOOD) | {"error": None}, error=None), 2),
        "an error instead of choices": (b'{"error": {"message": "boom"}}', Failure.SERVER),
        "an error in words": (b'{"error": "boom"}', Failure.SERVER),
        "no choices": (b'{"choices": []}', UnscoredReason.EMPTY),
        "a refusal": (sent(told(None, refusal="I cannot.")), UnscoredReason.REFUSED),
        "a refusal beside a text": (sent(told(GOOD, refusal="I cannot.")), UnscoredReason.REFUSED),
        "nothing": (sent(told(None)), UnscoredReason.EMPTY),
        "parts": (sent(told(parts)), 2),
        "a thought among the parts": (sent(told([thought, *parts])), 2),
        "a thought in words among the parts": (sent(told([loud, *parts])), 2),
        "only a thought among the parts": (sent(told([loud])), UnscoredReason.EMPTY),
        "a thought apart": (sent(told(GOOD, reasoning_content='{"label": 3}')), 2),
        "no usage": (sent(told(GOOD), usage=None), 2),
        "a page": (b"<html><body>Bad gateway</body></html>", Failure.GARBAGE),
        "half a body": (sent(told(GOOD))[:80], Failure.GARBAGE),
    }  # fmt: skip
    return found | {name: Shape(*given) for name, given in bodies.items()}


SHAPES = shapes()
