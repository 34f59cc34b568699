"""Broker of the embedded default: messages as files that are complete once visible.

Kombu's own transport makes the file of a message where workers look, and writes it then. A worker
that looks in between finds an empty message, cannot read it, and ends with all its work. So does
who looks at the table of queues while it is made.
"""

import os
from contextlib import suppress
from pathlib import Path
from time import monotonic_ns
from typing import Any
from uuid import uuid4

from kombu.transport import filesystem
from kombu.utils.json import dumps


class Channel(filesystem.Channel):
    """Channel that writes a message to a temporary file, then moves it into place."""

    # Its own parents call the message by two names.
    def _put(self, queue: Any, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]
        # In the order in which they were put; a name that begins with a dot is nobody's message.
        name = f"{monotonic_ns():020}_{uuid4()}.{queue}.msg"
        folder = Path(self.data_folder_out)
        part = folder / f".{name}"
        part.write_text(dumps(payload), encoding="utf-8")
        part.rename(folder / name)

    def _queue_bind(self, exchange: Any, *binding: Any) -> None:
        """Create an empty queue table atomically, once, before messages are written."""
        file = self._exchange_file(exchange)
        if not file.exists():
            self.control_folder.mkdir(exist_ok=True)
            part = file.with_name(f".{uuid4()}")
            part.write_text("[]", encoding="utf-8")
            # Another one was first, or the file system has no links: then Kombu makes it.
            with suppress(OSError):
                os.link(part, file)
            part.unlink()
        super()._queue_bind(exchange, *binding)


class Transport(filesystem.Transport):
    """Kombu's transport with this channel."""

    Channel = Channel
