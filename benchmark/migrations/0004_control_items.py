"""Known answers of control items of every kind; those of preferences become JSON."""

from django.db import migrations, models

TABLES = ("PreferenceItem", "PreferenceSheet")


def copy_verdicts(apps, schema_editor):
    """Store the verdicts as known answers; answers to control items hold no slots."""

    def rows_of(app, name):
        return apps.get_model(app, name).objects.using(schema_editor.connection.alias)

    for name in TABLES:
        # A new database has tables as they are now, and no rows.
        if not hasattr(apps.get_model("benchmark", name), "known_verdict"):
            return
        for verdict in ("first", "second", "tie", "both_bad"):
            rows = rows_of("benchmark", name).filter(known_verdict=verdict)
            rows.update(known={"verdict": verdict})
    rows_of("benchmark", "PreferenceSheet").filter(known__isnull=False).update(slot=None)
    items = rows_of("benchmark", "PreferenceItem").filter(known__isnull=False)
    rows_of("benchmark", "PreferenceSlot").filter(item__in=items.values("pk")).delete()
    counts = items.order_by().values_list("round").annotate(n=models.Count("pk"))
    for round_id, n in counts:
        rows_of("rounds", "Round").filter(pk=round_id).update(n_controls=n)


class Migration(migrations.Migration):
    dependencies = [("benchmark", "0003_plain_words"), ("rounds", "0009_control_items")]

    operations = [
        *(migrations.RenameField(name, "known", "known_verdict") for name in TABLES),
        *(
            migrations.AddField(name, "known", models.JSONField(null=True))
            for name in (*TABLES, "ScoringItem", "ScoreSheet")
        ),
        migrations.RunPython(copy_verdicts, migrations.RunPython.noop),
    ]
