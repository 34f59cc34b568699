from django.db import migrations, models

WAITS = models.Q(state='ready')
NEXT = models.Index(fields=['position', 'id'], condition=WAITS, name='job_next')
PERSON = models.Index(fields=['created_by', 'weight', 'position'], name='job_person')
CLOCK = models.Index(
    models.F('position') - models.F('weight'), condition=models.Q(fence__gt=0) & ~WAITS, name='job_clock'
)


class Migration(migrations.Migration):

    dependencies = [('runs', '0003_shared_endpoints')]

    operations = [
        migrations.AddField('job', 'position', models.BigIntegerField(db_default=0)),
        migrations.AddField('job', 'weight', models.PositiveSmallIntegerField(db_default=1)),
        migrations.AddIndex('job', NEXT),
        migrations.AddIndex('job', PERSON),
        migrations.AddIndex('job', CLOCK),
    ]
