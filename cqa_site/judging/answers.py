"""What an OpenAI-compatible server sent back, read without trusting its shape."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .chat import CallFailed, Failure
from .completions import decode, storable
from .transport.refusals import failure_of, status_inside

# Of an error's body; more says nothing more.
LONGEST_ERROR = 65_536


@dataclass(frozen=True, slots=True)
class Answer:
    """A 2xx reply: its JSON (None if it is none), its text, its id and how long it took."""

    document: Any
    body: str
    request_id: str
    milliseconds: int

    def field(self, name: str) -> Any:
        """A field of the document, or None."""
        return self.document.get(name) if isinstance(self.document, Mapping) else None

    def text(self, name: str) -> str:
        """A field that is text, or an empty one."""
        value = self.field(name)
        return storable(value) if isinstance(value, str) else ""

    def required(self, name: str) -> str:
        """A field that has to be text; raises `CallFailed` (``garbage``)."""
        value = self.text(name)
        if not value:
            message = f"the reply has no {name}"
            raise CallFailed(Failure.GARBAGE, message, status=200, body=self.body)
        return value


@dataclass(frozen=True, slots=True)
class BatchState:
    """A batch as the endpoint reports it; file ids are empty while there is no file."""

    id: str
    status: str
    output_file: str = ""
    error_file: str = ""
    total: int = 0
    completed: int = 0
    failed: int = 0


def answer_of(
    headers: Mapping[str, str], content: bytes, milliseconds: int, scrub: Callable[[str], str]
) -> Answer:
    """Read a 2xx reply.

    Raises
    ------
    CallFailed
        If it is an error that was sent with a 200.
    """
    body = scrub(storable(content))
    document = decode(body.encode())
    status = status_inside(document)
    if status is not None:
        raise failure_of(status, headers, document, body=body, milliseconds=milliseconds)
    return Answer(document, body, scrub(headers.get("x-request-id", "")), milliseconds)


def refusal_of(
    status: int,
    headers: Mapping[str, str],
    content: bytes,
    milliseconds: int,
    scrub: Callable[[str], str],
) -> CallFailed:
    """Read a reply with a status from 400 on."""
    body = scrub(storable(content[:LONGEST_ERROR]))
    document = decode(body.encode())
    return failure_of(status, headers, document, body=body, milliseconds=milliseconds)


def batch_of(answer: Answer) -> BatchState:
    """Read a batch; raises `CallFailed` (``garbage``) if it is none."""
    counts = answer.field("request_counts")
    numbers = counts if isinstance(counts, Mapping) else {}
    return BatchState(
        id=answer.required("id"),
        status=answer.required("status"),
        output_file=answer.text("output_file_id"),
        error_file=answer.text("error_file_id"),
        total=_count(numbers.get("total")),
        completed=_count(numbers.get("completed")),
        failed=_count(numbers.get("failed")),
    )


def batch_marked(answer: Answer, metadata: Mapping[str, str]) -> BatchState | None:
    """The first batch of a list whose metadata hold all of ``metadata``; None if there is none."""
    listed = answer.field("data")
    for entry in listed if isinstance(listed, list) else []:
        held = entry.get("metadata") if isinstance(entry, Mapping) else None
        if isinstance(held, Mapping) and metadata.items() <= held.items():
            return batch_of(Answer(entry, "", "", 0))
    return None


def model_names(answer: Answer) -> list[str]:
    """The ids of a list of models; entries of another shape are left out."""
    listed = answer.field("data")
    entries = listed if isinstance(listed, list) else []
    ids = [entry.get("id") for entry in entries if isinstance(entry, Mapping)]
    return [storable(one) for one in ids if isinstance(one, str)]


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value >= 0 else 0
