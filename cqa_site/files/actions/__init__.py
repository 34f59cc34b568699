"""Import of files into the database: read a stream, compare it, then write or not."""
