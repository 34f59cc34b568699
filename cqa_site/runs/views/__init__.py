"""Pages of background work, endpoints and runs that depend on no app."""
