"""Stored documents name the round of labels as the interface does."""

from django.db import migrations

from cqa_site.judging.chat import digest

# A run whose specification is asked for again is found by its hash while it is under way.
UNDER_WAY = ('draft', 'checking', 'checked', 'running', 'paused')


def _renamed(document, old, new):
    return {new if name == old else name: value for name, value in document.items()}


def _rename(apps, database, old, new):
    for label, field in (('runs.Job', 'payload'), ('people.AuditEvent', 'details')):
        rows = apps.get_model(label).objects.using(database).filter(**{f'{field}__has_key': old})
        for row in rows.iterator():
            setattr(row, field, _renamed(getattr(row, field), old, new))
            row.save(update_fields=[field])
    runs = apps.get_model('runs.Run').objects.using(database).filter(kind='relevance')
    for run in runs.filter(spec__target__has_key=old).iterator():
        run.spec['target'] = _renamed(run.spec['target'], old, new)
        if run.state in UNDER_WAY:
            run.spec_hash = digest(run.spec)
        run.save(update_fields=['spec', 'spec_hash'])


def forwards(apps, schema_editor):
    database = schema_editor.connection.alias
    _rename(apps, database, 'campaign', 'label_round')
    # Django makes permissions with the new name and keeps the old ones.
    permissions = apps.get_model('auth.Permission').objects.using(database)
    permissions.filter(content_type__app_label='annotation', codename__endswith='_campaign').delete()


def backwards(apps, schema_editor):
    _rename(apps, schema_editor.connection.alias, 'label_round', 'campaign')


class Migration(migrations.Migration):
    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('annotation', '0006_label_rounds'),
        ('people', '0005_plain_words'),
        ('runs', '0005_plain_words'),
    ]

    operations = [migrations.RunPython(forwards, backwards)]
