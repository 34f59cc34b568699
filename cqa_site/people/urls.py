"""Addresses about people.

The account library's views are mounted one by one: what is not listed here,
public sign-up above all, does not exist.
"""

from allauth.account import views as allauth_account
from django.urls import path, re_path
from django.views.decorators.http import require_POST

from .views import account, audit, invitations, members, studies

urlpatterns = [
    path("accounts/login/", allauth_account.login, name="account_login"),
    path("accounts/logout/", require_POST(allauth_account.logout), name="account_logout"),
    path("accounts/inactive/", allauth_account.account_inactive, name="account_inactive"),
    path("accounts/password/", account.password_change, name="account_change_password"),
    path("accounts/reset/", allauth_account.password_reset, name="account_reset_password"),
    path(
        "accounts/reset/sent/",
        allauth_account.password_reset_done,
        name="account_reset_password_done",
    ),
    path(
        "accounts/reset/done/",
        allauth_account.password_reset_from_key_done,
        name="account_reset_password_from_key_done",
    ),
    re_path(
        r"^accounts/reset/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        allauth_account.password_reset_from_key,
        name="account_reset_password_from_key",
    ),
    path("account/", account.account, name="account"),
    path("account/keys/", account.account_keys, name="account_keys"),
    path("account/tokens/", account.token_new, name="token_new"),
    path("account/tokens/lend/", account.token_lend, name="token_lend"),
    path("account/tokens/<uuid:token_id>/revoke/", account.token_revoke, name="token_revoke"),
    path("studies/new/", studies.study_new, name="study_new"),
    path("invitations/", invitations.invitation_accept, name="invitation_accept"),
    path("invitations/<str:secret>/", invitations.invitation, name="invitation"),
    path("s/<uuid:study_id>/settings/", studies.study_settings, name="study_settings"),
    path("s/<uuid:study_id>/people/", members.members, name="members"),
    path("s/<uuid:study_id>/people/<uuid:user_id>/role/", members.member_role, name="member_role"),
    path(
        "s/<uuid:study_id>/people/<uuid:user_id>/active/",
        members.member_active,
        name="member_active",
    ),
    path("s/<uuid:study_id>/people/invitations/", members.invitation_new, name="invitation_new"),
    path(
        "s/<uuid:study_id>/people/invitations/<uuid:invitation_id>/revoke/",
        members.invitation_revoke,
        name="invitation_revoke",
    ),
    path("s/<uuid:study_id>/log/", audit.audit, name="audit"),
]
