from allauth.account import views as account
from django.urls import path

urlpatterns = [
    path("accounts/login/", account.login, name="account_login"),
    path("accounts/logout/", account.logout, name="account_logout"),
]
