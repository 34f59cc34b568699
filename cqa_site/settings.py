"""Settings from environment variables; the defaults run a local site on this machine.

The default site uses SQLite, a file-system broker, a generated secret key in ``DATA_DIR`` and
loopback hosts only. ``PRODUCTION=true`` turns on the safe web settings and refuses to start
without a secret key and exact hosts. docs/deploy.md lists every variable.
"""

import sqlite3
import sys
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from environs import FileAwareEnv, validate

from cqa_site.machine import prepare
from cqa_site.people.sign_in.providers import read_providers
from cqa_site.private_files import make_private, own_secret

# A secret may be in a file, for example SECRET_KEY_FILE with a path instead of SECRET_KEY.
env = FileAwareEnv(strip_whitespace=True)
env.read_env(Path(__file__).resolve().parent.parent / ".env", recurse=False)

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = env.path("DATA_DIR", BASE_DIR / "var")
DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
prepare(DATA_DIR)

PRODUCTION = env.bool("PRODUCTION", False)
DEBUG = env.bool("DEBUG", False)


if PRODUCTION:
    SECRET_KEY = env.str("SECRET_KEY", "")
    if len(SECRET_KEY) < 50:
        raise ImproperlyConfigured(
            "PRODUCTION needs SECRET_KEY with at least 50 characters, for example from: "
            "python -c 'import secrets; print(secrets.token_urlsafe(64))'"
        )
    if DEBUG:
        raise ImproperlyConfigured("PRODUCTION and DEBUG cannot both be true.")
    ALLOWED_HOSTS: list[str] = env.list("ALLOWED_HOSTS", [])
    if not ALLOWED_HOSTS or "*" in ALLOWED_HOSTS:
        raise ImproperlyConfigured("PRODUCTION needs ALLOWED_HOSTS: the exact host names, no '*'.")
else:
    SECRET_KEY = env.str("SECRET_KEY", "") or own_secret(DATA_DIR / "secret_key")
    ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]"])
SECRET_KEY_FALLBACKS: list[str] = env.list("SECRET_KEY_FALLBACKS", [])
# Whether researchers may create further studies; site administrators always may.
RESEARCHERS_OPEN_STUDIES = env.bool("RESEARCHERS_OPEN_STUDIES", not PRODUCTION)
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", [])

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",
    "whitenoise.runserver_nostatic",
    "cqa_site.web.static_files.NeededFiles",
    "csp",
    "django_htmx",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.mfa",
    "cqa_site.people.sign_in.apps.UserSessions",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "cqa_site",
    "cqa_site.web",
    "cqa_site.people",
    "cqa_site.runs",
    "cqa_site.rounds",
    "cqa_site.results",
    "cqa_site.files",
    "cqa_site.pay",
    "cqa_site.upkeep",
    "annotation",
    "benchmark",
    "argsum",
]

MIDDLEWARE = [
    # First, so that every log line names its request.
    "cqa_site.upkeep.watching.requests.Follow",
    "cqa_site.web.pages.UnreadBodies",
    "cqa_site.web.rest.queries.ProblemDocuments",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    # For sites without a compressing proxy; random bytes hide the exact size of a page.
    "django.middleware.gzip.GZipMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "cqa_site.people.sign_in.second_step.AskFirst",
    "cqa_site.people.sign_in.second_step.NoteSession",
    "cqa_site.web.pages.PrivateResponses",
    "cqa_site.web.rest.queries.StrictQuery",
    "cqa_site.rounds.crowd.participation.NoteLostAnswers",
    "cqa_site.rounds.crowd.participation.ShowWayBack",
    "cqa_site.web.pages.NotFound",
    "cqa_site.web.outages.Unavailable",
    "cqa_site.rounds.pages.replies.ForgetWork",
]

ROOT_URLCONF = "cqa_site.urls"
WSGI_APPLICATION = "cqa_site.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "cqa_site.web.pages.site",
            ]
        },
    }
]

# -- database ---------------------------------------------------------------------------------

