"""Settings of the test suite: fast hashing, one process, work done inline."""

import os
import tempfile

os.environ.setdefault("DATA_DIR", tempfile.mkdtemp(prefix="counterpoint-tests-"))
os.environ.setdefault("SECRET_KEY", "only-for-tests-" * 5)
os.environ.setdefault("JOBS_INLINE", "true")
os.environ.setdefault("LOG_LEVEL", "ERROR")
# No test uses an encoder that is installed here, or downloads one: no folder can be there.
os.environ["ENCODERS_DIR"] = "/dev/null/encoders"
# Each test says itself which server on this machine may be asked.
os.environ.setdefault("EGRESS_LOOPBACK", "false")
# A test of housekeeping need not wait for one.
os.environ.setdefault("BACKUP_EVERY_HOURS", "0")

from cqa_site.settings import *  # noqa: F403

# Every client would look through what `collectstatic` left in the working copy.
STATIC_ROOT = tempfile.mkdtemp(prefix="counterpoint-static-")
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# Tests are quicker than people read: `tests/browser/test_unread_answers.py` asks what that is for.
SETTLE_MS = 0
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
ALLOWED_HOSTS = ["testserver", "127.0.0.1", "localhost"]
