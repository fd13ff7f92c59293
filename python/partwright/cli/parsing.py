"""What a command does with its options beyond click: they stand under headings, and none loses a value.

An option that is given twice makes a list longer; any other is refused. Libraries have headings, too: cloup's import
takes longer than click's own, and click-option-group's needs options of its own class.
"""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from click.decorators import FC

__all__ = [
    "OUTPUT",
    "Command",
    "Listed",
    "combined",
    "flag",
    "heading",
    "option",
    "repeated",
    "under_headings",
]

OUTPUT = "Output"
"""The heading of the options that say how an answer is shown."""
_HELP = "Help"


def option(
    usage: str,
    text: str,
    name: str | None = None,
    *,
    read: Callable[[str, str], object] | None = None,
    **attributes: Any,
) -> Callable[[FC], FC]:
    """An option as its help shows it; a default is shown, too.

    Args:
        usage: Its names, then what its value is called: `-n --partitions N`.
        text: What it says.
        name: The command's parameter, if it is not the option's name.
        read: What makes a value of the typed text, with the option's name for errors.
        attributes: The others of `click.option`.
    """
    words = usage.split()
    spellings = [word for word in words if word.startswith("-")]
    value = next(iter(words[len(spellings) :]), None)
    attributes.setdefault("show_default", attributes.get("default") is not None)
    if read is not None:
        attributes["callback"] = lambda _ctx, each, typed: (
            None if typed is None else read(typed, each.opts[0])
        )
    return click.option(*spellings, *filter(None, [name]), metavar=value, help=text, **attributes)


def repeated(usage: str, text: str, name: str | None = None, **attributes: Any) -> Callable[[FC], FC]:
    """An option that may be given several times; the command gets a tuple."""
    return option(usage, text, name, multiple=True, **attributes)


def flag(usage: str, text: str, name: str | None = None, **attributes: Any) -> Callable[[FC], FC]:
    """An option without a value: `--jsonl`, or `--check/--no-check`, whose help says what is the default."""
    return option(usage, text, name, is_flag=True, show_default=False, **attributes)


def heading(title: str) -> Callable[[FC], FC]:
    """The heading of the options below in help texts, as far as the next one; the same one again goes on with it."""

    def headed(command: FC) -> FC:
        for option in getattr(command, "__click_params__", ()):
            # click hands unknown attributes to nobody, so they are kept beside its own.
            vars(option).setdefault("heading", title)
        return command

    return headed


def combined(
    name: str, make: Callable[..., object], *options: Callable[[Any], Any]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Options that together are one value, as a decorator.

    Args:
        name: The command's parameter that gets the value.
        make: Makes it of the options' values, which it takes by their names.
        options: The options, under their heading.
    """
    parameters = inspect.signature(make).parameters

    def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def with_value(**values: object) -> Any:
            own = {each: values.pop(each) for each in parameters if each in values}
            return command(**values, **{name: make(**own)})

        return functools.reduce(lambda decorated, each: each(decorated), reversed(options), with_value)

    return with_options


def first_given(options: Mapping[str, object]) -> str | None:
    """The first of some options that was given: its value is not None, False or empty."""
    return next((name for name, value in options.items() if value not in (None, False, ())), None)


def under_headings(command: click.Command, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
    """Each option and its help, by heading, in the order in which headings come first; output and help come last."""
    found: dict[str, list[tuple[str, str]]] = {}
    for option in command.get_params(ctx):
        record = option.get_help_record(ctx) if isinstance(option, click.Option) else None
        if record is not None:
            found.setdefault(vars(option).get("heading", _HELP), []).append(record)
    return found | {title: found.pop(title) for title in (OUTPUT, _HELP) if title in found}


class Listed(click.Option):
    """An option whose value is a list with commas; given again, it adds to the list."""

    def __init__(self, *names: Any, callback: Callable[..., Any] | None = None, **attributes: Any) -> None:
        def joined(ctx: click.Context, option: click.Parameter, values: Sequence[str]) -> Any:
            value = ",".join(values) if values else None
            return value if callback is None else callback(ctx, option, value)

        super().__init__(*names, **attributes | {"multiple": True, "callback": joined})


class Command(click.Command):
    """A command that takes each option once, unless it is a flag or says that it may be repeated."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings."""
        for title, records in under_headings(self, ctx).items():
            with formatter.section(title):
                formatter.write_dl(records)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, which keeps only the last value of an option.

        Raises:
            UsageError: An option has two values.
        """
        *_, order = self.make_parser(ctx).parse_args(list(args))
        # First, because --help ends here, and helps whatever else was typed.
        rest = super().parse_args(ctx, args)
        # A shell that completes a line wants no complaint.
        for option in () if ctx.resilient_parsing else order:
            if not isinstance(option, click.Option) or option.is_flag or option.multiple:
                continue
            if order.count(option) > 1:
                what = (
                    "a key is one column, so make one of several" if option.name == "key" else "leave one out"
                )
                ctx.fail(f"{max(option.opts, key=len)} is given twice: {what}")
        return rest