# Before 3.51.3, SQLite's WAL mode has a published race that can corrupt the database, so older
# versions use a rollback journal. With FULL, a saved label survives a power cut in both modes.
# The cache is small because each thread's connection has its own, and a worker has several;
# the operating system caches the file anyway.
# (trusted_schema=OFF is not possible, because Django's JSON columns have a JSON_VALID check.)
SQLITE_JOURNAL = "WAL" if sqlite3.sqlite_version_info >= (3, 51, 3) else "TRUNCATE"
SQLITE_INIT = ";".join(
    f"PRAGMA {pragma}"
    for pragma in (
        f"journal_mode={SQLITE_JOURNAL}",
        "synchronous=FULL",
        "foreign_keys=ON",
        "cell_size_check=ON",
        "mmap_size=0",
        "journal_size_limit=67108864",
        "cache_size=-4000",
        "temp_store=MEMORY",
    )
)

# Both sides notice a lost connection within about a minute. Otherwise a worker would wait for
# 15 minutes, and a lost worker's transaction would lock its rows for two hours.
TCP_TIMEOUTS = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}


def _database() -> dict:
    """Return the database of ``DATABASE_URL`` with the options that its engine needs."""
    config = dict(env.dj_db_url("DATABASE_URL", f"sqlite:///{DATA_DIR / 'counterpoint.sqlite3'}"))
    options = dict(config.get("OPTIONS", {}))
    if password := env.str("DATABASE_PASSWORD", ""):
        config["PASSWORD"] = password
    if config["ENGINE"] == "django.db.backends.sqlite3":
        options |= {"transaction_mode": "IMMEDIATE", "timeout": 20, "init_command": SQLITE_INIT}
        config["CONN_MAX_AGE"] = None
        # SQLite would create a file that everybody can read; journals have the file's permissions.
        # If the file cannot be created, the first connection reports the reason.
        if config["NAME"] != ":memory:":
            with suppress(OSError):
                make_private(Path(config["NAME"]))
    elif config["ENGINE"] == "django.db.backends.postgresql":
        size = env.int("DATABASE_POOL_SIZE", 10, validate=validate.Range(min=1, max=200))
        options["pool"] = {"min_size": min(2, size), "max_size": size, "timeout": 5}
        options.setdefault("connect_timeout", 3)
        options = TCP_TIMEOUTS | options
        # Cursors here are read to the end, but PostgreSQL plans them for the first tenth of the
        # rows. With such a plan, reading rows just imported took quadratic time.
        flags = {"cursor_tuple_fraction": 1.0} | {
            name.replace("keepalives", "tcp_keepalives"): value
            for name, value in TCP_TIMEOUTS.items()
        }
        settled = [f"-c {name}={value}" for name, value in flags.items()]
        options["options"] = " ".join([options.get("options", ""), *settled]).strip()
        config["CONN_MAX_AGE"] = 0
    else:
        raise ImproperlyConfigured("DATABASE_URL must begin with sqlite:// or postgres://.")
    config["OPTIONS"] = options
    return config


DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"


# Rate limits are counted in the cache, so it must be shared by all processes.
def _cache() -> dict:
    """Return the cache of ``CACHE_URL`` (Redis with short timeouts), or the database cache."""
    if not env.str("CACHE_URL", ""):
        backend = "django.core.cache.backends.db.DatabaseCache"
        return {"BACKEND": backend, "LOCATION": "cache", "OPTIONS": {"MAX_ENTRIES": 20_000}}
    config = dict(env.dj_cache_url("CACHE_URL"))
    if "redis" in config["BACKEND"]:
        waiting = {"socket_connect_timeout": 2, "socket_timeout": 2}
        config["OPTIONS"] = waiting | config.get("OPTIONS", {})
    return config


CACHES = {"default": _cache()}

# -- people -----------------------------------------------------------------------------------

