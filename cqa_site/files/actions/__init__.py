"""Files into the database: read as a stream, compare with what is there, then write or not."""
