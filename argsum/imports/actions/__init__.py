"""Import of stored scores and clusterings, through the usual imports."""
