"""Import of files with people's counts, with the same steps as every other import."""
