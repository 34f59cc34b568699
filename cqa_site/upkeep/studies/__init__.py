"""Archiving, restoring and deleting studies."""
