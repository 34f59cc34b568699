"""Files with stored scores and clusterings into the database, through the usual imports."""
