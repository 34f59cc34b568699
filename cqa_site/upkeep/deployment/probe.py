"""Health check for the process in a container: `python probe.py web` or `python probe.py worker`.

Django is not used, because loading it would cost half a second of processor time per check.
"""

import os
import socket
import sys
import urllib.request
from pathlib import Path

SECONDS = 4
# The minute corresponds to `ALIVE` in cqa_site/runs/jobs.py, whose import would load Django.
SEEN = "SELECT 1 FROM runs_workerbeat WHERE host = %s AND seen_at > now() - interval '1 minute'"


def web() -> bool:
    """Return whether the web server responds to a proxy's request and reaches its database."""
    host = os.environ.get("ALLOWED_HOSTS", "localhost").partition(",")[0]
    request = urllib.request.Request(
        f"http://127.0.0.1:{os.environ.get('PORT', '8000')}/healthz",
        headers={"Host": host, "X-Forwarded-Proto": "https"},
    )
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
        return bool(answer.status == 200)


def worker() -> bool:
    """Return whether a worker in this container looked for work within the last minute."""
    import psycopg

    file = os.environ.get("DATABASE_PASSWORD_FILE")
    password = Path(file).read_text().strip() if file else None
    url = os.environ["DATABASE_URL"]
    with psycopg.connect(url, password=password, connect_timeout=SECONDS) as connection:
        return connection.execute(SEEN, [socket.gethostname()]).fetchone() is not None


def main() -> int:
    """Run a check, and report an error, such as a timeout, on one line."""
    try:
        is_well = {"web": web, "worker": worker}[sys.argv[1]]()
    except Exception as problem:  # noqa: BLE001 - any error means unhealthy
        sys.stderr.write(f"{problem}\n")
        return 1
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
