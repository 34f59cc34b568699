"""What is looked at; importing a module registers its examinations.

The database first: whether it answers decides whether anything else is asked of it.
"""

from . import (  # noqa: F401
    backups,
    broker,
    clock,
    database,
    files,
    keys,
    mail,
    models,
    packages,
    people,
    settings,
    sign_in,
    static,
    web,
    work,
)  # isort: skip
