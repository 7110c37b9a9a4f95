"""The one family of errors: every message says what went wrong, where, and what to do about it."""

from __future__ import annotations


class LatshiftError(Exception):
    """Base of all errors that latshift raises on purpose.

    Args:
        message: What went wrong, with its place (file:line, byte offset or trace id) where there is one.
        hint: What the person can do about it; printed on a line of its own.
    """

    exit_code = 2

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class InputError(LatshiftError):
    """A trace file cannot be found, read, or recognised."""


class ConfigError(LatshiftError):
    """A configuration file holds something latshift does not know or cannot use."""


class EditError(LatshiftError):
    """A selector or a what-if edit cannot be parsed, makes no sense, or matches nothing."""


class InternalError(LatshiftError):
    """latshift caught itself computing something impossible; the number is withheld."""

    exit_code = 101
