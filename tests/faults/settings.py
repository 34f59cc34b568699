"""Settings of the sites that are killed: the site's own, but for what only costs time.

Signing in fifty people with Argon2 took ten seconds of processor time, packing the static files
four.
"""

from cqa_site.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES["staticfiles"]["BACKEND"] = (  # noqa: F405
    "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"
)
