"""URLs of pages about people.

The account library's views are included individually, so views that are not listed, above all
public sign-up, are not available.
"""

from allauth.account import views as allauth_account
from allauth.mfa.base import views as allauth_mfa
from allauth.mfa.recovery_codes import views as allauth_codes
from allauth.mfa.totp import views as allauth_app
from allauth.mfa.webauthn import views as allauth_passkeys
from django.urls import path, re_path
from django.views.decorators.http import require_POST

from .views import account, sign_in, studies

urlpatterns = [
    path("first/", sign_in.first_administrator, name="first_administrator"),
    path("first/<str:key>/", sign_in.first_link, name="first_link"),
    path("accounts/login/", sign_in.SignIn.as_view(), name="account_login"),
    path("accounts/login/passkey/", allauth_passkeys.login_webauthn, name="mfa_login_webauthn"),
    path("accounts/login/second-step/", allauth_mfa.authenticate, name="mfa_authenticate"),
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
    path("accounts/oidc/<str:provider_id>/", account.provider_begin, name="openid_connect_login"),
    path(
        "accounts/oidc/<str:provider_id>/login/callback/",
        account.provider_callback,
        name="openid_connect_callback",
    ),
    *[
        path(f"accounts/again/{where}", sign_in.own(view), name=name)
        for where, view, name in (
            ("", allauth_account.reauthenticate, "account_reauthenticate"),
            ("code/", allauth_mfa.reauthenticate, "mfa_reauthenticate"),
            ("passkey/", allauth_passkeys.reauthenticate_webauthn, "mfa_reauthenticate_webauthn"),
        )
    ],
    path("accounts/again/provider/", account.provider_once_more, name="provider_once_more"),
    path("account/", account.account, name="account"),
    path("account/sign-in/", sign_in.ways, name="mfa_index"),
    path("account/sign-in/elsewhere/", sign_in.end_other_sessions, name="sessions_end"),
    path(
        "account/sign-in/providers/<int:account_id>/remove/",
        account.provider_disconnect,
        name="provider_disconnect",
    ),
    *[
        path(f"account/sign-in/{where}", sign_in.fresh(view), name=name)
        for where, view, name in (
            ("app/", account.AddApp.as_view(), "mfa_activate_totp"),
            ("app/remove/", allauth_app.deactivate_totp, "mfa_deactivate_totp"),
            ("codes/", account.ShowCodes.as_view(), "mfa_view_recovery_codes"),
            ("codes/new/", allauth_codes.generate_recovery_codes, "mfa_generate_recovery_codes"),
            ("passkeys/", account.AddPasskey.as_view(), "mfa_add_webauthn"),
            ("passkeys/<int:pk>/", account.RenamePasskey.as_view(), "mfa_edit_webauthn"),
            ("passkeys/<int:pk>/remove/", account.RemovePasskey.as_view(), "mfa_remove_webauthn"),
        )
    ],
    path("account/keys/", account.account_keys, name="account_keys"),
    path("account/tokens/", account.token_new, name="token_new"),
    path("account/tokens/lend/", account.token_lend, name="token_lend"),
    path("account/tokens/<uuid:token_id>/revoke/", account.token_revoke, name="token_revoke"),
    path("studies/new/", studies.study_new, name="study_new"),
    path("invitations/", sign_in.invitation_accept, name="invitation_accept"),
    path("invitations/<str:secret>/", sign_in.invitation, name="invitation"),
    path("s/<uuid:study_id>/settings/", studies.study_settings, name="study_settings"),
    path("s/<uuid:study_id>/people/", studies.members, name="members"),
    path("s/<uuid:study_id>/people/<uuid:user_id>/role/", studies.member_role, name="member_role"),
    path(
        "s/<uuid:study_id>/people/<uuid:user_id>/active/",
        studies.member_active,
        name="member_active",
    ),
    path("s/<uuid:study_id>/people/invitations/", studies.invitation_new, name="invitation_new"),
    path(
        "s/<uuid:study_id>/people/invitations/<uuid:invitation_id>/revoke/",
        studies.invitation_revoke,
        name="invitation_revoke",
    ),
    path("s/<uuid:study_id>/log/", studies.audit, name="audit"),
]
