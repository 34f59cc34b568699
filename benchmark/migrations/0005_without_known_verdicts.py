"""The verdicts of control pairs are stored as known answers now."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("benchmark", "0004_control_items")]

    operations = [
        migrations.RemoveField("preferenceitem", "known_verdict"),
        migrations.RemoveField("preferencesheet", "known_verdict"),
    ]
