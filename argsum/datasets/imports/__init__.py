"""Import of argument files into datasets, through the imports of `annotation`."""
