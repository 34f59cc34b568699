"""What is computed for pages and commands; figures of the paper without Django."""