AUTH_USER_MODEL = "people.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_ADAPTER = "cqa_site.people.sign_in.adapters.InvitationOnlyAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = False
ACCOUNT_SESSION_REMEMBER = False
ACCOUNT_LOGIN_ON_PASSWORD_RESET = False
ACCOUNT_RATE_LIMITS = {"login": "120/m/ip", "login_failed": "10/m/ip,5/5m/key"}
ACCOUNT_FORMS = {"reset_password": "cqa_site.people.sign_in.second_step.ForgottenPassword"}
# Users must confirm their identity before they change how they sign in. They then get an email.
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_EMAIL_NOTIFICATIONS = True

OIDC_PROVIDERS = read_providers(env.str("OIDC_PROVIDERS", ""))
SOCIALACCOUNT_ADAPTER = "cqa_site.people.sign_in.adapters.ProviderAdapter"
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {
        "provider_class": "cqa_site.people.sign_in.openid.CheckedProvider",
        "APPS": [provider.as_app() for provider in OIDC_PROVIDERS.values()],
    }
}

# Users who need a second step: administrators (of the site), keys (users who may set endpoint
# keys), everyone. A local site needs no second step.
MFA_REQUIRED: list[str] = env.list(
    "MFA_REQUIRED",
    ["administrators", "keys"] if PRODUCTION else [],
    validate=validate.ContainsOnly(["administrators", "keys", "everyone"]),
)
MFA_ADAPTER = "cqa_site.people.sign_in.second_step.SecondStepAdapter"
MFA_FORMS = {
    "add_webauthn": "cqa_site.people.sign_in.second_step.AddForm",
    "authenticate_webauthn": "cqa_site.people.sign_in.second_step.SecondStepForm",
    "login_webauthn": "cqa_site.people.sign_in.second_step.SignInForm",
    "reauthenticate_webauthn": "cqa_site.people.sign_in.second_step.OnceMoreForm",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = MFA_RECOVERY_CODES_SHOW_ONCE = True
# Passkeys always require a fingerprint, a face or a PIN, so that no other factor is needed.
MFA_WEBAUTHN_USER_VERIFICATION = "required"
MFA_TOTP_ISSUER = "Counterpoint"
MFA_RATE_LIMITS = {"webauthn_login": ACCOUNT_RATE_LIMITS["login"]}

# The first cookie binds a crowd participant's enrolment to a browser; the second remembers a lost
# answer.
PLACE_COOKIE_NAME, LOST_ANSWER_COOKIE_NAME = "place", "lost-answer"
# Tells the service worker whose work page it may show without a connection.
WORK_COOKIE_NAME = "work"
# Time before an item on the screen accepts an answer: longer than a double click, and too short
# to read anything.
SETTLE_MS = 450
SESSION_ENGINE, SESSION_COOKIE_AGE = "cqa_site.people.sign_in.second_step", 12 * 60 * 60
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"

# -- web --------------------------------------------------------------------------------------

SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DEFAULT_EXCEPTION_REPORTER_FILTER = "cqa_site.web.pages.NoValues"
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2_000
# Django has one limit for all pages. Only batch imports accept several files, which together may
# not be larger than a single file.
DATA_UPLOAD_MAX_NUMBER_FILES = MOST_FILES_AT_ONCE = 100
FILE_UPLOAD_PERMISSIONS = 0o600
MAX_UPLOAD_BYTES = 64 * 1024 * 1024
# Export files, and uploads that were not imported, are deleted after this time.
EXPORT_RETENTION_DAYS = env.int("EXPORT_RETENTION_DAYS", 30, validate=validate.Range(min=1))

if PRODUCTION:
    SECURE_SSL_REDIRECT = env.bool("SECURE_SSL_REDIRECT", True)
    SECURE_HSTS_SECONDS = env.int("SECURE_HSTS_SECONDS", 31_536_000)
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    # Browsers remember preloading for years, so the owner of the domain decides.
    SECURE_HSTS_PRELOAD = env.bool("SECURE_HSTS_PRELOAD", False)
    # Prometheus may read metrics inside the network, without the proxy.
    SECURE_REDIRECT_EXEMPT = [r"^metrics$"]
    SILENCED_SYSTEM_CHECKS = ["security.W021"]
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-sid", "__Host-csrf"
    PLACE_COOKIE_NAME, LOST_ANSWER_COOKIE_NAME = "__Host-place", "__Host-lost-answer"
    WORK_COOKIE_NAME = "__Host-work"
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    if env.bool("TRUSTED_PROXY", False):
        SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
        ALLAUTH_TRUSTED_PROXY_COUNT = 1

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "manifest-src": ["'self'"],
        # The service worker that stores the last work page (cqa_site/rounds/pages/replies.py).
        "worker-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "object-src": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}

STATIC_URL = "/static/"
STATIC_ROOT = env.path("STATIC_ROOT", BASE_DIR / "staticfiles")
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": (
            "django.contrib.staticfiles.storage.StaticFilesStorage"
            if DEBUG
            else "whitenoise.storage.CompressedManifestStaticFilesStorage"
        ),
        # Readable for all users, because the web server may run as a different user.
        "OPTIONS": {"file_permissions_mode": 0o644},
    },
}
# Pages use only hashed names; compressing the original files, too, would take twice as long.
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
MEDIA_ROOT = DATA_DIR / "files"

