"""Runs commands without a new process's half second of imports: one process has them, and forks for each command.

    python warm.py ADDRESS

Next to it is the program that a shell finds as `partwright`: it passes on its files, folder, environment and arguments.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import socket
import sys

CLIENT = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    told = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(told).to_bytes(4, "big")], [0, 1, 2])
    server.sendall(told)
    sys.exit(int(server.recv(4) or 70))
"""


def serve(address: str) -> None:
    """Answers until the process that started this one ends it."""
    import pyarrow.compute
    import pyarrow.parquet

    from partwright.cli import commands

    # The first array made from a list looks for pandas, and imports it.
    pyarrow.array([0])
    for module in pkgutil.iter_modules(commands.__path__, f"{commands.__name__}."):
        importlib.import_module(module.name)
    with socket.socket(socket.AF_UNIX) as server:
        # The socket's name appears once it answers.
        server.bind(f"{address}.new")
        server.listen()
        os.rename(f"{address}.new", address)  # noqa: PTH104 - a socket's address is text
        while True:
            client, _ = server.accept()
            with client:
                if os.fork() == 0:
                    server.close()
                    _run(client)


def _run(client: socket.socket) -> None:
    from partwright.cli import main

    size, files, _, _ = socket.recv_fds(client, 4, 3)
    with client.makefile("rb") as told:
        words, folder, environment = json.loads(told.read(int.from_bytes(size, "big")))
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    # This process's own streams were buffered for its own files; the caller's may be pipes.
    sys.stdin, sys.stdout, sys.stderr = (open(number, mode) for number, mode in enumerate("rww"))  # noqa: PTH123, SIM115
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    code: object = 70
    try:
        main(words)
    except SystemExit as ended:
        code = ended.code
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        client.sendall(str(code).encode())
        os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1])
