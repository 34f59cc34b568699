"""WSGI entry point."""

import gc
import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.db import DEFAULT_DB_ALIAS, connections

# Imports create almost no garbage, and requests only a little.
gc.set_threshold(50_000, 20, 100)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cqa_site.settings")
application = get_wsgi_application()
import_module("cqa_site.upkeep.watching.requests").share(settings.DATA_DIR / "metrics")
# A request that waits for a locked row blocks a thread, so it fails with 503 after this time.
# Jobs and migrations wait without a limit.
if connections[DEFAULT_DB_ALIAS].vendor == "postgresql":
    connections.settings[DEFAULT_DB_ALIAS]["OPTIONS"]["options"] += " -c lock_timeout=10s"

# Otherwise, the first request of every process would import all pages.
import_module(settings.ROOT_URLCONF)
# Objects loaded so far are permanent, so the garbage collector ignores them. A full collection
# takes 0.15 s during somebody's request.
gc.collect()
gc.freeze()
