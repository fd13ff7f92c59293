#!/bin/sh
# Makes .venv with the locked versions; `--check` only looks for the programs that the machine must have.
# If something is missing, one sentence says what to install, and the exit code is 2.
set -u
CDPATH='' cd -- "$(dirname -- "$0")/.." || exit 2
# These variables would put the packages somewhere else than into .venv.
unset UV_PROJECT_ENVIRONMENT UV_PYTHON VIRTUAL_ENV PYTHONHOME PYTHONPATH

refuse() {
    printf 'partwright: %s\n' "$1" >&2
    exit 2
}

# The value of a key in one of the project's toml files: setting KEY FILE.
setting() {
    sed -n "s/^$1 = \"\(.*\)\"$/\1/p" "$2"
}

find_python() {
    for python in python3 python3.14 python3.13 python3.12 python3.11; do
        "$python" -c 'import sys; raise SystemExit(sys.version_info < (3, 11))' >/dev/null 2>&1 && return
    done
    found=$(python3 --version 2>/dev/null) && found=", only $found"
    refuse "Python 3.11 or later was not found on PATH$found: install it (Debian: apt-get install python3 python3-venv)."
}

check_java() {
    install='install a JDK 17 or later (Debian: apt-get install openjdk-17-jdk-headless)'
    if [ -n "${JAVA_HOME:-}" ]; then
        java=$JAVA_HOME/bin/java
        [ -x "$java" ] || refuse "JAVA_HOME is $JAVA_HOME, where there is no bin/java: correct it, or $install."
    else
        java=$(command -v java) || refuse "Java was not found, neither by JAVA_HOME nor on PATH: $install."
    fi
    said=$("$java" -version 2>&1) || refuse "$java is there, but no Java that runs: $install."
    major=$(printf '%s\n' "$said" | sed -n 's/.*version "\(1\.\)\{0,1\}\([0-9]\{1,\}\).*/\2/p' | head -n 1)
    [ -n "$major" ] || refuse "$java does not say which version of Java it is: $install."
    [ "$major" -ge 17 ] || refuse "$java is Java $major, which is too old: $install."
}

check_rust() {
    install='install Rust with rustup, which takes the version that rust-toolchain.toml names'
    channel=$(setting channel rust-toolchain.toml)
    command -v cargo >/dev/null 2>&1 || refuse "Rust (cargo) was not found on PATH: $install."
    if ! said=$(cargo --version 2>/dev/null); then
        # rustup's cargo is there, but not yet the toolchain.
        rustup toolchain install "$channel" --profile minimal --component clippy,rustfmt --no-self-update >/dev/null 2>&1
        said=$(cargo --version 2>/dev/null) ||
            refuse "Rust $channel could not be had: rustup needs the network for it once; connect, and see what \`rustup toolchain install $channel\` says."
    fi
    oldest=$(setting rust-version Cargo.toml)
    found=$(printf '%s\n' "$said" | sed -n 's/^cargo \([0-9]*\.[0-9]*\).*/\1/p')
    minor=${found#1.}
    [ "${minor:-0}" -ge "${oldest#1.}" ] ||
        refuse "Rust $oldest or later is needed, and cargo on PATH is version ${found:-unknown}: $install."
    command -v cc >/dev/null 2>&1 ||
        refuse "A C compiler (cc) was not found on PATH, and Rust links with it: install one (Debian: apt-get install build-essential; macOS: xcode-select --install)."
}

# One sentence about a failed download, from its log: fetching WHAT WHERE.
fetching() {
    if grep -qi 'no space left\|disk quota' "$log"; then
        refuse "$1 could not be installed, for the disk is full: make room; the whole log is in $log."
    fi
    refuse "$1 could not be installed: the first set-up needs the network to reach $2; connect and try again, and if that is not it, the log is in $log."
}

find_python
check_rust
check_java
[ "${1:-}" != --check ] || exit 0

uv=$(sed -n 's/.*"uv==\([0-9.]*\)".*/\1/p' pyproject.toml)
log=.venv/setup.log
said=$("$python" -m venv .venv 2>&1) || case $said in
    *ensurepip*) refuse "$python cannot make a virtual environment: install its venv module (Debian: apt-get install python3-venv)." ;;
    *) refuse "$python could not make the virtual environment .venv: $(printf '%s\n' "$said" | tail -n 1)" ;;
esac

printf 'Installing the locked versions into .venv (a minute or more on a new machine) ...\n' >&2
.venv/bin/python -m pip install --quiet --disable-pip-version-check --retries 2 "uv==$uv" >"$log" 2>&1 ||
    fetching "uv $uv" PyPI
.venv/bin/python -m uv sync --locked --inexact --all-extras --group dev --python .venv/bin/python >>"$log" 2>&1 ||
    fetching "The locked Python packages" PyPI
cargo fetch --locked >>"$log" 2>&1 ||
    fetching "The locked Rust crates" crates.io
