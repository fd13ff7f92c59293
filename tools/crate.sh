#!/usr/bin/env bash
# Packages partwright-core as for crates.io, builds that package, and uses it from a new project, with Arrow and without.
set -euo pipefail
CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

cargo package --package partwright-core --locked --allow-dirty
cargo publish --package partwright-core --locked --allow-dirty --dry-run --no-verify
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar --extract --gzip --file "target/package/partwright-core-$version.crate" --directory "$work"

for features in '' arrow; do
    project=$work/asks${features:+-$features}
    cargo init --quiet --vcs none --name asks "$project"
    cargo add --quiet --manifest-path "$project/Cargo.toml" --path "$work/partwright-core-$version" ${features:+--features $features}
    cat >"$project/src/main.rs" <<'RUST'
use partwright_core::hashing::{Client, Partitions, murmur2};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let n = Partitions::new(15)?;
    println!("{} {:?}", murmur2(b"TT0124"), Client::JAVA.partition_for_key(Some(b"TT0124"), n)?);
    Ok(())
}
RUST
    cargo run --quiet --manifest-path "$project/Cargo.toml"
done
