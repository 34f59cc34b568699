"""A limit for skips, and more ways in which the work of a crowd's people ends."""

import django.core.validators
from django.db import migrations, models

OUTCOMES = [
    ('running', 'Running'),
    ('completed', 'Completed'),
    ('screened_out', 'Screened out'),
    ('no_work', 'No work left'),
    ('fault', 'Technical fault'),
    ('too_many_skips', 'Too many skips'),
    ('stopped', 'Stopped early'),
    ('withdrawn', 'Withdrawn'),
]


def skip_share(**more):
    validators = [
        django.core.validators.MinValueValidator(0),
        django.core.validators.MaxValueValidator(1),
    ]
    name = 'largest share of skipped items'
    return models.FloatField(null=True, validators=validators, verbose_name=name, **more)


class Migration(migrations.Migration):
    dependencies = [('rounds', '0001_initial')]

    operations = [
        # Rounds that exist have no limit: people may be at work in them.
        migrations.AddField('round', 'skip_share', skip_share()),
        migrations.AlterField('round', 'skip_share', skip_share(default=0.2)),
        migrations.AddField(
            'participantlink',
            'skips_code',
            models.CharField(blank=True, max_length=40, verbose_name='code: too many skips'),
        ),
        migrations.AddField(
            'participantlink',
            'stopped_code',
            models.CharField(blank=True, max_length=40, verbose_name='code: stopped early'),
        ),
        migrations.AddField(
            'participantlink',
            'return_url',
            models.URLField(blank=True, max_length=300, verbose_name='address for the way back'),
        ),
        migrations.AlterField(
            'participant',
            'outcome',
            models.CharField(choices=OUTCOMES, default='running', max_length=14),
        ),
    ]
