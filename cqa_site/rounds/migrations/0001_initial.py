import cqa_site.migrating
import django.core.validators
import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('people', '0001_initial'),
        ('people', '__first__'),
    ]

    operations = [
        cqa_site.migrating.MakeTables(
            operations=[
                migrations.CreateModel(
                    name='Round',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rounds', to='people.study')),
                        ('kind', models.CharField(editable=False, max_length=20)),
                        ('name', models.CharField(max_length=120, verbose_name='name')),
                        ('state', models.CharField(choices=[('draft', 'Draft'), ('open', 'Open'), ('paused', 'Paused'), ('closed', 'Closed')], default='draft', max_length=6)),
                        ('instructions', models.TextField(blank=True, verbose_name='instructions')),
                        ('seed', models.PositiveBigIntegerField(default=1, verbose_name='seed')),
                        ('repeat_share', models.FloatField(default=0.0, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(0.5)], verbose_name='share of own items that come a second time')),
                        ('pass_mark', models.FloatField(default=0.7, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)], verbose_name='pass mark of the qualification')),
                        ('lease_minutes', models.PositiveSmallIntegerField(default=120, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1440)], verbose_name='minutes an item stays reserved')),
                        ('recipe', models.JSONField(default=dict)),
                        ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('opened_at', models.DateTimeField(null=True)),
                        ('closed_at', models.DateTimeField(null=True)),
                    ],
                    options={
                        'ordering': ['-created_at', '-pk'],
                        'indexes': [models.Index(fields=['study', 'state'], name='rounds_roun_study_i_82c635_idx')],
                        'constraints': [models.UniqueConstraint(fields=('study', 'kind', 'name'), name='round_name_once'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'paused'), _negated=True), ('kind', 'label'), _connector='OR'), name='round_pauses_with_labels')],
                    },
                ),
                migrations.CreateModel(
                    name='Place',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('round', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='places', to='rounds.round')),
                        ('rater', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='places', to='people.rater')),
                        ('score', models.FloatField(null=True)),
                        ('is_passed', models.BooleanField(default=False)),
                        ('is_decided_by_person', models.BooleanField(default=False)),
                        ('is_stopped', models.BooleanField(default=False)),
                        ('excluded_at', models.DateTimeField(null=True)),
                        ('exclusion_reason', models.CharField(blank=True, max_length=300)),
                        ('served', models.PositiveIntegerField(default=0)),
                        ('cursor', models.PositiveIntegerField(default=0)),
                        ('started_at', models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('round', 'rater'), name='place_once')],
                    },
                ),
                migrations.CreateModel(
                    name='ParticipantLink',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='participant_links', to='people.study')),
                        ('round', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='links', to='rounds.round')),
                        ('platform', models.CharField(default='Prolific', max_length=60, verbose_name='platform')),
                        ('secret_hash', models.CharField(editable=False, max_length=64, unique=True)),
                        ('participant_param', models.CharField(default='PROLIFIC_PID', max_length=40)),
                        ('study_param', models.CharField(default='STUDY_ID', max_length=40)),
                        ('session_param', models.CharField(default='SESSION_ID', max_length=40)),
                        ('completed_code', models.CharField(max_length=40, verbose_name='code: completed')),
                        ('screened_out_code', models.CharField(max_length=40, verbose_name='code: screened out')),
                        ('no_work_code', models.CharField(max_length=40, verbose_name='code: no work left')),
                        ('fault_code', models.CharField(max_length=40, verbose_name='code: technical fault')),
                        ('required_items', models.PositiveIntegerField(default=50, verbose_name='items to complete')),
                        ('max_participants', models.PositiveIntegerField(default=500, verbose_name='participants at most')),
                        ('expires_at', models.DateTimeField()),
                        ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('closed_at', models.DateTimeField(null=True)),
                    ],
                    options={
                        'ordering': ['-created_at'],
                    },
                ),
                migrations.CreateModel(
                    name='Participant',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='participants', to='people.study')),
                        ('link', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='participants', to='rounds.participantlink')),
                        ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='participant', to=settings.AUTH_USER_MODEL)),
                        ('participant_id', models.CharField(max_length=128)),
                        ('platform_study_id', models.CharField(blank=True, max_length=128)),
                        ('session_id', models.CharField(blank=True, max_length=128)),
                        ('browser_hash', models.CharField(blank=True, editable=False, max_length=64)),
                        ('fault_report', models.TextField(blank=True)),
                        ('outcome', models.CharField(choices=[('running', 'Running'), ('completed', 'Completed'), ('screened_out', 'Screened out'), ('no_work', 'No work left'), ('fault', 'Technical fault')], default='running', max_length=14)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('ended_at', models.DateTimeField(null=True)),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('link', 'participant_id'), name='participant_once')],
                    },
                ),
            ],
        ),
    ]
