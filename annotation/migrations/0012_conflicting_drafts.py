"""Drafts set aside are called conflicts."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [('annotation', '0011_drawn_items')]

    operations = [
        migrations.RenameModel('KeptText', 'ConflictingText'),
        migrations.AlterField(
            model_name='conflictingtext',
            name='sheet',
            field=models.ForeignKey(
                on_delete=models.deletion.CASCADE, related_name='conflicts', to='annotation.editingsheet'
            ),
        ),
    ]
