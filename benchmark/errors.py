"""The errors that are for the person at the keyboard: one clear message each, and the exit code it gives."""


class BenchError(Exception):
    """A condition the user can mend; the command line prints the message without a traceback."""

    exit_code = 1


class ConfigError(BenchError):
    """A configuration that says something impossible; raised before any work is done."""

    exit_code = 2


class DataError(BenchError):
    """A corpus that is missing, damaged, or not the one its dataset card describes."""

    exit_code = 3
