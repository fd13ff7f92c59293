"""Options that are given twice: a list gets longer, and everything else is refused, because one value would be lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Command", "Listed"]


class Listed(click.Option):
    """An option whose value is a list with commas; given again, it adds to the list."""

    def __init__(self, *names: Any, callback: Callable[..., Any] | None = None, **attributes: Any) -> None:
        def joined(ctx: click.Context, option: click.Parameter, values: Sequence[str]) -> Any:
            value = ",".join(values) if values else None
            return value if callback is None else callback(ctx, option, value)

        attributes |= {"multiple": True, "callback": joined}
        super().__init__(*names, **attributes)


class Command(click.Command):
    """A command that takes each option once, unless it is a flag or says that it may be repeated."""

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
