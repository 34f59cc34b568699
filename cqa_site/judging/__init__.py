"""Talking to language models: pure, without Django or Celery."""
