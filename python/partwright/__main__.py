"""The command `partwright`, also as `python -m partwright`. It imports little before Ctrl-C can interrupt it."""

from __future__ import annotations

import signal
import threading


def main() -> None:
    """Run the command with this process's arguments and exit with its code; Ctrl-C during imports prints nothing."""
    interruptible = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    # Until the command has begun there is nothing to clean up, and a traceback would be of no use.
    if interruptible:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from partwright import cli  # noqa: PLC0415 - see above

    if interruptible:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.main()


if __name__ == "__main__":
    main()
