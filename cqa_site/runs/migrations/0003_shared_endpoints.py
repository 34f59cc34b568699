from django.db import migrations, models

KINDS = [
    ('remote', 'OpenAI-compatible server'),
    ('embedded', 'Model in the box (demonstration)'),
    ('shared', 'Offered to all studies of this site'),
]
ORIGINAL = {'editable': False, 'null': True, 'related_name': 'added', 'to': 'runs.endpoint'}
OFFERED = models.Index('name', condition=models.Q(is_offered=True), name='endpoint_offered')


class Migration(migrations.Migration):

    dependencies = [('runs', '0002_upkeep')]

    operations = [
        migrations.AddField('endpoint', 'is_offered', models.BooleanField(default=False, editable=False)),
        migrations.AddField('endpoint', 'original', models.ForeignKey(on_delete=models.SET_NULL, **ORIGINAL)),
        migrations.AlterField('endpoint', 'kind', models.CharField(choices=KINDS, default='remote', max_length=8)),
        migrations.AddIndex('endpoint', OFFERED),
    ]
