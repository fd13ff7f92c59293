"""Writes the licences of the Rust crates in the wheel: `python tools/licences.py [--check]`.

THIRD-PARTY-LICENSES.txt has their texts, and partwright.cyclonedx.json is the same list as an SBOM. The SBOM that
maturin would make has a random number, the time and a folder's name in it, so no two builds would be equal.

The list is cargo's, for the systems in deny.toml, and the texts are those that each crate ships. With `--check` nothing
is written: it ends with 1 if a file is not what it would write.
"""

# ruff: noqa: INP001, S603, T201
from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
LICENCES = ROOT / "THIRD-PARTY-LICENSES.txt"
SBOM = ROOT / "partwright.cyclonedx.json"
WHEEL = "partwright-py"
LICENCE = re.compile(r"(?i)(licen[cs]e|copying|notice|unlicense)([-_.].*)?")
HEAD = """\
The licences of what is in partwright's wheel, besides partwright itself (LICENSE)

The extension module partwright._core has these Rust crates compiled in. The wheel has no jar and no JavaScript
library in it. The jars of Kafka and of Spark's connector are fetched from Maven Central when they are first needed,
and compared with their hashes. The plots of a page of --report are SVG, which vl-convert-python has drawn.
"""


def linked() -> list[dict[str, object]]:
    """The data that cargo has about each registry crate that the wheel of any system links, by name and version."""
    targets = tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))["graph"]["targets"]
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    command += [f"--filter-platform={target}" for target in targets]
    said = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    packages = {package["id"]: package for package in said["packages"]}
    needs = {node["id"]: node["deps"] for node in said["resolve"]["nodes"]}
    open_ids = [each for each, package in packages.items() if package["name"] == WHEEL]
    seen: set[str] = set()
    while open_ids:
        each = open_ids.pop()
        if each not in seen:
            seen.add(each)
            open_ids += [
                need["pkg"] for need in needs[each] if any(kind["kind"] is None for kind in need["dep_kinds"])
            ]
    found = [packages[each] for each in seen if packages[each]["source"]]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def texts(package: dict[str, object]) -> list[str]:
    """The licence files that a crate ships, without blanks at the ends of lines."""
    folder = Path(str(package["manifest_path"])).parent
    files = sorted(each for each in folder.iterdir() if each.is_file() and LICENCE.fullmatch(each.name))
    return [
        "\n".join(
            line.rstrip() for line in file.read_text(encoding="utf-8", errors="replace").splitlines()
        ).strip()
        for file in files
    ]


def licences(packages: list[dict[str, object]]) -> str:
    """Each crate with its licence, then each text once, under the crates that ship it."""
    lines = [HEAD]
    lines += [f"{package['name']} {package['version']}: {package['license']}" for package in packages]
    shipped: dict[str, list[str]] = defaultdict(list)
    for package in packages:
        for text in texts(package):
            shipped[text].append(f"{package['name']} {package['version']}")
    rule = "-" * 80
    for text, names in sorted(shipped.items(), key=lambda pair: (-len(pair[1]), pair[1])):
        lines += ["", rule, ", ".join(names), rule, "", text]
    return "\n".join(lines) + "\n"


def sbom(packages: list[dict[str, object]]) -> str:
    """The crates as CycloneDX, with the hashes of the archives that cargo downloads."""
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    hashes = {(each["name"], each["version"]): each.get("checksum") for each in lock}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    name, version = project["name"], project["version"]
    found = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": f"pkg:pypi/{name}@{version}",
                "name": name,
                "version": version,
                "purl": f"pkg:pypi/{name}@{version}",
                "licenses": [{"expression": project["license"]}],
            }
        },
        "components": [
            {
                "type": "library",
                "bom-ref": f"pkg:cargo/{package['name']}@{package['version']}",
                "name": package["name"],
                "version": package["version"],
                "purl": f"pkg:cargo/{package['name']}@{package['version']}",
                "hashes": [
                    {"alg": "SHA-256", "content": hashes[str(package["name"]), str(package["version"])]}
                ],
                # Older crates say "MIT/Apache-2.0".
                "licenses": [{"expression": str(package["license"]).replace("/", " OR ")}],
            }
            for package in packages
        ],
    }
    return json.dumps(found, indent=1) + "\n"


def main() -> int:
    """Writes the files, or compares them."""
    parser = argparse.ArgumentParser(
        description="Write the licences and the SBOM of the Rust crates in the wheel."
    )
    parser.add_argument(
        "--check", action="store_true", help="compare with the files instead, and fail if one differs"
    )
    is_check = parser.parse_args().check
    packages = linked()
    code = 0
    for file, fresh in ((LICENCES, licences(packages)), (SBOM, sbom(packages))):
        if not is_check:
            file.write_text(fresh, encoding="utf-8")
        elif not file.is_file() or file.read_text(encoding="utf-8") != fresh:
            print(
                f"{file.name} is not what the wheel links now: run python tools/licences.py", file=sys.stderr
            )
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
