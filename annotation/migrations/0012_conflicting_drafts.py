"""Drafts set aside are called conflicts.

The index on the sheet is dropped and created again, because its name contains the table's name.
"""

from django.db import migrations, models
from django.db.models.deletion import CASCADE

MODELS = (
    ('KeptText', 'ConflictingText', 'editingsheet'),
)


def sheet(kind, **options):
    return models.ForeignKey('annotation.' + kind, CASCADE, related_name='conflicts', **options)


class Migration(migrations.Migration):
    dependencies = [('annotation', '0011_drawn_items')]

    operations = [
        operation
        for old, new, kind in MODELS
        for operation in (
            migrations.RenameModel(old, new),
            migrations.AlterField(new.lower(), 'sheet', sheet(kind, db_index=False)),
            migrations.AlterField(new.lower(), 'sheet', sheet(kind)),
        )
    ]
