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
    """A person, expert, model or classifier that provides labels for statistics."""

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
        """The name of a model or release, or the pseudonym of a person, for researchers."""
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
    """Return the SHA-256 hash that is stored instead of a secret of at least 128 bits."""
    return hashlib.sha256(secret.encode()).hexdigest()


def new_secret() -> str:
    """Return 256 random bits as URL-safe text."""
    return secrets.token_urlsafe(32)


class UserManager(BaseUserManager["User"]):
    """Manager that creates users with an e-mail address, or crowd participants without one."""

    def create_user(self, email: str | None, password: str | None = None, **fields) -> "User":
        """Create a user, who cannot sign in with a password if none is given."""
        user = self.model(email=email.strip().lower() if email else None, **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields) -> "User":
        """Create a user who may create studies and administer the site.

        Raises ``ValidationError`` for a password that the pages would refuse, because automated
        installations use this method as well.
        """
        if password is not None:
            validate_password(password, self.model(email=email, name=fields.get("name", "")))
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def get_by_natural_key(self, email: str | None) -> "User":
        """Return the user with an e-mail address, ignoring case."""
        return self.get(email__iexact=email)


class User(AbstractBaseUser, PermissionsMixin):
    """A person. Crowd participants have no e-mail address or password, only a session."""

    class Shortcuts(models.TextChoices):
        """Options for letters, digits and symbols as shortcuts on work pages."""

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

    # The number of times that the user signed out everywhere; each time ends all earlier sessions.
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
        """Whether this is a crowd participant, with one study but no e-mail or password."""
        return self.email is None

    def _get_session_auth_hash(self, secret: str | bytes | None = None) -> str:
        """Return the session hash, which a new password or a sign-out everywhere changes."""
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
    # The research goal, stored as the key of a path (`cqa_site.web.navigation`).
    goal = models.CharField(_("research goal"), max_length=20, blank=True)
    is_demo = models.BooleanField(default=False, editable=False)
    created_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    # From this time on, the study can only be read and exported; see `people.access`.
    archived_at = models.DateTimeField(null=True, editable=False)
    # From this time on, nobody can open the study; its rows are deleted in the background.
    deleted_at = models.DateTimeField(null=True, editable=False)
    members = models.ManyToManyField("people.User", through="Membership")

    class Meta:
        ordering = ["name", "pk"]
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return self.name

    @property
    def is_archived(self) -> bool:
        """Whether the study can only be read and exported."""
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
    """A mark for a membership or for site administration granted by provider groups.

    A role without this mark was assigned by hand, and groups never remove it.
    """

    user = models.ForeignKey("people.User", models.CASCADE, related_name="group_roles")
    study = models.ForeignKey(Study, models.CASCADE, null=True, related_name="group_roles")
    provider = models.CharField(max_length=40)
    # When the provider last confirmed the role, in a successful sign-in.
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
    """A single-use link that makes a person a member with a given role."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey(Study, models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=12, choices=Role)
    note = models.CharField(_("name"), max_length=120, blank=True)
    # The page of the study that opens after joining; its first page if empty.
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
    """A token for the REST API with a scope; it is shown once and stored as a hash."""

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
    """A change in a study, with its author and reason, in an append-only log."""

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
        """The verb as text, such as "Member role changed" for ``member_role_changed``."""
        return re.sub("_open$", "_opened", self.verb).replace("_", " ").capitalize()
