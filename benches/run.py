"""Measures everything in one run and joins it: `python benches/run.py [PARTS]`, as `make bench` does.

The run's seed is drawn, or is that of PARTWRIGHT_BENCH_SEED, and goes into the keys of every layer. The rivals of a
case on the JVM and in Go are measured right after ours of the same case. A run of all parts is written into
`results/` and README.md; one of some parts is printed.
"""

from __future__ import annotations

import json
import os
import platform
import secrets
import shutil
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

BENCHES = Path(__file__).resolve().parent
sys.path.insert(0, str(BENCHES / "python"))

from turns import build_java  # noqa: E402 - only now can it be found

import compare  # noqa: E402
from bench_cases import CASES, LAB, SEED, SEED_NAME  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = BENCHES.parent
BENCH = ROOT / "target" / "bench"
CRITERION = ROOT / "target" / "criterion"
PARTS = ("rust", "java", "go", "python", "memory", "spark", "assignors", "plays")
KEYED = ("rust", "java", "go")
"""Those that measure the same case one after another."""
TOOLS = {"java": "mvn", "go": "go", "assignors": "mvn"}
INSTALLS = {"mvn": "Maven 3.8 or later", "go": "Go 1.26 or later"}
GO = ["go", "test", "-run", "^$", "-benchtime", "500ms", "-count", "5", "-bench"]
HASHING = [
    "cargo",
    "bench",
    "--locked",
    "--package",
    "partwright-core",
    "--features",
    "arrow",
    "--bench",
    "hashing",
]
CRITERION_QUIET = ["--noplot", "--quiet"]
PACKAGES = ("partwright", "pyarrow", "numpy", "confluent-kafka", "kafka-python", "murmurhash2", "mmh2")


def main(arguments: Sequence[str]) -> int:
    """Run the named parts, or all; 2 if one cannot be run here."""
    parts = [part for part in PARTS if part in arguments or not arguments]
    for unknown in (argument for argument in arguments if argument not in PARTS):
        print(f"run.py: there is no part {unknown}: say {' '.join(PARTS)}", file=sys.stderr)
        return 2
    for part, tool in TOOLS.items():
        if part in parts and shutil.which(tool) is None:
            print(f"run.py: the part {part} needs {tool}: install {INSTALLS[tool]}.", file=sys.stderr)
            return 2
    seed = SEED if SEED_NAME in os.environ else secrets.randbits(32)
    os.environ[SEED_NAME] = str(seed)
    # A part that cannot be built ends the run before anything is lost.
    java = build_java("256m") if {"java", "assignors"} & {*parts} else []
    if "rust" in parts:
        _run(*HASHING, "--no-run")
    # Results of an earlier run have other keys, and another load.
    for folder in (BENCH, CRITERION):
        shutil.rmtree(folder, ignore_errors=True)
    BENCH.mkdir(parents=True)
    run = _about(str(seed))
    print(f"seed {seed}: say {SEED_NAME}={seed} to have the same keys again", flush=True)
    for part, seconds in _measure(parts, java):
        run["took"][part] = run["took"].get(part, 0) + seconds
        (BENCH / "run.json").write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
    return compare.main(["--write"] if parts == [*PARTS] else [])


def _about(seed: str) -> dict[str, Any]:
    """The versions and the machine on which the figures depend, apart from those that a layer reports itself."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "seed": seed,
        "commit": _said("git", "describe", "--always", "--dirty", "--exclude", "*"),
        "machine": {"cores": os.cpu_count(), "processor": _processor(), "system": platform.system()},
        "load": " ".join(f"{load:.2f}" for load in os.getloadavg()),
        "took": {},
        "versions": {
            "Rust": _said("rustc", "--version").split()[1],
            **{name: version(name) for name in PACKAGES},
        },
    }


def _said(*command: str) -> str:
    # The commands are those of this file.
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()  # noqa: S603


def _processor() -> str:
    """The processor's name from Linux, or else from Python."""
    cpus = Path("/proc/cpuinfo")
    lines = cpus.read_text(encoding="utf-8").splitlines() if cpus.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _measure(parts: Sequence[str], java: Sequence[str]) -> Iterator[tuple[str, float]]:
    """Runs the parts, and returns each step's seconds; a program's name is added to the command `java`."""
    for case in CASES:
        for part in (part for part in KEYED if part in parts):
            yield _timed(part, _steps(part, case, java))
    if "rust" in parts:
        yield _timed("rust", [_criterion("calls/")])
    if "java" in parts:
        sums = _said(*java, "partwright.bench.HashingBenchmark")
        (BENCH / "java.json").write_text(sums + "\n", encoding="utf-8")
    for part in (part for part in PARTS if part in parts and part not in KEYED):
        yield _timed(part, _programs(part))


def _steps(part: str, case: str, java: Sequence[str]) -> list[list[str]]:
    """The commands that measure a case."""
    if part == "rust":
        return [_criterion(f"{case}/")]
    if part == "go":
        return [[*GO, f"/^{case}$"]]
    jmh = [*java, "org.openjdk.jmh.Main", "-rf", "json", "-foe", "true", "-p", f"name={case}"]
    rows = ",".join(map(str, LAB["sizes"]["rows"]))
    plain = [*jmh, "-rff", str(BENCH / f"java-{case}.json"), "HashingBenchmark"]
    # Fewer iterations: no goal depends on these.
    jmh += ["-rff", str(BENCH / f"java-{case}-sizes.json"), "-wi", "2", "-i", "3"]
    sized = [*jmh, "-p", f"rows={rows}", "HashingBenchmark.partition"]
    return [plain, sized] if case in LAB["sizes"]["cases"] else [plain]


def _criterion(name: str) -> list[str]:
    return [*HASHING, "--", name, *CRITERION_QUIET]


def _programs(part: str) -> list[list[str]]:
    python = [sys.executable]
    return {
        "python": [
            [
                *(*python, "-m", "pytest", "benches/python", "--benchmark-enable", "-m", "", "-q"),
                "--benchmark-columns=median,iqr,rounds",
                f"--benchmark-json={BENCH / 'python.json'}",
            ]
        ],
        "memory": [[*python, "benches/python/memory.py"]],
        "spark": [[*python, "benches/spark/engines.py"], [*python, "benches/spark/in_the_worker.py"]],
        "assignors": [
            [*python, "benches/python/assignors.py"],
            [*python, "benches/python/assignor_curve.py"],
        ],
        "plays": [[*python, "benches/python/play_curve.py"]],
    }[part]


def _timed(part: str, commands: Sequence[Sequence[str]]) -> tuple[str, float]:
    began = time.monotonic()
    for command in commands:
        _run(*command)
    return part, time.monotonic() - began


def _run(*command: str) -> None:
    """Runs a command to its end, and keeps what Go prints, because Go writes no file."""
    is_go = command[0] == "go"
    print(f"--- {' '.join(command)}", flush=True)
    folder, sink = (BENCHES / "go", subprocess.PIPE) if is_go else (ROOT, None)
    # The commands are those of this file.
    done = subprocess.run(command, cwd=folder, stdout=sink, text=True, check=False)  # noqa: S603
    if is_go:
        print(done.stdout, flush=True)
        with (BENCH / "go.txt").open("a", encoding="utf-8") as file:
            file.write(done.stdout)
    if done.returncode != 0:
        print(f"run.py: {command[0]} ended with {done.returncode}, and nothing was written.", file=sys.stderr)
        raise SystemExit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
