"""Run users' code so that what it reads is known and what it changes is undone."""
