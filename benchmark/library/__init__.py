"""What stands above a single run: the door for notebooks, a first configuration, and how a number came about."""
