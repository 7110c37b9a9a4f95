"""What Typer lacks: help in sections with its examples as written, option groups, and the order of different options.

Option groups are dataclasses whose fields are options; a command names the groups it takes as parameters:

    def command(paths: Paths, read: ReadOptions, show: ShowOptions) -> int: ...
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints

from typer.core import TyperCommand, TyperGroup

ORDER = "latshift.order"
"""Where a context's `meta` holds the names of the given options, in the order given, repeats included."""


class Program(TyperGroup):
    """The group of all commands."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples as they stand."""
        _write_epilog(self.epilog, formatter)


class Command(TyperCommand):
    """A command that remembers in which order its options were given."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, and note the order of the options."""
        if not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(args=list(args))
            ctx.meta[ORDER] = [parameter.name for parameter in order]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return what stands in the line of usage: arguments as their metavar is written."""
        arguments = [item.metavar or "" for item in self.get_params(ctx) if item.param_type_name == "argument"]
        return ["[OPTIONS]", *arguments]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options in the sections that `rich_help_panel` names."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                argument = parameter.param_type_name == "argument"
                panel = getattr(parameter, "rich_help_panel", None) or ("Arguments" if argument else "Options")
                sections.setdefault(panel, []).append((parameter.metavar or "", record[1]) if argument else record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records, col_max=32)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples as they stand."""
        _write_epilog(self.epilog, formatter)


def _write_epilog(epilog: str | None, formatter: Any) -> None:
    if epilog:
        formatter.write(f"\n{inspect.cleandoc(epilog)}\n")


def with_option_groups(command: Callable[..., int]) -> Callable[..., int]:
    """Return the command with its option groups spread out into single options, as Typer wants them."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, tuple[Any, list[str]]] = {}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        annotation: Any = hints[name]
        if is_dataclass(annotation) and isinstance(annotation, type):
            spread = list(_options_of(annotation))
            groups[name] = (annotation, [option.name for option in spread])
            parameters += spread
        else:
            parameters.append(parameter.replace(annotation=annotation, kind=inspect.Parameter.KEYWORD_ONLY))

    def run(**values: Any) -> int:
        for name, (group, names) in groups.items():
            values[name] = group(**{option: values.pop(option) for option in names})
        return command(**values)

    run.__doc__ = command.__doc__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _options_of(group: type[Any]) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    for option in fields(group):
        default = inspect.Parameter.empty if option.default is MISSING else option.default
        yield inspect.Parameter(
            option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[option.name]
        )
