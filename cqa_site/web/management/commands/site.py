"""Run the site and its worker together until one is told to stop."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing, suppress
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

WORKER_RESTART_SECONDS = 2
SERVER_LOG = settings.BASE_DIR / "cqa_site/upkeep/watching/server_log.json"


class Command(BaseCommand):
    help = "Run the web server and one background worker; Ctrl+C stops both."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--workers", type=int, default=1, help="web processes")
        parser.add_argument("--threads", type=int, default=4, help="threads per web process")
        parser.add_argument("--no-worker", action="store_true", help="web server only")

    def handle(self, *args: Any, **options: Any) -> None:
        for name in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(name, _interrupt)
        _check_port(options["host"], options["port"])
        code = self._run(options)
        if code not in (0, -signal.SIGTERM, -signal.SIGINT):
            raise CommandError(_how_it_ended(code))

    def _run(self, options: dict[str, Any]) -> int:
        """Run both until one is told to stop; return how the web server ended."""
        web = _start(_web_command(options))
        worker = None if options["no_worker"] else _start(_worker_command())
        try:
            while web.poll() is None:
                time.sleep(0.5)
                if worker is not None and worker.poll() is not None:
                    self.stderr.write("The worker stopped; starting it again.")
                    _stop(worker)
                    time.sleep(WORKER_RESTART_SECONDS)
                    worker = _start(_worker_command())
        except KeyboardInterrupt:
            self.stdout.write("Stopping.")
        finally:
            _stop(worker)
            _stop(web)
        return web.returncode


def _interrupt(*args: Any) -> None:
    raise KeyboardInterrupt


def _check_port(host: str, port: int) -> None:
    """Refuse a port somebody listens on: the web server would share it with an earlier one.

    A site whose `manage.py site` was killed (kill -9) goes on without it and answers
    every other request, with its old code.
    """
    try:
        family, *_rest, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with closing(socket.socket(family)) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise CommandError(
            f"The site cannot listen on {host}, port {port}: {error.strerror}. If the address is "
            "in use, another program has it, or an earlier site whose command was killed and "
            'whose web server still runs: look for "granian cqa_site" among the processes and '
            f"end it, or choose another port: --port {port + 1}"
        ) from error


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return f"The web server ended with code {code}; the lines above say why."
    name = signal.Signals(-code).name
    return f"The web server was ended by {name}: somebody ended it, or memory ran out."


def _web_command(options: dict[str, Any]) -> list[str]:
    return [
        sys.executable, "-m", "granian", "cqa_site.wsgi:application",
        "--interface", "wsgi",
        "--host", options["host"],
        "--port", str(options["port"]),
        "--workers", str(options["workers"]),
        "--blocking-threads", str(options["threads"]),
        "--log-level", "warning",
        "--log-config", str(SERVER_LOG),
    ]  # fmt: skip


def _worker_command() -> list[str]:
    return [
        sys.executable, "-m", "celery", "--quiet", "-A", "cqa_site", "worker",
        "--pool", "threads", "--concurrency", "2", "--without-mingle", "--without-gossip",
        "--loglevel", "WARNING",
    ]  # fmt: skip


def _start(command: list[str]) -> subprocess.Popen:
    """Start a process as the head of a group, so that what it starts ends with it.

    This command has run Django's checks; in the worker they would load every page.
    """
    environment = os.environ | {"CELERY_SKIP_CHECKS": "true"}
    return subprocess.Popen(command, env=environment, start_new_session=True)


def _stop(process: subprocess.Popen | None) -> None:
    """Ask the process to end, insist after ten seconds, and end what it leaves behind."""
    if process is None:
        return
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
