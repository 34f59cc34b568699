"""Studies that are put away: archived, restored, deleted."""