# Workers regularly back up the site into this folder; 0 hours means never. The newest backup of
# each day and week is kept for this many days and weeks.
BACKUP_DIR = env.path("BACKUP_DIR", DATA_DIR / "backups")
BACKUP_EVERY_HOURS = env.int("BACKUP_EVERY_HOURS", 24, validate=validate.Range(min=0))
BACKUP_KEEP_DAYS = env.int("BACKUP_KEEP_DAYS", 7, validate=validate.Range(min=1))
BACKUP_KEEP_WEEKS = env.int("BACKUP_KEEP_WEEKS", 4, validate=validate.Range(min=0))
# The first line of this file encrypts the keys in backups; without it, backups contain no keys.
BACKUP_PASSPHRASE_FILE = env.str("BACKUP_PASSPHRASE_FILE", "")

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

EMAIL_CONFIG = env.dj_email_url("EMAIL_URL", "console:")
if "EMAIL_BACKEND" not in EMAIL_CONFIG:  # an unknown scheme would give SMTP without a host
    raise ImproperlyConfigured("EMAIL_URL must begin with submission:, smtp: or console:.")
vars().update({key: value for key, value in EMAIL_CONFIG.items() if key.startswith("EMAIL_")})
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", "counterpoint@localhost")

# The REST framework would load psycopg (9 MiB) in every process, for fields that no model uses.
sys.modules["django.contrib.postgres.fields"] = None  # type: ignore[assignment]  # not importable
REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["cqa_site.web.limits.StrictJSONParser"],
    "DEFAULT_AUTHENTICATION_CLASSES": ["cqa_site.people.access.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PAGINATION_CLASS": "cqa_site.web.rest.queries.Pages",
    "DEFAULT_FILTER_BACKENDS": ["cqa_site.web.rest.queries.StrictFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "cqa_site.web.rest.schema.ProblemSchema",
    "DEFAULT_THROTTLE_CLASSES": ["cqa_site.web.limits.CourtesyThrottle"],
    "DEFAULT_METADATA_CLASS": None,
    # There is only one format, so a parameter called "format" is rejected like any unknown one.
    "URL_FORMAT_OVERRIDE": None,
    "EXCEPTION_HANDLER": "cqa_site.web.rest.queries.problem",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
# Names in the schema for choices that several fields share.
ENUM_NAMES = {
    "AnalysisState": "argsum.analysis.models.Analysis.State",
    "AnswerAspect": "benchmark.scoring.forms.ASPECTS",
    "AnswerScenario": "annotation.answers.models.Answer.Scenario",
    "AttemptOutcome": "cqa_site.runs.models.Attempt.Outcome",
    "BatchState": "cqa_site.runs.models.ProviderBatch.State",
    "CallState": "cqa_site.runs.models.Call.State",
    "CorpusState": "annotation.retrieval.models.Corpus.State",
    "EditingTaskState": "annotation.editing.models.EditingSheet.Progress",
    "EndpointKind": "cqa_site.runs.models.Endpoint.Kind",
    "ExportContent": "annotation.exports.models.ExportFile.Content",
    "ExportFormat": "cqa_site.files.models.ExportFile.Format",
    "FaithfulnessMode": "annotation.faithfulness.models.FaithfulnessFigures.Mode",
    "FoundPointState": "argsum.analysis.models.FoundPoint.State",
    "ImportKind": "cqa_site.files.formats.known_kinds",
    "ImportState": "cqa_site.files.models.ImportFile.State",
    "JobState": "cqa_site.runs.models.Job.State",
    "MatchDecision": "cqa_site.files.models.ImportMatch.Decision",
    "PointVerb": "argsum.analysis.models.PointChange.Verb",
    "PreferenceVerdict": "benchmark.preferences.models.PreferenceSheet.Verdict",
    "RaterKind": "cqa_site.people.models.Rater.Kind",
    "RoundState": "cqa_site.rounds.models.Round.State",
    "RuleAction": "cqa_site.rounds.rules.actions.RuleAction",
    "RunMode": "cqa_site.runs.models.Run.Mode",
    "RunState": "cqa_site.runs.models.Run.State",
    "ScorerKind": "argsum.scorers.models.Scorer.Kind",
    "ScorerState": "argsum.scorers.models.Scorer.State",
    "ScorerTask": "argsum.scorers.models.Scorer.Task",
    "SheetState": "cqa_site.rounds.models.Sheet.State",
    "SummarySetState": "argsum.keypoints.models.SummarySet.State",
    "SystemKind": "annotation.answers.models.System.Kind",
    "SystemRunState": "argsum.keypoints.models.SystemRun.State",
    "TrainedJudgeKind": "annotation.judges.models.TrainedJudge.Kind",
    "VoteState": "annotation.labelling.models.Assignment.State",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Counterpoint API",
    "DESCRIPTION": "Studies, rounds, votes, final labels, agreement, judge runs and exports.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "cqa_site.web.rest.schema.name_ids",
    ],
    # Only for installed apps.
    "ENUM_NAME_OVERRIDES": {
        name: choices
        for name, choices in ENUM_NAMES.items()
        if choices.split(".")[0] in ("cqa_site", *INSTALLED_APPS)
    },
}

# -- background work --------------------------------------------------------------------------

CELERY_BROKER_URL = env.str("CELERY_BROKER_URL", "filesystem://")
CELERY_TASK_IGNORE_RESULT = True
CELERY_RESULT_BACKEND = None
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# Workers can work without the broker, so they must not stop when it is down for an hour.
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
# Seconds between a worker's searches for work without a wake-up message.
SWEEP_SECONDS = env.float("SWEEP_SECONDS", 10.0, validate=validate.Range(min=0.1))
if CELERY_BROKER_URL.startswith("filesystem://"):
    for folder in ("broker", "broker/queue", "broker/control"):
        (DATA_DIR / folder).mkdir(mode=0o700, exist_ok=True)
    CELERY_BROKER_TRANSPORT = "cqa_site.broker:Transport"
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(DATA_DIR / "broker/queue"),
        "data_folder_out": str(DATA_DIR / "broker/queue"),
        "control_folder": str(DATA_DIR / "broker/control"),
        "polling_interval": 0.1,
    }
