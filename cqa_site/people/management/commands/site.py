"""Run the site and its worker together until the command is stopped."""

import http.client
import signal
import socket
import subprocess
import time
from contextlib import closing, suppress
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from django.urls import reverse

from cqa_site import leash
from cqa_site.judging import packages
from cqa_site.people.actions import first_key, has_no_administrator
from cqa_site.preparing import prepare

WORKER_RESTART_SECONDS = 2
SERVER_LOG = settings.BASE_DIR / "cqa_site/upkeep/watching/server_log.json"
BEING_FETCHED = (
    "Language packages and the built-in model are being downloaded; work that needs "
    "them starts automatically afterwards."
)
FETCHED = "Language packages and the built-in model are installed."
# Intervals between checks of the processes; the shorter one applies until the first page loads.
LOOK_SECONDS, FIRST_LOOK_SECONDS = 0.5, 0.05
ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - where it answers, if it listens so


class Command(BaseCommand):
    help = "Run the web server and one background worker; Ctrl+C stops both."
    # A function, passed by another command, that returns lines to print about the served data.
    stealth_options = ("about",)

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--workers", type=int, default=1, help="web processes")
        parser.add_argument("--threads", type=int, default=4, help="threads per web process")
        parser.add_argument("--no-worker", action="store_true", help="web server only")
        parser.add_argument(
            "--prepare",
            action="store_true",
            help="create tables and collect static files if needed",
        )
        parser.add_argument(
            "--fetch",
            action="store_true",
            help="download missing language packages while the site runs",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        for name in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(name, _interrupt)
        check_port(options["host"], options["port"])
        if options["prepare"]:
            prepare()
        code = self._run(options)
        if code not in (0, -signal.SIGTERM, -signal.SIGINT):
            raise CommandError(_how_it_ended(code))

    def _run(self, options: dict[str, Any]) -> int:
        """Run both processes until the command is stopped; return the web server's exit code."""
        web = leash.start(_web_command(options))
        worker = fetcher = None
        try:
            missing = options["fetch"] and bool(_missing())
            about = options["about"]() if options.get("about") else []
            if _is_served(web, options):
                self._tell(options, [*about, f"Data folder: {settings.DATA_DIR}"])
                self._tell_first(options)
                if missing:
                    self.stdout.write(BEING_FETCHED)
                worker = None if options["no_worker"] else _start_worker()
                fetcher = _start_fetching() if options["fetch"] else None
            while web.poll() is None:
                time.sleep(LOOK_SECONDS)
                if worker is not None and worker.poll() is not None:
                    self.stderr.write("The worker stopped and is being restarted.")
                    leash.stop(worker)
                    time.sleep(WORKER_RESTART_SECONDS)
                    worker = _start_worker()
                if fetcher is not None and fetcher.poll() is not None:
                    if missing:
                        self.stdout.write("\n".join(map(str, _missing())) or FETCHED)
                    fetcher = None
        except KeyboardInterrupt:
            self.stdout.write("Stopping.")
        finally:
            for process in filter(None, (fetcher, worker, web)):
                leash.stop(process)
        return web.returncode

    def _tell(self, options: dict[str, Any], about: list[str]) -> None:
        address = self.style.SUCCESS(f"\nCounterpoint: {_address(options)}")
        self.stdout.write(f"{address}  (press Ctrl+C to stop)\n")
        for line in about:
            self.stdout.write(line)

    def _tell_first(self, options: dict[str, Any]) -> None:
        try:
            is_new = has_no_administrator()
        except DatabaseError:  # without tables, the pages explain the problem
            return
        if is_new:
            link = _address(options) + reverse("first_link", args=[first_key()])
            self.stdout.write(
                "Nobody can sign in yet. Create your administrator account here:\n"
                f"  {self.style.SUCCESS(link)}\n"
                "(do not share this link; it works for seven days)"
            )


def _address(options: dict[str, Any]) -> str:
    """Return the URL for a browser on this machine."""
    host = ANYWHERE.get(options["host"], options["host"])
    return (
        f"http://[{host}]:{options['port']}" if ":" in host else f"http://{host}:{options['port']}"
    )


def _interrupt(*args: Any) -> None:
    raise KeyboardInterrupt


def check_port(host: str, port: int) -> None:
    """Refuse a port that is in use, because two web servers could share it."""
    try:
        family, *_rest, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with closing(socket.socket(family)) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise CommandError(
            f"The site cannot listen on {host}, port {port}: {error.strerror}. "
            f"Choose another port: --port {port + 1}, or PORT={port + 1} after make"
        ) from error


def _is_served(web: subprocess.Popen[bytes], options: dict[str, Any]) -> bool:
    """Wait for the first page; return False if the web server exits before that."""
    while not _answers(options["host"], options["port"]):
        if web.poll() is not None:
            return False
        time.sleep(FIRST_LOOK_SECONDS)
    return True


def _answers(host: str, port: int) -> bool:
    """Return whether the server responds; the content of the response does not matter."""
    connection = http.client.HTTPConnection(ANYWHERE.get(host, host), port, timeout=5)
    with closing(connection), suppress(OSError, http.client.HTTPException):
        connection.request("GET", "/healthz")
        return bool(connection.getresponse().status)
    return False


def _missing() -> list[packages.PackageState]:
    """Return the states of the missing language packages."""
    return [state for part in packages.PackagePart if not (state := packages.state(part)).is_there]


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return f"The web server exited with code {code}; see the lines above."
    name = signal.Signals(-code).name
    return f"The web server was ended by {name}: someone stopped it, or memory ran out."


def _web_command(options: dict[str, Any]) -> list[str]:
    return [
        "granian", "cqa_site.wsgi:application",
        "--interface", "wsgi",
        "--host", options["host"],
        "--port", str(options["port"]),
        "--workers", str(options["workers"]),
        "--blocking-threads", str(options["threads"]),
        # Restart processes that ended for any reason.
        "--respawn-failed-workers",
        "--log-level", "warning",
        "--log-config", str(SERVER_LOG),
    ]  # fmt: skip


def _start_worker() -> subprocess.Popen[bytes]:
    """Start the worker.

    The terminal shows errors but not Celery's own messages.

    The worker skips Django's checks, which would load every page; this command has run them.
    """
    return leash.start(["cqa_site.worker"], quiet=True, CELERY_SKIP_CHECKS="true")


def _start_fetching() -> subprocess.Popen[bytes]:
    return leash.start(
        ["cqa_site.judging.fetching"], quiet=True, MODELS_DIR=str(settings.MODELS_DIR)
    )
