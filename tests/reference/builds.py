"""Builds the programs that ask the clients, each runtime's in its own folder; nothing stays next to the sources.

A build function returns a command; the name of one of the runtime's programs or clients is appended to it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

REFERENCE = Path(__file__).resolve().parent
OLDEST_JDK = 17
OLDEST_NODE = 20
SHOWN_LINES = 20
FETCH_PATIENCE_S = 200
"""A build that downloads ends far sooner; where a registry's connection stalls, npm and its like wait for ever."""
FETCHES = 2
SHARED: Path | None = None
"""Where tests keep what they build, each once for all processes: Maven and its like take seconds each time."""
_BUILT: dict[tuple[Path, str], Path] = {}
"""Where this process has built what, by the sources' folder and the build's name."""


class CannotAskError(Exception):
    """A client cannot be asked on this machine; the message says why, and what to install."""


class NoAnswerError(CannotAskError):
    """A client's program has run for so long that it may never end."""


def build_java(folder: Path, kafka: str = "", project: Path = REFERENCE / "java") -> list[str]:
    """Compiles a project's Maven programs into the folder, with the jars that they need next to them.

    `kafka` is one of the POM's profiles: an older Kafka, and the programs over that. The project is that of `java/`;
    the benches have one of their own.
    """
    java, javac, mvn = (_java_tool("java"), _java_tool("javac"), shutil.which("mvn"))
    if java is None or javac is None:
        raise CannotAskError(f"Kafka's Java client needs a JDK: install JDK {OLDEST_JDK} or later.")
    if mvn is None:
        raise CannotAskError("Kafka's Java client is built with Maven: install Maven 3.8 or later (mvn).")
    version = run([javac, "-version"]).strip()
    found = re.search(r"javac (\d+)", version)
    if found is None or int(found[1]) < OLDEST_JDK:
        raise CannotAskError(f"Kafka's Java client needs JDK {OLDEST_JDK} or later; found {version}.")
    words = [mvn, "-q", "-B", "-Dstyle.color=never", *(["-P", kafka] if kafka else [])]
    words += ["-f", str(project / "pom.xml"), "process-classes"]
    target = _once(
        folder, f"java{kafka}", project, lambda target: fetch([*words, f"-Dpartwright.target={target}"])
    )
    classpath = os.pathsep.join([str(target / "classes"), str(target / "lib" / "*")])
    return [java, "-cp", classpath]


def build_go(folder: Path, modules: str = "go") -> list[str]:
    """Compiles the one program of `go/`, which holds every Go client; `modules` names an older client's versions."""
    go = shutil.which("go")
    if go is None:
        oldest = re.search(
            r"^go (\S+)$", (REFERENCE / "go" / "go.mod").read_text(encoding="utf-8"), re.MULTILINE
        )
        raise CannotAskError(
            f"The Go clients are built with Go: install Go {oldest and oldest[1]} or later (go)."
        )
    words = [go, "-C", str(REFERENCE / "go"), "build", "-mod=readonly", "-buildvcs=false"]
    words += [f"-modfile={modules}.mod"]
    target = _once(
        folder, modules, REFERENCE / "go", lambda target: fetch([*words, "-o", str(target / "answers"), "."])
    )
    return [str(target / "answers")]