elif CELERY_BROKER_URL.startswith("redis"):
    CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 3600, "socket_timeout": 10}
    # Do not wait longer for an unreachable Redis, because workers also look for work regularly.
    CELERY_BROKER_TRANSPORT_OPTIONS |= {"socket_connect_timeout": 2, "max_retries": 1}
    CELERY_BROKER_TRANSPORT_OPTIONS["interval_start"] = 0
# Run work in the caller's process right after its commit, for tests and one-off commands.
JOBS_INLINE = env.bool("JOBS_INLINE", False)
JOB_LEASE = timedelta(seconds=env.int("JOB_LEASE_SECONDS", 30))

# -- crowd platforms --------------------------------------------------------------------------

# Address of the public keys that verify Prolific's tokens, and the expected issuer. Prolific's
# documentation names no issuer; if this is empty, only the signature is checked.
CROWD_KEYS_URL = env.str("CROWD_KEYS_URL", "https://api.prolific.com/.well-known/study/jwks.json")
CROWD_TOKEN_ISSUER = env.str("CROWD_TOKEN_ISSUER", "")
# Prolific's API for submissions and payments.
CROWD_API_URL = env.str("CROWD_API_URL", "https://api.prolific.com")

# -- language models --------------------------------------------------------------------------

CALL_LEASE = timedelta(seconds=env.int("CALL_LEASE_SECONDS", 30))
# No call is delayed longer than this; a later time means that a clock jumped.
CALL_LONGEST_WAIT = timedelta(minutes=15)
CALL_BREAK_SECONDS = env.float("CALL_BREAK_SECONDS", 60.0)
# Private networks and ports that requests may reach, for example
# "127.0.0.1/32:11434, 10.1.0.0/24:8000"; all other requests must use https and a public address.
EGRESS_ALLOW = env.str("EGRESS_ALLOW", "")
if not PRODUCTION and env.bool("EGRESS_LOOPBACK", True):
    # Allow models on the same machine, such as Ollama or vLLM; only local users use such a site.
    EGRESS_ALLOW = ", ".join(filter(None, [EGRESS_ALLOW, "127.0.0.0/8:*, [::1]:*"]))
