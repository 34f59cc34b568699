"""Communication with language models, without Django or Celery."""
