"""Ways through a study: its menu, what its search box finds, and the steps to what it asks."""
