"""Signing in beyond the password: providers, passkeys, second steps, sessions."""
