"""Find the Java that runs Kafka and Spark, and refuse one that is too old."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from partwright.errors import MissingExtraError

# Both Kafka 4 and Spark 4 need it.
MINIMUM = 17

SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Options for a Java that lives for seconds: an optimising compiler and a concurrent collector would slow it down."""

_INSTALL = f"install a JDK {MINIMUM} or later (Debian: apt-get install openjdk-{MINIMUM}-jdk-headless)"
_QUOTED = re.compile(r'\bversion "([^"]+)"')
_MAJOR = re.compile(r"(?:1\.)?(\d+)(?![\d])")
_TIMEOUT_S = 60


def java_command() -> Path:
    """The `java` to run: that of `JAVA_HOME` if it is set, as in Spark, otherwise the first on `PATH`.

    Returns:
        The path of a `java` whose version is 17 or later.

    Raises:
        MissingExtraError: There is no Java, it does not print its version, or it is older than 17.

    Examples:
        >>> java_command().stem
        'java'
    """
    java, origin = _find()
    text = _version_text(java)
    quoted = _QUOTED.search(text)
    major = java_major_version(quoted[1]) if quoted else None
    if quoted is None or major is None:
        lines = text.strip().splitlines()[:1] or ["nothing"]
        raise MissingExtraError(f"{java} ({origin}) names no Java version, but says {lines[0]!r}: {_INSTALL}")
    if major < MINIMUM:
        raise MissingExtraError(f"{java} ({origin}) is Java {quoted[1]}, which is too old: {_INSTALL}")
    return java


def java_major_version(version: str) -> int | None:
    """The major version from the version that `java -version` prints in quotes.

    Args:
        version: The version in quotes, such as `17.0.15`; up to Java 8 the major version is the second number.

    Returns:
        The major version, or None if the text has another form.

    Examples:
        >>> java_major_version("1.8.0_392"), java_major_version("21-ea"), java_major_version("unknown")
        (8, 21, None)
    """
    match = _MAJOR.match(version)
    return int(match[1]) if match else None


def _find() -> tuple[Path, str]:
    """The `java`, and the place where it was found."""
    home = os.environ.get("JAVA_HOME")
    if home:
        java = shutil.which("java", path=Path(home, "bin"))
        if java is None:
            raise MissingExtraError(
                f"JAVA_HOME is {home}, where there is no bin/java: correct it, or {_INSTALL}"
            )
        return Path(java), "by JAVA_HOME"
    java = shutil.which("java")
    if java is None:
        raise MissingExtraError(f"Java was not found, neither by JAVA_HOME nor on PATH: {_INSTALL}")
    return Path(java), "on PATH"


def _version_text(java: Path) -> str:
    """The output of `java -version`: on stderr, after a line about options from the environment."""
    try:
        # The path comes from the user's own environment, so the user chose it.
        done = subprocess.run(  # noqa: S603 - a list, no shell: the Java that was found
            [java, "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingExtraError(f"{java} cannot be run ({error}): {_INSTALL}") from error
    return done.stderr + done.stdout
