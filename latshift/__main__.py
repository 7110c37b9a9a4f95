"""Starts the command line, for `python -m latshift` and for the console script `latshift`.

Nothing is imported up here: worker processes that are spawned import this module once more.
"""


def run() -> None:
    """Run the command line and exit with its code."""
    import gc
    import sys

    # One command makes no cyclic garbage worth a search through millions of live objects.
    gc.disable()
    from latshift.cli.main import main

    sys.exit(main())


if __name__ == "__main__":
    run()
