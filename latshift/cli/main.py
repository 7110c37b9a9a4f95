"""The entry point: runs a command, and turns whatever goes wrong into two lines on stderr and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from latshift.errors import LatshiftError

INTERNAL_ERROR = 101
INTERRUPTED = 130

DEBUG = "--debug"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: Arguments without the program's name; those of the process if None.

    Returns:
        The exit code; see the package's docstring.
    """
    args = list(sys.argv[1:] if argv is None else argv)
    debug = DEBUG in args
    args = [arg for arg in args if arg != DEBUG]
    for stream in (sys.stdout, sys.stderr):
        # What the terminal's encoding lacks becomes an escape, instead of an error half way through a report.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        return _run(args)
    except LatshiftError as error:
        if debug:
            raise
        return _complain(error.message, error.hint, error.exit_code)
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as stop:
        return _after_stop(stop)
    except MemoryError:
        return _complain("not enough memory for this input", "give fewer files, or --since and --until", 2)
    except Exception as error:
        if debug:
            raise
        text = f"internal error: {type(error).__name__}: {error}"
        return _complain(text, f"this is a bug in latshift; run again with {DEBUG} for the traceback", INTERNAL_ERROR)


def _run(args: list[str]) -> int:
    import typer

    from latshift.cli.app import program

    try:
        code = program().main(args=args, prog_name="latshift", standalone_mode=False)
    except typer.Abort:
        return INTERRUPTED
    except typer.TyperException as error:
        return _usage_error(error)
    return code if isinstance(code, int) else 0


def _usage_error(error: Exception) -> int:
    """Report what Typer found wrong with the arguments; without any arguments the help itself is the report."""
    context = getattr(error, "ctx", None)
    code = int(getattr(error, "exit_code", 2))
    text = error.format_message() if hasattr(error, "format_message") else str(error)
    if type(error).__name__ == "NoArgsIsHelpError":
        sys.stderr.write(f"{text}\n")
        return code
    command = context.command_path if context is not None else "latshift"
    return _complain(text, f"{command} --help lists the options and shows examples", code)


def _after_stop(stop: SystemExit) -> int:
    """Return the code of an exit that Typer itself called for; a reader that went away is no failure."""
    if isinstance(stop.__context__, BrokenPipeError):
        return 0
    return stop.code if isinstance(stop.code, int) else int(stop.code is not None)


def _complain(message: str, hint: str, code: int) -> int:
    from latshift.report.escape import visible

    sys.stderr.write(f"latshift: {visible(message, 2000)}\n")
    if hint:
        sys.stderr.write(f"  hint: {visible(hint, 2000)}\n")
    return code
