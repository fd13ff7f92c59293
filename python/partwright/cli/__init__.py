"""The command `partwright`: data on stdout, messages on stderr; exit 0 fine, 1 a check failed, 2 wrong use or input."""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
from typing import TYPE_CHECKING, TextIO

import click

from partwright._check import meant, spelled_as_options
from partwright._text import plain, plain_lines
from partwright.errors import PartwrightError
from partwright.signals import Ended, raised

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["command_names", "main"]

# The modules are imported on demand, so that `partwright --help` starts no Spark and needs no extra.
_COMMANDS = {
    "advise": "How many partitions a topic needs, and what more of them would cost.",
    "assign": "Who in a consumer group reads what, exactly as Kafka's own assignor decides.",
    "batch": "Simulate a producer's batches: records with their times in, batches and requests out.",
    "broker": "Start and stop the embedded Kafka, with one broker or several.",
    "check": "Is every record of a file or a topic in the partition that its client gives it?",
    "coordinator": "Where a consumer group's offsets are stored, and which broker coordinates it.",
    "copartition": "Would a join of two topics or tables lose records, and why?",
    "doctor": "Why a Kafka cannot be reached, or Spark's executors cannot run partwright.",
    "fingerprint": "Which client wrote this topic, and for how many partitions?",
    "group": "Simulate a consumer group: rebalances, who reads what, and what it costs.",
    "migrate": "Move a topic into another number of partitions: each key in order, with the groups' offsets.",
    "place": "Add to each record of a file the partition that a client gives it.",
    "reassign": "Brokers join or leave: which partitions move where, in which batches, and what you gain.",
    "resize": "What moves when a topic gets another number of partitions?",
    "rollout": "What a deployment's restart costs, and which settings would make it cheaper.",
    "run": "Read records, place them, write them to Kafka, read them back, check each one.",
    "strategy": "Replay a producer's strategy: calls, records and random numbers in, partitions out.",
    "stream": "Write new files or a topic's new records to a topic without an end, batch by batch.",
    "which": "Where each client puts a key, and why.",
}


# A shell's exit code for a process that SIGPIPE ended.
_NO_READER = 141


class _Commands(click.Group):
    """A group whose commands live in `partwright.cli.commands.NAME` under the name `command`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # A report repeats the command line that made it.
        ctx.meta["partwright.words"] = tuple(args)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        if cmd_name not in _COMMANDS:
            near = meant(cmd_name, _COMMANDS, form=str)
            ctx.fail(
                f"there is no command {cmd_name!r}{near or ': there are ' + ', '.join(sorted(_COMMANDS))}"
            )
        command: click.Command = importlib.import_module(f"partwright.cli.commands.{cmd_name}").command
        return command

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # The reader, such as `head`, has seen enough. click would exit with 1, which is the exit code of a failed
            # check, and Python would complain when it flushes stdout at its end.
            _give_up(sys.stdout)
            ctx.exit(_NO_READER)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(sorted(_COMMANDS.items()))


def _print_man(ctx: click.Context, option: click.Parameter, is_wanted: bool) -> None:
    del option
    if is_wanted:
        from partwright.cli.parsing import man_page

        ctx.command.name = "partwright"
        click.echo(man_page(partwright))
        ctx.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="partwright")
@click.option(
    "--man",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_man,
    help="Print the manual page: partwright --man | man -l -",
)
def partwright() -> None:
    """Where does a Kafka record go, and who reads it?  The exact answer of the real client."""


def command_names() -> list[str]:
    """The names of the commands."""
    return sorted(_COMMANDS)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code.

    Args:
        arguments: The words after `partwright`; by default the process's own.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            # A passed check must not fail because the terminal cannot show a tick.
            stream.reconfigure(errors="backslashreplace")
        elif stream is None:
            # The parent process closed the stream: the output is lost, but that is no reason to fail.
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - until the end
    sys.exit(_exit_code(arguments))


# EX_SOFTWARE of BSD's sysexits.h.
_DEFECT = 70


def _exit_code(arguments: Sequence[str] | None) -> int:
    try:
        with raised(), spelled_as_options():
            code = partwright.main(args=arguments, prog_name="partwright", standalone_mode=False)
            sys.stdout.flush()
    except PartwrightError as error:
        return _refuse(str(error))
    except click.ClickException as error:
        return _refuse_words(error.format_message())
    except (click.Abort, KeyboardInterrupt) as error:
        return _interrupted(error)
    except OSError as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            # click could not even end the line on stderr: the terminal is gone.
            return _interrupted(error.__context__)
        return _refuse_system(error)
    except Exception:  # noqa: BLE001 - a defect of ours, whose 1 would be a check's answer
        import traceback

        _say(plain_lines(traceback.format_exc().rstrip()))
        code = _DEFECT
    return code if isinstance(code, int) else 0


def _interrupted(error: BaseException) -> int:
    # click turns the interrupt into its own exception; our message is in its cause.
    causes = (error, error.__cause__)
    ended = next((each for each in causes if isinstance(each, Ended)), Ended(signal.SIGINT))
    words = next((str(each) for each in causes if each and str(each)), str(ended))
    _say(f"partwright: {words}")
    return ended.exit_code


def _refuse_system(error: OSError) -> int:
    if error.filename is not None:
        # For example a name longer than the system takes, which its first look at the file refuses.
        return _refuse(f"{error.filename!r} cannot be used ({error.strerror}): name another")
    # Errors of files and brokers are reported where they happen: this one is of stdout or stderr, for example on a
    # full disk.
    _give_up(sys.stdout)
    return _refuse(f"the system refuses what partwright does ({error}): make room, or send stdout elsewhere")


def _refuse(sentence: str) -> int:
    _say(f"partwright: {sentence}")
    return 2


def _refuse_words(message: str) -> int:
    if message.startswith("Usage: "):
        # For a group without a command, click prints its help, not a sentence.
        _say(message)
        return 2
    # It has the words of the command line as they are.
    return _refuse(plain(message))


def _say(line: str) -> None:
    try:
        print(line, file=sys.stderr, flush=True)  # noqa: T201 - the one place that says what went wrong
    except OSError:
        _give_up(sys.stderr)


def _give_up(stream: TextIO) -> None:
    """Discard what a stream still holds, which Python would otherwise try to write at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
