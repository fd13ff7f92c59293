#!/bin/sh
# Makes .venv with the locked versions. What the machine lacks is one sentence on what to install.
set -u
cd "$(dirname "$0")/.." || exit 2

refuse() {
    printf 'partwright: %s\n' "$1" >&2
    exit 2
}

python=
for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys; raise SystemExit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
[ -n "$python" ] || refuse "Python 3.11 or later was not found on PATH: install it (Debian: apt-get install python3 python3-venv)."

cargo --version >/dev/null 2>&1 ||
    refuse "Rust was not found on PATH: install it with rustup, which takes the version that rust-toolchain.toml names."

java=${JAVA_HOME:+$JAVA_HOME/bin/}java
version=$("$java" -version 2>&1) ||
    refuse "Java was not found on PATH or in JAVA_HOME: install a JDK 17 or later (Debian: apt-get install openjdk-17-jdk-headless)."
major=$(printf '%s\n' "$version" | sed -n 's/.*version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' | head -n 1)
[ "${major:-0}" -ge 17 ] ||
    refuse "Java 17 or later is needed and $java is version ${major:-unknown}: install a JDK 17 or later (Debian: apt-get install openjdk-17-jdk-headless)."

uv=$(sed -n 's/.*"uv==\([0-9.]*\)".*/\1/p' pyproject.toml)
log=.venv/setup.log
"$python" -m venv .venv >/dev/null 2>&1 ||
    refuse "$python could not make a virtual environment: install its venv module (Debian: apt-get install python3-venv)."

printf 'Installing the locked versions into .venv (a minute on a new machine) ...\n' >&2
if ! .venv/bin/python -m pip install --quiet --disable-pip-version-check "uv==$uv" >"$log" 2>&1; then
    tail -n 3 "$log" >&2
    refuse "uv $uv could not be installed: the first set-up needs the network to reach PyPI; the whole log is in $log."
fi
if ! .venv/bin/python -m uv sync --locked --inexact --all-extras --group dev --python .venv/bin/python >>"$log" 2>&1; then
    tail -n 5 "$log" >&2
    refuse "the locked versions could not be installed: the first set-up needs the network to reach PyPI; the whole log is in $log."
fi
