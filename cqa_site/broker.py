"""Default message broker, which stores messages as files that workers never see half-written.

Kombu's own transport creates a message file in the queue folder before writing its content. A
worker that reads the file too early finds an empty message and crashes. The same happens with
the queue table.
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

    # The parent classes use two different names for this argument.
    def _put(self, queue: Any, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]
        # File names sort in sending order; workers ignore names that begin with a dot.
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
            # Another process was faster; or there are no links here, and Kombu creates the file.
            with suppress(OSError):
                os.link(part, file)
            part.unlink()
        super()._queue_bind(exchange, *binding)


class Transport(filesystem.Transport):
    """Kombu's file-system transport with atomic writes."""

    Channel = Channel
