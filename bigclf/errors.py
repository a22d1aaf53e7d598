"""Mistakes the user can mend. Each prints as one line, `PLACE: what is wrong (what was found); what to do`."""

from __future__ import annotations

NO_RESULTS = "there are no results"  # where a signal ends what would have told them


class BigclfError(Exception):
    """A fault of data, model, memory or system; the command ends with `exit_code` and no trace."""

    exit_code = 1


class UsageError(BigclfError):
    """The command line asks for something that cannot be meant."""

    exit_code = 2


class DataError(BigclfError):
    """A fault in an input: `place` is file, file:line, file:line:column or file: row group and row."""

    def __init__(self, place: str, what: str) -> None:
        super().__init__(f"{place}: {what}")
        self.place = place
        self.what = what


class ModelFileError(BigclfError):
    """A model file that cannot be used."""

    def __init__(self, path: object, what: str) -> None:
        super().__init__(f"{path}: {what}")


class WriteError(BigclfError):
    """A file could not be written: a full disk, for example. What was there under its name still is."""


class BudgetError(BigclfError):
    """Memory would not suffice."""


class Interrupted(BigclfError):
    """A signal ended the run; `exit_code` is 128 and its number."""

    def __init__(self, what: str, exit_code: int) -> None:
        super().__init__(what)
        self.exit_code = exit_code


class Stopped(BaseException):
    """SIGINT or SIGTERM came. Not an Exception: nothing may catch it by the way."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class UnsupportedError(BigclfError):
    """The algorithm cannot do what is asked of it."""
