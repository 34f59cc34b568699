"""The embedded broker: a worker never sees half a message."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty

import pytest
from kombu import Connection

from cqa_site.broker import Transport


@pytest.fixture
def channel(tmp_path):
    for name in ("queue", "control"):
        (tmp_path / name).mkdir()
    options = {
        "data_folder_in": str(tmp_path / "queue"),
        "data_folder_out": str(tmp_path / "queue"),
        "control_folder": str(tmp_path / "control"),
    }
    with Connection(transport=Transport, transport_options=options) as connection:
        yield connection.channel()


def test_messages_come_in_order_and_none_that_is_being_written(channel, monkeypatch):
    for number in range(3):
        channel._put("bell", {"number": number})
    channel._put("other", {"number": 9})
    assert [channel._get("bell")["number"] for _each in range(3)] == [0, 1, 2]
    write, looked = Path.write_text, []

    def look(path, text, **more):
        for half in (text[:3], text):
            write(path, half, **more)
            with pytest.raises(Empty):
                channel._get("bell")
            looked.append(channel._size("bell"))

    monkeypatch.setattr(Path, "write_text", look)
    channel._put("bell", {"number": 4})
    assert looked == [0, 0]
    assert channel._get("bell") == {"number": 4}
    assert channel._size("other") == 1


def test_processes_that_start_together_bind_their_queues(channel):
    """Threads with files of their own are as good as processes."""
    together = threading.Barrier(4, timeout=60)

    def bind(number):
        together.wait()
        channel._queue_bind(f"exchange-{number // 4}", "", "", f"queue-{number % 4}")

    with ThreadPoolExecutor(4) as beside:
        list(beside.map(bind, range(400)))
    for number in range(100):
        found = {row.queue for row in channel.get_table(f"exchange-{number}")}
        assert found == {f"queue-{each}" for each in range(4)}
