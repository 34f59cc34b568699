"""Drafts set aside are called conflicts."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [('benchmark', '0006_drawn_items')]

    operations = [
        migrations.RenameModel('KeptPreference', 'ConflictingPreference'),
        migrations.AlterField(
            model_name='conflictingpreference',
            name='sheet',
            field=models.ForeignKey(
                on_delete=models.deletion.CASCADE, related_name='conflicts', to='benchmark.preferencesheet'
            ),
        ),
        migrations.RenameModel('KeptScore', 'ConflictingScore'),
        migrations.AlterField(
            model_name='conflictingscore',
            name='sheet',
            field=models.ForeignKey(
                on_delete=models.deletion.CASCADE, related_name='conflicts', to='benchmark.scoresheet'
            ),
        ),
    ]
