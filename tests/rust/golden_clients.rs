//! Compares the rules with the real clients' recorded answers: every profile, key and n of `tests/golden/clients`.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use partwright_core::hashing::{Client, Partitions};
use serde::Deserialize;

type Outcome = Result<(), Box<dyn Error>>;
/// By profile and n, the partitions that a client gave.
type Seen = BTreeMap<String, BTreeMap<i64, Vec<i32>>>;

#[derive(Deserialize)]
struct Golden {
    provenance: Provenance,
    partitions: Vec<i64>,
    profiles: Vec<String>,
    null: Seen,
    empty: Seen,
    /// A name, the key in hex, and for each profile its partitions, or null where the key has none.
    keys: Vec<Vec<serde_json::Value>>,
}

#[derive(Deserialize)]
struct Provenance {
    library: String,
    version: String,
    functions: BTreeMap<String, String>,
}

fn files() -> Result<Vec<Golden>, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/clients");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        files.push(serde_json::from_str(&std::fs::read_to_string(entry?.path())?)?);
    }
    assert_eq!(files.len(), 8);
    Ok(files)
}

fn bytes(hex: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let digits = hex.as_bytes().chunks(2);
    digits.map(|pair| Ok(u8::from_str_radix(str::from_utf8(pair)?, 16)?)).collect()
}

#[test]
fn every_key_is_where_its_client_put_it() -> Outcome {
    let mut compared = 0;
    for golden in files()? {
        for (place, name) in golden.profiles.iter().enumerate() {
            let client: Client = name.parse()?;
            for case in &golden.keys {
                let [case_name, hex, partitions @ ..] = case.as_slice() else {
                    return Err("a short row".into());
                };
                let key = bytes(hex.as_str().ok_or("a key is hex")?)?;
                let recorded: Option<Vec<i32>> = serde_json::from_value(partitions[place].clone())?;
                for (at, n) in golden.partitions.iter().enumerate() {
                    let found = client.partition_for_key(Some(&key), Partitions::new(*n)?);
                    match recorded.as_ref().map(|partitions| partitions[at]) {
                        Some(partition @ 0..) => {
                            assert_eq!(found, Ok(Some(partition)), "{name}, {case_name}, {n}");
                        }
                        // Java's own partition is negative, or there is none.
                        _ => assert!(found.is_err(), "{name}, {case_name}, {n}: {found:?}"),
                    }
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > Client::libraries().len() * 2000 * 12, "{compared}");
    Ok(())
}

#[test]
fn null_and_empty_keys_are_treated_as_their_client_treats_them() -> Outcome {
    let mut compared = 0;
    for golden in files()? {
        for (seen, key) in [(&golden.null, None), (&golden.empty, Some(&b""[..]))] {
            for (name, by_n) in seen {
                let client: Client = name.parse()?;
                for (n, partitions) in by_n {
                    // The same partition each time, or chosen by the client.
                    let determined = if partitions.len() == 1 { partitions.first().copied() } else { None };
                    let found = client.partition_for_key(key, Partitions::new(*n)?)?;
                    assert_eq!(found, determined, "{name}, {key:?}, {n}");
                    compared += 1;
                }
            }
        }
    }
    assert_eq!(compared, Client::libraries().len() * 2 * 2);
    Ok(())
}

#[test]
fn the_table_says_who_was_asked() -> Outcome {
    let mut profiles = 0;
    for golden in files()? {
        for (name, function) in &golden.provenance.functions {
            let client: Client = name.parse()?;
            let profile = client.profile();
            assert_eq!(profile.library, golden.provenance.library, "{name}");
            assert_eq!(profile.version, golden.provenance.version, "{name}");
            assert_eq!(profile.source, function, "{name}");
            profiles += 1;
        }
    }
    assert_eq!(profiles, Client::libraries().len());
    Ok(())
}