def build_node(folder: Path) -> list[str]:
    """Installs the packages that `node/` locks, next to a copy of its program."""
    node, npm = (shutil.which("node"), shutil.which("npm"))
    if node is None or npm is None:
        raise CannotAskError(f"kafkajs runs on Node: install Node {OLDEST_NODE} or later with npm.")
    version = run([node, "--version"]).strip()
    found = re.match(r"v(\d+)\.", version)
    if found is None or int(found[1]) < OLDEST_NODE:
        raise CannotAskError(f"kafkajs is asked with Node {OLDEST_NODE} or later; found {version}.")

    def install(target: Path) -> None:
        target.mkdir()
        for name in ["package.json", "package-lock.json", "answers.js", "groups.js", "write.js"]:
            shutil.copyfile(REFERENCE / "node" / name, target / name)
        quiet = ["--loglevel=error", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"]
        fetch([npm, "ci", "--prefix", str(target), *quiet])

    return [node, str(_once(folder, "node", REFERENCE / "node", install) / "answers.js")]


def build_python(folder: Path) -> list[str]:
    """Installs the packages that `python/` locks into their own environment."""
    python = Path("Scripts" if os.name == "nt" else "bin") / "python"

    def install(target: Path) -> None:
        run([sys.executable, "-m", "venv", str(target)])
        requirements = REFERENCE / "python" / "requirements.txt"
        locked = ["--require-hashes", "--only-binary", ":all:", "--requirement", str(requirements)]
        fetch(
            [str(target / python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *locked]
        )

    target = _once(folder, "python", REFERENCE / "python", install)
    return [str(target / python), str(REFERENCE / "python" / "answers.py")]


def build_python_assignors(folder: Path, kafka_python: str = "") -> list[str]:
    """The program that asks the assignors of Python's clients, or of a named older kafka-python."""
    python, _ = build_python(folder)
    program = [python, str(REFERENCE / "python" / "assignors.py")]
    if not kafka_python:
        return program
    requirements = REFERENCE / "python" / f"kafka-python-{kafka_python}.txt"
    locked = ["--require-hashes", "--only-binary", ":all:", "--no-deps", "--requirement", str(requirements)]
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *locked]
    target = _once(
        folder,
        f"kafka-python-{kafka_python}",
        REFERENCE / "python",
        lambda target: fetch([*install, "--target", str(target)]),
    )
    return [*program, str(target)]


def build_librdkafka_assignors(folder: Path, version: str = "", *, is_timed: bool = False) -> list[str]:
    """Compiles librdkafka from the sources in an npm package, and the program over its internals.

    `version` is an older one that `librdkafka/package.json` names. Code that is timed is compiled as for a release.
    """
    sources, jobs = REFERENCE / "librdkafka", str(max(1, (os.cpu_count() or 2) // 2))
    compiler, make, npm = shutil.which("cc"), shutil.which("make"), shutil.which("npm")
    if compiler is None or make is None or npm is None:
        raise CannotAskError("librdkafka's assignors are built from C: install a C compiler, make and npm.")

    def install(target: Path) -> None:
        target.mkdir()
        for name in ["package.json", "package-lock.json"]:
            shutil.copyfile(sources / name, target / name)
        quiet = ["--loglevel=error", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"]
        fetch([npm, "ci", "--prefix", str(target), *quiet])

    packages = _once(folder, "librdkafka-sources", sources, install) / "node_modules"

    def compile_it(target: Path) -> None:
        library = target / "librdkafka"
        package = "librdkafka" if not version else f"librdkafka-{version}"
        shutil.copytree(packages / package / "deps" / "librdkafka", library)
        # Parts that no assignor needs are left out.
        without = ["ssl", "gssapi", "curl", "zstd", "zlib", "lz4-ext", "syslog", "regex-ext"]
        without += [] if is_timed else ["optimization"]
        if version == "1.6":
            # It has no HTTP client yet.
            without.remove("curl")
        configure = ["bash", "-c", 'cd "$1" && shift && bash ./configure "$@"', "bash", str(library)]
        run([*configure, *(f"--disable-{name}" for name in without)])
        run([make, "-j", jobs, "-C", str(library / "src"), "librdkafka.a"])
        # These are compiled anew, so that the address sanitizer sees their work.
        watched = ["sticky_assignor", "range_assignor", "roundrobin_assignor", "assignor", "partition"]
        watched = [*(f"rdkafka_{name}.c" for name in watched), "rdmap.c", "rdlist.c"]
        files = [library / "src" / name for name in (*([] if is_timed else watched), "librdkafka.a")]
        # The oldest one has no parser of JSON.
        parser = packages / "librdkafka" / "deps" / "librdkafka" / "src"
        if not (library / "src" / "cJSON.c").is_file():
            files.insert(0, parser / "cJSON.c")
        flags = ["-O2"] if is_timed else ["-g", "-O1", "-fsanitize=address"]
        flags += ["-w", "-D_GNU_SOURCE"]
        # Its own headers come first.
        flags += [f"-I{library / 'src'}", f"-I{library}", "-idirafter", str(parser)]
        libraries = ["-lm", "-ldl", "-lpthread", "-lrt"]
        program = [str(sources / "answers.c"), *map(str, files), *libraries, "-o", str(target / "answers")]
        run([compiler, *flags, *program])

    target = _once(folder, f"librdkafka{version}{'-timed' if is_timed else ''}", sources, compile_it)
    return ["env", "ASAN_OPTIONS=detect_leaks=0:symbolize=0", str(target / "answers")]


def run(command: Sequence[str], asked: str = "", patience_s: float | None = None) -> str:
    """Standard output of a command that is asked something; if it fails, the error shows its output."""
    try:
        done = subprocess.run(
            command, input=asked, capture_output=True, text=True, check=False, timeout=patience_s
        )
    except subprocess.TimeoutExpired as endless:
        raise NoAnswerError(f"{command[-1]} had no answer after {patience_s:.0f} s") from endless
    if done.returncode != 0:
        # Maven resets the colours even where it uses none.
        said = re.sub(r"\x1b\[\d*m", "", done.stdout + done.stderr).strip().splitlines()
        failure = f"{Path(command[0]).name} ended with {done.returncode} and said:"
        raise CannotAskError("\n".join([failure, *said[:SHOWN_LINES]]))
    return done.stdout


def fetch(command: Sequence[str]) -> None:
    """Runs a build that downloads locked files, and once more if it has stalled."""
    for left in reversed(range(FETCHES)):
        try:
            run(command, patience_s=FETCH_PATIENCE_S)
        except NoAnswerError as stalled:
            if not left:
                raise CannotAskError(f"{' '.join(command)}: {stalled}, {FETCHES} times over") from stalled
        else:
            return


def _once(folder: Path, name: str, sources: Path, build: Callable[[Path], None]) -> Path:
    """Where `build` has built these sources: before, or now, in `folder` or among the shared builds."""
    built = _BUILT.get((sources, name))
    if built is None or not built.is_dir():
        built = folder / name if SHARED is None else _shared(SHARED, name, sources, build)
        if SHARED is None:
            build(built)
        _BUILT[sources, name] = built
    return built


def _shared(folder: Path, name: str, sources: Path, build: Callable[[Path], None]) -> Path:
    """The same among the shared builds, where another process may want it now; builds of older sources are removed."""
    from filelock import FileLock

    digest = hashlib.sha256(f"{sys.version}\n{sources}".encode())
    for path in sorted(each for each in sources.rglob("*") if each.is_file()):
        digest.update(f"\n{path.relative_to(sources)}\n".encode() + path.read_bytes())
    target = folder / f"{name}-{digest.hexdigest()[:16]}"
    done = target / "built"
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / f"{name}.lock"):
        if not done.exists():
            for old in folder.glob(f"{name}-{'?' * 16}"):
                shutil.rmtree(old)
            build(target)
            done.touch()
    return target


def _java_tool(name: str) -> str | None:
    """The JDK's tool that Maven would use too: JAVA_HOME's, else the one on PATH."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which(name, path=str(Path(home) / "bin")) if home else shutil.which(name)
