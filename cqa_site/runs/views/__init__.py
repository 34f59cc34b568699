"""Pages of background work, endpoints and runs, as far as they know no app."""
