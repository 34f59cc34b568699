"""Items say whether they are part of what was drawn, also while they are examples."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0010_control_items")]

    operations = [
        migrations.AddField("editingitem", "is_drawn", models.BooleanField(default=True)),
    ]
