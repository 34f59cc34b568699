"""The examinations; importing a module registers its own.

The database first: whether it answers decides whether anything else is asked of it.
"""

from . import files, installation, web, work  # noqa: F401
