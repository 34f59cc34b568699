"""The examinations, which are registered when their modules are imported.

The database comes first, because its other examinations only run if it responds.
"""

from . import files, installation, web, work  # noqa: F401
