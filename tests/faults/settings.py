"""Settings of the sites that are killed: the site's own, but for what only costs time.

Signing in fifty people took ten seconds of processor time, compressing what nobody loads six.
"""

from cqa_site.settings import *  # noqa: F403
from cqa_site.settings import STORAGES

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = STORAGES | {
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
}
