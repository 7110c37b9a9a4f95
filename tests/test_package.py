"""`import latshift`: the functions are there whatever has been imported before."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from types import FunctionType, ModuleType

import latshift


def test_subpackages_do_not_hide_functions_of_the_same_name() -> None:
    for name in ("whatif", "components"):
        assert isinstance(import_module(f"latshift.{name}"), ModuleType)
        assert isinstance(getattr(latshift, name), FunctionType)


def test_every_name_is_there() -> None:
    for name in latshift.__all__:
        assert callable(getattr(latshift, name))


def test_importing_costs_nothing() -> None:
    code = "import latshift, sys; sys.exit('numpy' in sys.modules or 'polars' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
