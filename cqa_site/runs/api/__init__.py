"""Endpoints, prompts and background work in the REST interface."""
