#!/usr/bin/env bash
# Builds the wheel of this commit twice, in two new clones, and fails if their bytes differ: reproducible.sh [--profile NAME]
# The module's panics would contain the folders' names: cargo is told to leave them out, as `make wheel` does.
set -euo pipefail
CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

profile=release
case ${1:-} in
'') ;;
--profile) profile=${2:?--profile needs a name} ;;
*)
    echo "reproducible.sh: $1 is no option; there is --profile NAME" >&2
    exit 2
    ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Both before the first build, which takes minutes: somebody may commit meanwhile.
for clone in first a-second-one; do
    git clone --quiet --no-hardlinks . "$work/$clone"
done
for clone in first a-second-one; do
    make --no-print-directory -C "$work/$clone" wheel PROFILE="$profile"
done
cd "$work"
sha256sum */dist/*.whl
[ "$(sha256sum */dist/*.whl | cut -d ' ' -f 1 | sort -u | wc -l)" = 1 ] || {
    echo 'reproducible.sh: the two wheels differ' >&2
    exit 1
}
