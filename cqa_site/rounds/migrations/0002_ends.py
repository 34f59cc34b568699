from django.db import migrations, models

OUTCOMES = {
    'running': 'Running',
    'completed': 'Completed',
    'screened_out': 'Screened out',
    'no_work': 'No work left',
    'fault': 'Technical fault',
    'too_many_skips': 'Too many skips',
    'stopped': 'Stopped early',
    'withdrawn': 'Withdrawn',
}
SHARE = models.FloatField(null=True, verbose_name='largest share of skipped items')
SKIPS = models.CharField(blank=True, max_length=40, verbose_name='code: too many skips')
STOPPED = models.CharField(blank=True, max_length=40, verbose_name='code: stopped early')
BACK = models.URLField(blank=True, max_length=300, verbose_name='address for the way back')
OUTCOME = models.CharField(choices=[*OUTCOMES.items()], default='running', max_length=14)


class Migration(migrations.Migration):
    dependencies = [('rounds', '0001_initial')]

    operations = [
        # Rounds that exist have no limit: people may be at work in them.
        migrations.AddField('round', 'skip_share', SHARE),
        migrations.AddField('participantlink', 'skips_code', SKIPS),
        migrations.AddField('participantlink', 'stopped_code', STOPPED),
        migrations.AddField('participantlink', 'return_url', BACK),
        migrations.AlterField('participant', 'outcome', OUTCOME),
    ]
