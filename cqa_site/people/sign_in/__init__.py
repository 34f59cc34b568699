"""Sign-in beyond passwords: providers, passkeys, second steps, sessions."""
