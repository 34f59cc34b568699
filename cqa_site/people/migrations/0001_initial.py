import cqa_site.migrating
import django.db.models.deletion
import django.db.models.functions.text
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        cqa_site.migrating.MakeTables(
            operations=[
                migrations.CreateModel(
                    name='User',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('password', models.CharField(max_length=128, verbose_name='password')),
                        ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                        ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                        ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ('email', models.EmailField(blank=True, max_length=254, null=True, unique=True, verbose_name='e-mail')),
                        ('name', models.CharField(blank=True, max_length=120, verbose_name='name')),
                        ('is_active', models.BooleanField(default=True)),
                        ('is_staff', models.BooleanField(default=False, verbose_name='site administrator')),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('shortcuts', models.CharField(choices=[('single', 'By themselves'), ('alt', 'Together with Alt'), ('off', 'Not at all')], default='single', max_length=6, verbose_name='keys on work pages')),
                        ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                        ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(django.db.models.functions.text.Lower('email'), name='user_email_case_insensitive')],
                    },
                ),
                migrations.CreateModel(
                    name='ApiToken',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
                        ('name', models.CharField(max_length=60, verbose_name='name')),
                        ('scope', models.CharField(choices=[('read', 'Read'), ('write', 'Read and write')], default='read', max_length=5)),
                        ('secret_hash', models.CharField(editable=False, max_length=64, unique=True)),
                        ('last_four', models.CharField(editable=False, max_length=4)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('expires_at', models.DateTimeField()),
                        ('last_used_at', models.DateTimeField(null=True)),
                        ('revoked_at', models.DateTimeField(null=True)),
                    ],
                    options={
                        'ordering': ['-created_at'],
                    },
                ),
                migrations.CreateModel(
                    name='Membership',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='people.study')),
                        ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                        ('role', models.CharField(choices=[('annotator', 'Annotator'), ('expert', 'Expert'), ('researcher', 'Researcher'), ('admin', 'Admin')], max_length=12)),
                        ('is_active', models.BooleanField(default=True)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('study', 'user'), name='membership_once'), models.CheckConstraint(condition=models.Q(('role__in', ['annotator', 'expert', 'researcher', 'admin'])), name='role_known')],
                    },
                ),
                migrations.CreateModel(
                    name='Study',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ('name', models.CharField(max_length=120, verbose_name='name')),
                        ('description', models.TextField(blank=True, verbose_name='description')),
                        ('goal', models.CharField(blank=True, max_length=20, verbose_name='what do you want to find out?')),
                        ('is_demo', models.BooleanField(default=False, editable=False)),
                        ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('members', models.ManyToManyField(through='people.Membership', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'verbose_name_plural': 'studies',
                        'ordering': ['name', 'pk'],
                    },
                ),
                migrations.CreateModel(
                    name='Rater',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='raters', to='people.study')),
                        ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='raters', to=settings.AUTH_USER_MODEL)),
                        ('kind', models.CharField(choices=[('person', 'Person'), ('expert', 'Expert'), ('model', 'Model'), ('classifier', 'Classifier'), ('reference', 'Released label')], default='person', max_length=10)),
                        ('name', models.CharField(blank=True, max_length=120)),
                        ('external_id', models.CharField(blank=True, max_length=128)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(condition=models.Q(('user__isnull', False)), fields=('study', 'user'), name='rater_user_once'), models.UniqueConstraint(condition=models.Q(('external_id', ''), _negated=True), fields=('study', 'kind', 'external_id'), name='rater_external_once')],
                    },
                ),
                migrations.CreateModel(
                    name='Invitation',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='people.study')),
                        ('role', models.CharField(choices=[('annotator', 'Annotator'), ('expert', 'Expert'), ('researcher', 'Researcher'), ('admin', 'Admin')], max_length=12)),
                        ('note', models.CharField(blank=True, max_length=120, verbose_name='for whom')),
                        ('leads_to', models.CharField(blank=True, max_length=200)),
                        ('secret_hash', models.CharField(editable=False, max_length=64, unique=True)),
                        ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('expires_at', models.DateTimeField()),
                        ('used_at', models.DateTimeField(null=True)),
                        ('used_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('revoked_at', models.DateTimeField(null=True)),
                    ],
                    options={
                        'ordering': ['-created_at'],
                        'constraints': [models.CheckConstraint(condition=models.Q(('role__in', ['annotator', 'expert', 'researcher', 'admin'])), name='invitation_role_known')],
                    },
                ),
                migrations.CreateModel(
                    name='AuditEvent',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('study', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='audit_events', to='people.study')),
                        ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('at', models.DateTimeField(auto_now_add=True)),
                        ('verb', models.CharField(max_length=60)),
                        ('subject', models.CharField(max_length=200)),
                        ('reason', models.TextField(blank=True)),
                        ('details', models.JSONField(default=dict)),
                    ],
                    options={
                        'ordering': ['-at', '-pk'],
                        'indexes': [models.Index(fields=['study', '-at'], name='people_audi_study_i_21d83d_idx')],
                    },
                ),
            ],
        ),
    ]
