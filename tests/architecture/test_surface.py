"""The extension module, its stub and the public names agree, and each public name has a docstring."""

from __future__ import annotations

import ast
import difflib
import importlib
import importlib.util
import inspect
import re
from importlib import resources
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import partwright as pw
from partwright import _core

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / "python" / "partwright"
STUB = PYTHON / "_core.pyi"
PUBLIC = [
    "partwright",
    "partwright.audit",
    "partwright.cluster",
    "partwright.cluster.placement",
    "partwright.cluster.storage",
    "partwright.errors",
    "partwright.group",
    "partwright.keys.hashing",
    "partwright.kafka",
    "partwright.migration",
    "partwright.report",
    "partwright.spark",
]


def stub() -> ast.Module:
    return ast.parse(STUB.read_text(encoding="utf-8"))


def stub_functions() -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in stub().body if isinstance(node, ast.FunctionDef)}


def stub_classes() -> set[str]:
    return {node.name for node in stub().body if isinstance(node, ast.ClassDef)}


def module_functions() -> dict[str, Any]:
    return {name: value for name, value in vars(_core).items() if callable(value)}


def test_the_stub_and_the_extension_module_name_the_same_functions() -> None:
    assert {"murmur2", "partition_for_key", "encode"} <= set(stub_functions())
    data_types = {"Batching", "ClassicGroup", "ConsumerGroup", "KeySums", "Placer", "Producer", "Timeline"}
    assert stub_classes() == {*data_types, "OneKeyFirst"}
    assert {*stub_functions(), *stub_classes()} == set(module_functions()) == set(_core.__all__)
    (named,) = [
        ast.literal_eval(node.value)
        for node in stub().body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    assert named == sorted(_core.__all__)


@pytest.mark.parametrize("name", stub_functions())
def test_a_functions_stub_has_its_parameters(name: str) -> None:
    function = module_functions()[name]
    signature = inspect.signature(function)
    arguments = stub_functions()[name].args
    assert list(signature.parameters) == [argument.arg for argument in arguments.args]
    optional = [
        name for name, one in signature.parameters.items() if one.default is not inspect.Parameter.empty
    ]
    assert len(optional) == len(arguments.defaults)
    assert all(signature.parameters[one].default is None for one in optional)
    assert (function.__doc__ or "").rstrip().endswith(".")


def test_every_function_of_the_extension_module_is_used() -> None:
    used = set()
    for path in PYTHON.rglob("*.py"):
        used |= set(re.findall(r"(?<!\.)\b_core\.(\w+)", path.read_text(encoding="utf-8")))
    assert "murmur2" in used
    # The addresses let the tests see that nothing is copied.
    assert set(_core.__all__) - used == {"key_addresses"}
    assert used <= set(_core.__all__)


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_there_and_says_what_it_is(module: str) -> None:
    found = importlib.import_module(module)
    assert found.__all__
    assert len(set(found.__all__)) == len(found.__all__)
    assert (found.__doc__ or "").strip()
    for name in found.__all__:
        value = getattr(found, name)
        assert not name.startswith("_")
        documented = inspect.getdoc(value) or ""
        assert documented, f"{module}.{name} has no docstring"
        assert documented.splitlines()[0].endswith((".", ":", "?")), (
            f"{module}.{name}: {documented.splitlines()[0]}"
        )


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_function_says_what_it_takes_gives_and_refuses(module: str) -> None:
    found = importlib.import_module(module)
    for name in found.__all__:
        function = getattr(found, name)
        if not inspect.isfunction(inspect.unwrap(function)):
            continue
        documented = inspect.getdoc(function) or ""
        if inspect.signature(function).return_annotation not in {None, "None"}:
            assert "Returns:" in documented, f"{module}.{name}"
        for parameter in inspect.signature(function).parameters:
            assert re.search(rf"\b{parameter}\b", documented), (
                f"{module}.{name} does not speak of {parameter}"
            )
        for annotation in [*inspect.signature(function).parameters.values()]:
            assert annotation.annotation is not inspect.Parameter.empty, f"{module}.{name} {annotation}"


@pytest.mark.parametrize("module", PUBLIC)
def test_no_public_function_hides_a_module(module: str) -> None:
    found = importlib.import_module(module)
    for folder in getattr(found, "__path__", ()):
        for name in found.__all__:
            if inspect.isfunction(inspect.unwrap(getattr(found, name))):
                assert not (Path(folder) / f"{name}.py").exists(), f"{module}.{name}"


def test_a_name_that_is_nearly_right_is_suggested() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'finger_print': did you mean 'fingerprint'\?$"):
        _ = pw.finger_print
    with pytest.raises(AttributeError, match=r"no attribute 'zzz': there are advise, assign, "):
        _ = pw.zzz


def test_the_errors_are_one_family() -> None:
    names = [getattr(pw, name) for name in pw.__all__]
    errors = [value for value in names if inspect.isclass(value) and issubclass(value, Exception)]
    assert len(errors) >= 4
    for error in errors:
        assert issubclass(error, pw.PartwrightError)
        assert issubclass(error, ValueError) == (error not in {pw.PartwrightError, pw.BrokerError})
        assert error.__module__ == "partwright.errors"
        assert error.__name__ in pw.__all__
    assert issubclass(pw.KeyTypeError, TypeError)
    assert not issubclass(pw.PartwrightError, TypeError)


def test_a_noun_has_one_name_at_every_layer() -> None:
    """hashing: a module of the core, a binding file, a Python module, a test of each, a golden file and a bench."""
    for place in [
        "rust/core/src/hashing/mod.rs",
        "rust/py/src/hashing.rs",
        "python/partwright/keys/hashing.py",
        "tests/keys/test_hashing.py",
        "tests/golden/hashing.json",
        "benches/rust/hashing.rs",
        "benches/python/test_hashing.py",
    ]:
        assert (ROOT / place).is_file(), place


def test_the_key_types_and_clients_of_the_core_are_the_ones_that_the_documents_name() -> None:
    source = (ROOT / "rust/core/src/hashing/key_type.rs").read_text(encoding="utf-8")
    names = re.findall(r'\w+ = "([a-z0-9:-]+)",', source.split("impl KeyType", 1)[0])
    assert len(names) == 15
    documented = re.findall(r"^\s*`([a-z0-9:-]+)`", pw.encode.__doc__ or "", re.MULTILINE)
    assert sorted(documented) == sorted(names)
    with pytest.raises(pw.PartwrightError) as refused:
        pw.encode("a", "no such type")
    assert ", ".join(names) in str(refused.value)


def test_the_page_of_the_interface_is_the_code() -> None:
    """Read the difference: it is what changes for users. `make interface` writes the page anew."""
    spec = importlib.util.spec_from_file_location("interface", ROOT / "tools" / "interface.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    written = (ROOT / "docs" / "reference" / "interface.md").read_text(encoding="utf-8")
    assert list(difflib.unified_diff(written.splitlines(), tool.page().splitlines(), n=0, lineterm="")) == []


def test_the_package_says_that_it_is_typed() -> None:
    assert resources.files("partwright").joinpath("py.typed").is_file()
    assert resources.files("partwright").joinpath("_core.pyi").is_file()


# Their signatures name classes of an extra, or pyarrow's, which are imported when they are called.
WITHOUT_HINTS = {
    "partwright.clients",
    "partwright.kafka.kafka_python_assignor",
    "partwright.spark.write_stream",
    "partwright.which",
}


@pytest.mark.parametrize("module", [*PUBLIC, "partwright.batching", "partwright.duckdb"])
def test_the_hints_of_a_public_name_are_there_at_run_time(module: str) -> None:
    """Libraries that read signatures, such as DuckDB's `create_function`, ask for them."""
    names = importlib.import_module(module)
    public = {f"{module}.{name}": getattr(names, name) for name in names.__all__}
    public = {name: value for name, value in public.items() if callable(value)}
    assert public
    for name, value in public.items():
        if name not in WITHOUT_HINTS:
            get_type_hints(value)
