"""The background worker of ``manage.py site``: ``python -m cqa_site.worker``.

Celery's own command does the same, but takes 8 MiB more because it loads all Celery commands.
"""

import sys

from cqa_site.celery import app


def main() -> int:
    """Run the worker until a signal ends it; return the exit status."""
    worker = app.Worker(
        pool_cls="threads", concurrency=2, without_mingle=True, without_gossip=True, quiet=True
    )
    worker.start()
    return int(worker.exitcode or 0)


if __name__ == "__main__":
    sys.exit(main())
