"""The examinations, which are registered when their modules are imported.

The check that the database responds comes first, because the other database examinations depend
on it.
"""

from . import files, installation, web, work  # noqa: F401
