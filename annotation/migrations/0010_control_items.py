"""The column of known answers that items and sheets of all kinds share; edits have none."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0009_fall_asks_again")]

    operations = [
        migrations.AddField(name, "known", models.JSONField(null=True))
        for name in ("EditingItem", "EditingSheet")
    ]
