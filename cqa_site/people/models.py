"""Models of users, studies, memberships, invitations, API tokens and raters."""

import hashlib
import re
import secrets
import uuid
from datetime import timedelta
from typing import ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.contrib.auth.password_validation import validate_password
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _


class Rater(models.Model):
    """A person, expert, model or classifier as a source of labels in statistics."""

    class Kind(models.TextChoices):
        PERSON = "person", _("Person")
        EXPERT = "expert", _("Expert")
        MODEL = "model", _("Model")
        CLASSIFIER = "classifier", _("Classifier")
        REFERENCE = "reference", _("Released label")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="raters")
    user = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="raters")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.PERSON)
    name = models.CharField(max_length=120, blank=True)
    external_id = models.CharField(max_length=128, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "user"], condition=Q(user__isnull=False), name="rater_user_once"
            ),
            models.UniqueConstraint(
                fields=["study", "kind", "external_id"],
                condition=~Q(external_id=""),
                name="rater_external_once",
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.pseudonym

    @property
    def described(self) -> str:
        """Description for researchers: models and releases by name, people by pseudonym."""
        kind = str(self.get_kind_display())
        is_named = bool(self.name) and self.user_id is None and self.kind != self.Kind.PERSON
        if not is_named:
            return f"{kind} {self.pseudonym}"
        return self.name if self.name.startswith(kind) else f"{self.name} ({kind.lower()})"

    @property
    def pseudonym(self) -> str:
        """A short name that reveals nothing about the person."""
        return f"R-{self.public_id.hex[:6]}"


INVITATION_LIFETIME = timedelta(days=14)


def hash_secret(secret: str) -> str:
    """Return the SHA-256 of a secret of 128 bits or more, stored in place of the secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def new_secret() -> str:
    """Return 256 random bits, URL-safe."""
    return secrets.token_urlsafe(32)


class UserManager(BaseUserManager["User"]):
    """Creates users by e-mail address, or without one for crowd participants."""

    def create_user(self, email: str | None, password: str | None = None, **fields) -> "User":
        """Create a user; without a password, nobody can sign in with one."""
        user = self.model(email=email.strip().lower() if email else None, **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields) -> "User":
        """Create a user who may create studies and administer the site.

        Raises ``ValidationError`` for a password that the pages would refuse: automated
        installations use this method as well.
        """
        if password is not None:
            validate_password(password, self.model(email=email, name=fields.get("name", "")))
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def get_by_natural_key(self, email: str | None) -> "User":
        """Find a user by address, ignoring case."""
        return self.get(email__iexact=email)


class User(AbstractBaseUser, PermissionsMixin):
    """A person. Crowd participants have neither e-mail nor password, only a session."""

    class Shortcuts(models.TextChoices):
        """How letters, digits and signs act as shortcuts on work pages."""

        SINGLE = "single", _("Without Alt")
        ALT = "alt", _("With Alt")
        OFF = "off", _("Off")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    email = models.EmailField(_("e-mail"), unique=True, null=True, blank=True)
    name = models.CharField(_("name"), max_length=120, blank=True)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(_("site administrator"), default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    shortcuts = models.CharField(
        _("keyboard shortcuts"), max_length=6, choices=Shortcuts, default=Shortcuts.SINGLE
    )

    # How often somebody signed out everywhere: what is older than the last time is no session.
    sign_outs = models.PositiveIntegerField(default=0, editable=False)

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects = UserManager()

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="user_email_case_insensitive")]

    def __str__(self) -> str:
        return self.name or self.email or _("Participant %s") % str(self.public_id)[:8]

    @property
    def is_participant(self) -> bool:
        """Whether this person came through a crowd link: no e-mail, no password, one study."""
        return self.email is None

    def _get_session_auth_hash(self, secret: str | bytes | None = None) -> str:
        """Return the session hash; a new password or a sign-out everywhere ends every session."""
        return salted_hmac(
            "cqa_site.people.models.User.session",
            f"{self.password}{self.sign_outs}",
            secret=secret,
            algorithm="sha256",
        ).hexdigest()


class Role(models.TextChoices):
    ANNOTATOR = "annotator", _("Annotator")
    EXPERT = "expert", _("Expert")
    RESEARCHER = "researcher", _("Researcher")
    ADMIN = "admin", _("Admin")


class Study(models.Model):
    """One research project, isolated from all others."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(_("name"), max_length=120)
    description = models.TextField(_("description"), blank=True)
    # What it was opened to find out: the key of a path (`cqa_site.web.navigation`).
    goal = models.CharField(_("research goal"), max_length=20, blank=True)
    is_demo = models.BooleanField(default=False, editable=False)
    created_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    # Read and exported as before, and nothing changes any more; see `people.access`.
    archived_at = models.DateTimeField(null=True, editable=False)
    # From here on nobody opens it; its rows go in the background.
    deleted_at = models.DateTimeField(null=True, editable=False)
    members = models.ManyToManyField("people.User", through="Membership")

    class Meta:
        ordering = ["name", "pk"]
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return self.name

    @property
    def is_archived(self) -> bool:
        """Whether it can only be read and exported."""
        return self.archived_at is not None


class Membership(models.Model):
    """One person's role in a study."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="memberships")
    user = models.ForeignKey("people.User", models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=12, choices=Role)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "user"], name="membership_once"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} · {self.get_role_display()}"

    @property
    def is_researcher(self) -> bool:
        """Whether the member runs the study and sees every figure and row."""
        return self.role in (Role.RESEARCHER, Role.ADMIN)


class GroupRole(models.Model):
    """Marks a membership or site administration as granted by provider groups.

    Without a mark it was given by hand, and groups never take it away.
    """

    user = models.ForeignKey("people.User", models.CASCADE, related_name="group_roles")
    study = models.ForeignKey(Study, models.CASCADE, null=True, related_name="group_roles")
    provider = models.CharField(max_length=40)
    # When the provider said so last, in a sign-in that was let in.
    confirmed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "study"], name="group_role_once"),
            models.UniqueConstraint(
                fields=["user"],
                condition=models.Q(study__isnull=True),
                name="group_administrator_once",
            ),
        ]


class Invitation(models.Model):
    """A single-use link that makes its holder a member with one role."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey(Study, models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=12, choices=Role)
    note = models.CharField(_("name"), max_length=120, blank=True)
    # A page of the study, where somebody who came in begins; empty for its first page.
    leads_to = models.CharField(max_length=200, blank=True)
    secret_hash = models.CharField(max_length=64, unique=True, editable=False)
    created_by = models.ForeignKey("people.User", models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    used_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(role__in=Role.values), name="invitation_role_known"
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_role_display()} · {self.note}"

    @property
    def is_open(self) -> bool:
        return not self.used_at and not self.revoked_at and self.expires_at > timezone.now()


class ApiToken(models.Model):
    """A token for the REST API: shown once, stored as a hash, bound to a scope."""

    PREFIX = "cqa_"

    class Scope(models.TextChoices):
        READ = "read", _("Read")
        WRITE = "write", _("Read and write")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    user = models.ForeignKey("people.User", models.CASCADE, related_name="api_tokens")
    name = models.CharField(_("name"), max_length=60)
    scope = models.CharField(max_length=5, choices=Scope, default=Scope.READ)
    secret_hash = models.CharField(max_length=64, unique=True, editable=False)
    last_four = models.CharField(max_length=4, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]

    @property
    def is_open(self) -> bool:
        return not self.revoked_at and self.expires_at > timezone.now()


class AuditEvent(models.Model):
    """A change with its author and reason, per study; rows are only ever added."""

    study = models.ForeignKey(Study, models.CASCADE, null=True, related_name="audit_events")
    actor = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    verb = models.CharField(max_length=60)
    subject = models.CharField(max_length=200)
    reason = models.TextField(blank=True)
    details = models.JSONField(default=dict)

    class Meta:
        ordering = ["-at", "-pk"]
        indexes = [models.Index(fields=["study", "-at"])]

    @property
    def action(self) -> str:
        """The verb in words: ``member_role_changed`` reads "Member role changed"."""
        return re.sub("_open$", "_opened", self.verb).replace("_", " ").capitalize()
