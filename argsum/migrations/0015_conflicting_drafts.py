"""Drafts set aside are called conflicts.

The index on the sheet is dropped and created again, because its name contains the table's name.
"""

from django.db import migrations, models
from django.db.models.deletion import CASCADE

MODELS = (
    ('KeptCount', 'ConflictingCount', 'countsheet'),
    ('KeptAudit', 'ConflictingAudit', 'auditsheet'),
)


def sheet(kind, **options):
    return models.ForeignKey('argsum.' + kind, CASCADE, related_name='conflicts', **options)


class Migration(migrations.Migration):
    dependencies = [('argsum', '0014_drawn_items')]

    operations = [
        operation
        for old, new, kind in MODELS
        for operation in (
            migrations.RenameModel(old, new),
            migrations.AlterField(new.lower(), 'sheet', sheet(kind, db_index=False)),
            migrations.AlterField(new.lower(), 'sheet', sheet(kind)),
        )
    ]
