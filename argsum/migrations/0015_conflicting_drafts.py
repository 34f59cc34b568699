"""Drafts set aside are called conflicts."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [('argsum', '0014_drawn_items')]

    operations = [
        migrations.RenameModel('KeptCount', 'ConflictingCount'),
        migrations.AlterField(
            model_name='conflictingcount',
            name='sheet',
            field=models.ForeignKey(
                on_delete=models.deletion.CASCADE, related_name='conflicts', to='argsum.countsheet'
            ),
        ),
        migrations.RenameModel('KeptAudit', 'ConflictingAudit'),
        migrations.AlterField(
            model_name='conflictingaudit',
            name='sheet',
            field=models.ForeignKey(
                on_delete=models.deletion.CASCADE, related_name='conflicts', to='argsum.auditsheet'
            ),
        ),
    ]
