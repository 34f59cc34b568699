"""Files with people's counts into the database, through the same steps as every other import."""
