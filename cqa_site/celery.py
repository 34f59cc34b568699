"""The Celery app: a doorbell that wakes workers; the work itself is rows in the database."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cqa_site.settings")
app = Celery("cqa_site")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
