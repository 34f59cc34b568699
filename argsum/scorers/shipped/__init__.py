"""Training texts that ship with the match scorers."""
