"""Writes python/partwright/kafka/jars.lock anew: `python tools/lock_jars.py`, with Maven and a JDK on PATH.

Maven resolves each set below into an empty repository, and the jars that it fetches are locked by coordinates, sha256
and size. To move to another version, change it here, run this, and read the difference.
"""

# ruff: noqa: INP001
from __future__ import annotations

import hashlib
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

LOCK = Path(__file__).parent.parent / "python" / "partwright" / "kafka" / "jars.lock"
COPY_DEPENDENCIES = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"


@dataclass(frozen=True)
class JarSet:
    """Jars for one class path.

    Attributes:
        about: The comment over the set in the lock.
        roots: `group:artifact:version` of the requested jars.
        transitive: Whether the roots' run-time dependencies belong to the set too.
    """

    about: str
    roots: tuple[str, ...]
    transitive: bool


def _connector(scala: str, connector: str, tokens: str, clients: str, pool: str) -> JarSet:
    return JarSet(
        f"The Kafka connector of Spark {connector} for Scala {scala}. These four are enough: what else they need is "
        "among Spark's own jars.",
        (
            f"org.apache.spark:spark-sql-kafka-0-10_{scala}:{connector}",
            f"org.apache.spark:spark-token-provider-kafka-0-10_{scala}:{tokens}",
            f"org.apache.kafka:kafka-clients:{clients}",
            f"org.apache.commons:commons-pool2:{pool}",
        ),
        transitive=False,
    )


SETS = {
    "broker": JarSet(
        "The embedded Kafka. Without slf4j-simple it writes no log; its version must fit slf4j-api's.",
        ("org.apache.kafka:kafka_2.13:4.3.1", "org.slf4j:slf4j-simple:1.7.36"),
        transitive=True,
    ),
    "tools": JarSet(
        "Kafka's own tools, beside the embedded Kafka's jars, among which is what those that are run here need.",
        ("org.apache.kafka:kafka-tools:4.3.1",),
        transitive=False,
    ),
    # The newest of each on Maven Central; kafka-clients and commons-pool2 have the versions of the connector's POM.
    # python/partwright/kafka/jars.py says which Spark needs which.
    "connector-3.5.7_2.12": _connector("2.12", "3.5.7", "3.5.7", "3.4.1", "2.11.1"),
    "connector-3.5.9_2.13": _connector("2.13", "3.5.9", "3.5.4", "3.4.1", "2.11.1"),
    "connector-4.0.4_2.13": _connector("2.13", "4.0.4", "4.0.0", "3.9.1", "2.12.0"),
    "connector-4.1.3_2.13": _connector("2.13", "4.1.3", "4.1.1", "3.9.1", "2.12.1"),
    "connector-4.2.0_2.13": _connector("2.13", "4.2.0", "4.2.0", "3.9.2", "2.13.1"),
}

HEADER = """\
# The jars that partwright fetches, by coordinates, sha256 and size in bytes; written by tools/lock_jars.py.

# Maven Central. PARTWRIGHT_MAVEN_REPOSITORY names another one, such as a mirror.
repository = "{repository}"
"""


def main() -> None:
    """Resolve every set and write the lock."""
    parts = [HEADER.format(repository=_repository())]
    for name, jar_set in SETS.items():
        parts.append(f"\n# {jar_set.about}\n")
        parts.extend(_entry(name, *jar) for jar in _resolve(jar_set))
    LOCK.write_text("".join(parts), encoding="utf-8")


def _repository() -> str:
    """The repository's address: it is only in the lock, and is copied from there."""
    for line in LOCK.read_text(encoding="utf-8").splitlines():
        if line.startswith("repository = "):
            return line.split('"')[1]
    raise SystemExit(f"{LOCK} has no line `repository = ...`")


def _resolve(jar_set: JarSet) -> list[tuple[str, bytes]]:
    """The coordinates and the content of each jar of a set, sorted by coordinates."""
    with tempfile.TemporaryDirectory(prefix="partwright-lock-") as folder:
        project = Path(folder, "pom.xml")
        project.write_text(_pom(jar_set), encoding="utf-8")
        repository, target = Path(folder, "repository"), Path(folder, "jars")
        subprocess.run(  # noqa: S603
            [  # noqa: S607
                "mvn", "--batch-mode", "--quiet", f"--file={project}", f"-Dmaven.repo.local={repository}",
                COPY_DEPENDENCIES, "-DincludeScope=runtime", f"-DoutputDirectory={target}",
                "-Dmdep.useRepositoryLayout=true",
            ],
            check=True,
        )  # fmt: skip
        files = (file.relative_to(target) for file in target.rglob("*.jar"))
        return sorted((_coordinates(file), (target / file).read_bytes()) for file in files)


def _pom(jar_set: JarSet) -> str:
    exclusions = (
        "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
    )
    dependencies = "".join(
        "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>{}</dependency>".format(
            *root.split(":"), "" if jar_set.transitive else exclusions
        )
        for root in jar_set.roots
    )
    return (
        "<project><modelVersion>4.0.0</modelVersion><groupId>partwright</groupId><artifactId>lock</artifactId>"
        f"<version>1</version><dependencies>{dependencies}</dependencies></project>"
    )


def _coordinates(file: Path) -> str:
    """`group:artifact:version` from the path of a jar in a repository."""
    *group, artifact, version, name = file.parts
    if name != f"{artifact}-{version}.jar":
        raise SystemExit(f"{file} has a classifier, which the lock cannot say")
    return f"{'.'.join(group)}:{artifact}:{version}"


def _entry(name: str, coordinates: str, content: bytes) -> str:
    digest = hashlib.sha256(content).hexdigest()
    # TOML has a name with dots in quotes.
    section = f'"{name}"' if "." in name else name
    return f'\n[[{section}]]\ncoordinates = "{coordinates}"\nsha256 = "{digest}"\nsize = {len(content)}\n'


if __name__ == "__main__":
    main()