# Keys for the endpoints' API keys: the first key encrypts, the others only decrypt.
if PRODUCTION:
    SECRETS_KEYS = env.list("SECRETS_KEYS", [])
else:
    SECRETS_KEYS = env.list("SECRETS_KEYS", []) or [own_secret(DATA_DIR / "secrets_key", 32) + "="]
MODELS_DIR = env.path("MODELS_DIR", BASE_DIR / ".models")
EMBEDDED_GGUF = env.str("EMBEDDED_GGUF", "")
EMBEDDED_IDLE_SECONDS = env.int("EMBEDDED_IDLE_SECONDS", 120)
# Sentence-embedding models for studies: names known to sentence-transformers, or folders. Workers
# may download any model listed by name; the first one needs no network.
EMBEDDING_MODELS = env.list("EMBEDDING_MODELS", ["all-MiniLM-L6-v2"])

# -- watching ---------------------------------------------------------------------------------

# Token for /metrics; without a token, only this machine may read it, and only outside production.
METRICS_TOKEN = env.str("METRICS_TOKEN", "")
# Errors and traces are sent only if these are set; see docs/watching.md.
SENTRY_DSN = env.str("SENTRY_DSN", "")
TRACES_ENDPOINT = env.str("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "")
if not TRACES_ENDPOINT and (collector := env.str("OTEL_EXPORTER_OTLP_ENDPOINT", "")):
    TRACES_ENDPOINT = f"{collector.rstrip('/')}/v1/traces"

# Warnings only for people at a terminal; in production, one line for each request.
LOG_LEVEL = env.str("LOG_LEVEL", "").upper() or ("INFO" if PRODUCTION else "WARNING")
LOG_FORMAT = env.str(
    "LOG_FORMAT", "json" if PRODUCTION else "plain", validate=validate.OneOf(["json", "plain"])
)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "json": {"()": "cqa_site.web.logging.JsonLines"},
        "plain": {"()": "cqa_site.web.logging.PlainLines"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {
        # Django's own handlers would write some lines twice and email others.
        "django": {"handlers": [], "level": LOG_LEVEL},
        "_granian": {"handlers": [], "propagate": True},
        # A missing page is not a fault of the site, and the request line has its status. Kombu
        # warns at every start that the file-system broker has no host.
        **{name: {"level": "ERROR"} for name in ("django.request", "kombu.connection")},
        # These log every outgoing request with its address, or every wake-up message.
        **{
            name: {"level": "WARNING"}
            for name in (
                "httpx2",
                "httpcore2",
                "openai",
                "celery.worker.strategy",
                "celery.app.trace",
            )
        },
    },
}

env.seal()
