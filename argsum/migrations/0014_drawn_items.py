"""Items say whether they are part of what was drawn, also while they are examples."""

from django.db import migrations, models


def mark_examples(apps, schema_editor):
    """Nobody knows which of them were drawn, so that none becomes part of the work."""
    for name in ("audititem", "countingitem"):
        items = apps.get_model("argsum", name).objects.using(schema_editor.connection.alias)
        items.filter(key_points__isnull=False).update(is_drawn=False)


class Migration(migrations.Migration):
    dependencies = [("argsum", "0013_control_items")]

    operations = [
        migrations.AddField("audititem", "is_drawn", models.BooleanField(default=True)),
        migrations.AddField("countingitem", "is_drawn", models.BooleanField(default=True)),
        migrations.RunPython(mark_examples, migrations.RunPython.noop),
    ]
