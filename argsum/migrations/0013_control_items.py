"""Known answers of hidden control items of counts and audits."""

from django.db import migrations, models

TABLES = ("AuditItem", "AuditSheet", "CountingItem", "CountSheet")


class Migration(migrations.Migration):
    dependencies = [("argsum", "0012_coding_by_a_language_model")]

    operations = [
        migrations.AddField(name, "known", models.JSONField(null=True)) for name in TABLES
    ]
