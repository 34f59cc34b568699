import cqa_site.files.formats
import cqa_site.migrating
import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('people', '0001_initial'),
        ('people', '__first__'),
        ('rounds', '0001_initial'),
        ('runs', '0001_initial'),
    ]

    operations = [
        cqa_site.migrating.MakeTables(
            operations=[
                migrations.CreateModel(
                    name='ImportBatch',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='import_batches', to='people.study')),
                        ('kind', models.CharField(choices=cqa_site.files.formats.known_kinds, max_length=16)),
                        ('options', models.JSONField(default=dict)),
                        ('job', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='runs.job')),
                        ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        'ordering': ['-created_at', '-pk'],
                    },
                ),
                migrations.CreateModel(
                    name='ImportFile',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='import_files', to='people.study')),
                        ('batch', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='files', to='files.importbatch')),
                        ('kind', models.CharField(choices=cqa_site.files.formats.known_kinds, max_length=16)),
                        ('name', models.CharField(max_length=255)),
                        ('sha256', models.CharField(max_length=64)),
                        ('size', models.PositiveBigIntegerField()),
                        ('stored_as', models.CharField(max_length=64)),
                        ('options', models.JSONField(default=dict)),
                        ('state', models.CharField(choices=[('uploaded', 'Uploaded'), ('checking', 'Checking'), ('checked', 'Checked'), ('applying', 'Importing'), ('applied', 'Imported'), ('refused', 'Refused')], default='uploaded', max_length=8)),
                        ('counts', models.JSONField(default=dict)),
                        ('rows', models.JSONField(default=dict)),
                        ('notes', models.JSONField(default=list)),
                        ('refusal', models.TextField(blank=True)),
                        ('job', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='runs.job')),
                        ('round', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='rounds.round')),
                        ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('applied_at', models.DateTimeField(null=True)),
                    ],
                    options={
                        'ordering': ['-created_at', '-pk'],
                    },
                ),
                migrations.CreateModel(
                    name='ImportMatch',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('import_file', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='matches', to='files.importfile')),
                        ('row', models.PositiveIntegerField()),
                        ('about', models.TextField()),
                        ('given', models.TextField()),
                        ('found', models.TextField()),
                        ('known', models.UUIDField()),
                        ('likeness', models.FloatField()),
                        ('decision', models.CharField(blank=True, choices=[('same', 'The same'), ('other', 'Another')], max_length=5)),
                    ],
                    options={
                        'ordering': ['row'],
                        'constraints': [models.UniqueConstraint(fields=('import_file', 'row'), name='import_match_once')],
                    },
                ),
                migrations.CreateModel(
                    name='ImportProblem',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('import_file', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='problems', to='files.importfile')),
                        ('row', models.PositiveIntegerField(null=True)),
                        ('column', models.CharField(blank=True, max_length=200)),
                        ('reason', models.CharField(max_length=500)),
                        ('is_rejection', models.BooleanField(default=True)),
                    ],
                    options={
                        'ordering': ['row', 'pk'],
                        'indexes': [models.Index(fields=['import_file', 'row', 'id'], name='files_impor_import__394b0a_idx')],
                    },
                ),
            ],
        ),
    ]
