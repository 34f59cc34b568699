"""An analysis keeps the cut-off that it was grouped with, and no list of other settings."""

from django.db import migrations, models


def keep_cutoffs(apps, schema_editor):
    rows = apps.get_model("argsum", "Analysis").objects
    analyses = rows.using(schema_editor.connection.alias)
    for analysis in analyses.iterator():
        try:
            analysis.cutoff = float(analysis.choice.get("setting", ""))
        except ValueError:
            continue
        analysis.save(update_fields=["cutoff"])


def keep_settings(apps, schema_editor):
    rows = apps.get_model("argsum", "Analysis").objects
    analyses = rows.using(schema_editor.connection.alias).exclude(cutoff=None)
    for analysis in analyses.iterator():
        setting = f"{analysis.cutoff:g}"
        analysis.choice = {"setting": setting, "rule": "usual", "tried": []}
        analysis.save(update_fields=["choice"])


class Migration(migrations.Migration):
    dependencies = [("argsum", "0009_several_placements")]

    operations = [
        migrations.AddField("analysis", "cutoff", models.FloatField(null=True)),
        migrations.RunPython(keep_cutoffs, keep_settings),
        migrations.RemoveField("analysis", "choice"),
    ]
