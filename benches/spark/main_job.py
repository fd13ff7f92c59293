"""How long the steps of `partwright run` take, above all reading back and checking next to writing.

    python benches/spark/main_job.py [--records 1000000] [--rounds 3] [--flights] [--other PYTHON]

Each run is a process of its own with its own Kafka and Spark, as a user has it: Java compiles its code anew each time.
Without `--flights` the records are made: keys of 12 bytes, some 50,000 different ones, and values of 100 bytes of which
half does not compress. `--other` is the interpreter of another installation, which takes turns with this one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

KEYS = 50_021
PARTITIONS = 12
PAIRS = {"read back and check": "write", "compare": "let the Java producer choose"}
"""Steps that read, by the step that wrote what they read."""


def make(file: Path, records: int) -> None:
    """A Parquet file of records."""
    drawn = random.Random(records)  # noqa: S311 - nothing secret
    keys = [b"key-%08d" % drawn.randrange(KEYS) for _ in range(records)]
    values = [drawn.randbytes(50) + b"a" * 50 for _ in range(records)]
    table = pa.table({"key": pa.array(keys, pa.binary()), "value": pa.array(values, pa.binary())})
    pq.write_table(table, file)


def steps(interpreter: str, source: list[str], state: str) -> dict[str, float]:
    """The seconds of each step of one run, which must have found every record where it belongs."""
    command = [
        interpreter,
        "-m",
        "partwright",
        "run",
        "--runner",
        "spark",
        *source,
        "--partitions",
        str(PARTITIONS),
        "--json",
    ]
    environment = {**os.environ, "PARTWRIGHT_STATE": state}
    quiet = subprocess.DEVNULL
    # The caller names the interpreters.
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, stderr=quiet)  # noqa: S603
    report = json.loads(done.stdout)
    assert report["ok"]
    return {step["name"]: step["seconds"] for step in report["steps"]}


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--records", type=int, default=1_000_000)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--flights", action="store_true", help="the demo's records instead of made ones")
    options.add_argument("--other", help="the Python of another installation, to compare with")
    given = options.parse_args()
    interpreters = {"this": sys.executable} | ({"other": given.other} if given.other else {})
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in interpreters}
    with tempfile.TemporaryDirectory() as folder:
        source: list[str] = []
        if not given.flights:
            file = Path(folder, "records.parquet")
            make(file, given.records)
            source = [str(file), "--key", "key", "--value", "value"]
        for _ in range(given.rounds):
            for name, interpreter in interpreters.items():
                runs[name].append(steps(interpreter, source, folder))
                print(name, json.dumps(runs[name][-1]), f"load {os.getloadavg()[0]:.1f}", flush=True)
    for name, several in runs.items():
        print(f"\n{name}: medians of {given.rounds}")
        medians = {step: statistics.median(run[step] for run in several) for step in several[0]}
        for step, seconds in medians.items():
            of = PAIRS.get(step)
            share = statistics.median(run[step] / run[of] for run in several) if of else None
            print(f"  {step:32}{seconds:8.2f} s" + (f"{share:8.2f} of {of!r}" if share else ""))


if __name__ == "__main__":
    main()
