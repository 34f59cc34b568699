"""WSGI entry point."""

import gc
import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.db import DEFAULT_DB_ALIAS, connections

# Loading makes next to no garbage, and requests little.
gc.set_threshold(50_000, 20, 100)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cqa_site.settings")
application = get_wsgi_application()
import_module("cqa_site.upkeep.watching.requests").share(settings.DATA_DIR / "metrics")
# A request that waits for a row that somebody holds keeps a thread from all others; after this
# long it is 503. Jobs and migrations wait as long as it takes.
if connections[DEFAULT_DB_ALIAS].vendor == "postgresql":
    connections.settings[DEFAULT_DB_ALIAS]["OPTIONS"]["options"] += " -c lock_timeout=10s"

# Else the first request of every process would load all pages.
import_module(settings.ROOT_URLCONF)
# What is loaded now stays: garbage is looked for among what requests make. A look
# through everything takes 0.15 s, in the midst of somebody's request.
gc.collect()
gc.freeze()
