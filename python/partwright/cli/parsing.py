"""What a command does with its options beyond click: they stand under headings, and none loses a value.

An option that is given twice makes a list longer; any other is refused. Libraries have headings, too: cloup's import
takes longer than click's own, and click-option-group's needs options of its own class.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from partwright._check import refused

if TYPE_CHECKING:
    from click.decorators import FC

    from partwright.errors import PartwrightError

POSITIVE = click.FloatRange(min=0, min_open=True)
"""The type of a number above 0."""
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


def as_typed(error: PartwrightError, spellings: Mapping[str, str]) -> PartwrightError:
    """An error about an argument of a function, with the name of its option instead, if it has one."""
    spelling = spellings.get(error.field or "")
    return error if spelling is None or error.reason is None else refused(error.value, spelling, error.reason)


def under_headings(command: click.Command, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
    """Each option and its help, by heading, in the order in which headings come first; output and help come last."""
    titled: dict[str, list[tuple[str, str]]] = {}
    for option in command.get_params(ctx):
        record = option.get_help_record(ctx) if isinstance(option, click.Option) else None
        if record is not None:
            titled.setdefault(vars(option).get("heading", _HELP), []).append(record)
    return titled | {title: titled.pop(title) for title in (OUTPUT, _HELP) if title in titled}


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
        others = super().parse_args(ctx, args)
        # A shell that completes a line wants no complaint.
        for option in () if ctx.resilient_parsing else order:
            if not isinstance(option, click.Option) or option.is_flag or option.multiple:
                continue
            if order.count(option) > 1:
                what = (
                    "a key is one column, so make one of several" if option.name == "key" else "leave one out"
                )
                ctx.fail(f"{max(option.opts, key=len)} is given twice: {what}")
        return others


def man_page(group: click.Group) -> str:
    r"""A command's manual page in man's own language, roff, from its help texts: `partwright --man | man -l -`.

    Args:
        group: The command whose help texts it has.

    Examples:
        >>> print(man_page(click.Group("wing", help="Fly.")))
        .TH WING 1
        .SH NAME
        wing \- Fly.
        .SH SYNOPSIS
        wing COMMAND [OPTIONS] ...
    """
    name = group.name or ""
    context = group.make_context(name, [], resilient_parsing=True)
    about = (group.help or "").split("\n\n", 1)[0]
    lines = [f".TH {name.upper()} 1", ".SH NAME", f"{name} \\- {_text(about)}"]
    lines += [".SH SYNOPSIS", f"{name} COMMAND [OPTIONS] ..."]
    for each in group.list_commands(context):
        lines += _command(group.get_command(context, each), context, f"{name} {each}")
    return "\n".join(lines)


def _command(command: click.Command | None, parent: click.Context, path: str) -> Iterator[str]:
    if command is None:
        return
    context = click.Context(command, parent=parent, info_name=path.rsplit(" ", 1)[1])
    yield f".SH {_text(path.upper())}"
    yield _text(f"{path} {' '.join(command.collect_usage_pieces(context))}")
    for paragraph in (command.help or "").split("\n\n"):
        yield ".PP"
        if "\b" in paragraph:
            # Lines that are not refilled.
            kept = paragraph.replace("\b", "").strip("\n").splitlines()
            yield from (".nf", *map(_text, kept), ".fi")
        else:
            yield _text(" ".join(paragraph.split()))
    for title, records in under_headings(command, context).items():
        yield f".SS {_text(title)}"
        for option, words in records:
            if words:
                yield from (".TP", rf"\fB{_text(option)}\fR", _text(" ".join(words.split())))
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            yield from _command(command.get_command(context, each), context, f"{path} {each}")


def _text(text: str) -> str:
    """A line of text, with backslashes, hyphens and a leading dot escaped for roff."""
    shown = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"^(?=[.'])", r"\\&", shown)
