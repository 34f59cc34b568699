"""Several people who do something at the same moment."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from django.db import connections


def at_once(work: Callable[[Any], Any], people: Sequence[Any]) -> list[Any]:
    """Return what each person's work returned or raised; all begin together, one thread each."""
    start, found = threading.Barrier(len(people)), []

    def begin(person: Any) -> None:
        try:
            start.wait()
            found.append(work(person))
        except Exception as error:  # noqa: BLE001 the test looks at it
            found.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=begin, args=[each]) for each in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found
