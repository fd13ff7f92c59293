//! The golden files of other clients' assignors through the core: the real clients' answers, list for list.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use partwright_core::assignors::Assignor;

use crate::golden_groups::{Case, assigned};

type Outcome = Result<(), Box<dyn Error>>;

/// One run's answer of a client, which depends on chance, is looked for among this many of ours.
const SEEDS: u64 = 256;
/// This many of ours are looked for among all answers that a client gives by chance.
const TRIES: u64 = 10;

/// The difference between our answer and the client's, if there is one.
fn differs(case: &Case) -> Option<String> {
    let ours = |seed| assigned(case, seed);
    match (ours(0), &case.assignment, &case.error) {
        (Ok((lists, has_chance)), Some(said), None) => {
            let reaches = || (1..SEEDS).any(|seed| ours(seed).is_ok_and(|(lists, _)| lists == *said));
            (lists != *said && !(has_chance && reaches())).then(|| format!("{lists:?}, not {said:?}"))
        }
        (Ok(_), None, None) => {
            let is_one = |seed| ours(seed).is_ok_and(|(lists, _)| case.assignments.contains(&lists));
            (0..TRIES)
                .find(|&seed| !is_one(seed))
                .map(|seed| format!("seed {seed} gives none of all answers"))
        }
        (Err(refused), None, Some(error)) => {
            let said = refused.to_string();
            // Our text for Go's errors and panics has its own words.
            let is_in_words = case.assignor.starts_with("sarama:") || case.assignor.starts_with("franz-go:");
            (!is_in_words && !said.contains(error)).then(|| format!("{said}, not {error}"))
        }
        (answer, ..) => Some(format!("{answer:?}")),
    }
}

#[test]
fn each_client_assigns_the_same() -> Outcome {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/assignors/clients");
    let mut looked_at = BTreeMap::new();
    let mut wrong = Vec::new();
    for file in std::fs::read_dir(folder)? {
        let file = file?.path();
        for (line, text) in std::fs::read_to_string(&file)?.lines().enumerate() {
            if !text.starts_with("{\"assignor\"") {
                // The client and version that answer from here on.
                continue;
            }
            let case: Case = serde_json::from_str(text)?;
            if let Some(how) = differs(&case) {
                wrong.push(format!(
                    "{}, line {}, {}: {how}: {text}",
                    file.display(),
                    line + 1,
                    case.assignor
                ));
            }
            *looked_at.entry(case.assignor).or_insert(0) += 1;
        }
    }
    assert!(wrong.is_empty(), "{} answers differ, as {}", wrong.len(), wrong[0]);
    for assignor in Assignor::of_other_clients().map(Assignor::name) {
        assert!(looked_at.get(assignor).is_some_and(|&cases| cases > 20), "{assignor}: {looked_at:?}");
    }
    Ok(())
}
