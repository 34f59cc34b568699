"""Health of this container's process, checked with `python probe.py web`, or `worker`.

Without Django, which would take half a second of the processor at each look.
"""

import os
import socket
import sys
import urllib.request
from pathlib import Path

SECONDS = 4
# The minute is `ALIVE` in cqa_site/runs/jobs.py, whose import would load Django.
SEEN = "SELECT 1 FROM runs_workerbeat WHERE host = %s AND seen_at > now() - interval '1 minute'"


def web() -> bool:
    """Whether the web server answers and reaches its database, asked like the proxy does."""
    host = os.environ.get("ALLOWED_HOSTS", "localhost").partition(",")[0]
    request = urllib.request.Request(
        f"http://127.0.0.1:{os.environ.get('PORT', '8000')}/healthz",
        headers={"Host": host, "X-Forwarded-Proto": "https"},
    )
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
        return bool(answer.status == 200)


def worker() -> bool:
    """Whether a worker of this container looked for work within the last minute."""
    import psycopg

    file = os.environ.get("DATABASE_PASSWORD_FILE")
    password = Path(file).read_text().strip() if file else None
    url = os.environ["DATABASE_URL"]
    with psycopg.connect(url, password=password, connect_timeout=SECONDS) as connection:
        return connection.execute(SEEN, [socket.gethostname()]).fetchone() is not None


def main() -> int:
    """Report a failure in one line, including no answer in time."""
    try:
        is_well = {"web": web, "worker": worker}[sys.argv[1]]()
    except Exception as problem:  # noqa: BLE001 - whatever it is, it is not well
        sys.stderr.write(f"{problem}\n")
        return 1
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
