"""Files of arguments into datasets, through the imports of `annotation`."""
