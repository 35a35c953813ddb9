//! Several reports about one target become one.

use super::json::{Part, Report};

/// Why reports don't belong together. Each names the two files.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// They are about different things.
    #[error("{first} and {second} can't be merged: {what} is {one} in the first and {other} in the second")]
    Different {
        /// The first file.
        first: String,
        /// The second.
        second: String,
        /// What is different.
        what: &'static str,
        /// In the first file.
        one: String,
        /// In the second.
        other: String,
    },
    /// The same pairs would be counted twice.
    #[error(
        "{first} and {second} can't be merged: both have {what} of seed {seed}, whose pairs would be counted twice"
    )]
    Twice {
        /// The first file.
        first: String,
        /// The second.
        second: String,
        /// What both have.
        what: String,
        /// The seed of both.
        seed: String,
    },
}

/// One report of several, each with the name of its file: counts are added and findings united.
///
/// # Errors
/// If they are about different targets, versions or specs, chose different rules, or have pairs in common.
pub fn merge(reports: impl IntoIterator<Item = (String, Report)>) -> Result<Option<Report>, MergeError> {
    let mut reports = reports.into_iter();
    let Some((first, mut whole)) = reports.next() else { return Ok(None) };
    let mut files: Vec<_> = whole.campaigns.iter().map(|part| (first.clone(), part.clone())).collect();
    for (second, report) in reports {
        same_campaigns(&first, &whole, &second, &report)?;
        for part in report.campaigns {
            for (file, known) in &files {
                no_pair_twice(file, known, &second, &part)?;
            }
            files.push((second.clone(), part.clone()));
            match whole.campaigns.iter_mut().find(|known| known.seed == part.seed) {
                Some(known) => {
                    known.shards.extend(part.shards);
                    known.shards.sort_unstable();
                }
                None => whole.campaigns.push(part),
            }
        }
        whole.summary.absorb(report.summary);
    }
    whole.conforms = whole.summary.conforms();
    whole.pairs = whole.summary.pairs();
    Ok(Some(whole))
}

fn same_campaigns(first: &str, one: &Report, second: &str, other: &Report) -> Result<(), MergeError> {
    let rules = |report: &Report| match report.campaigns.first() {
        Some(part) if !part.rules.is_empty() => part.rules.join(" "),
        _ => "all".to_owned(),
    };
    let libraries = |report: &Report| {
        let known = report.target.about.iter().filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?)));
        known.collect::<Vec<_>>().join(", ")
    };
    let layers = |report: &Report| report.target.layers.to_string();
    let told: [(&'static str, String, String); 7] = [
        ("the target", one.name.clone(), other.name.clone()),
        ("the target's version", one.target.version.clone(), other.target.version.clone()),
        ("what the target runs on", libraries(one), libraries(other)),
        ("what the target can observe", layers(one), layers(other)),
        ("the version of jitkey", one.jitkey.clone(), other.jitkey.clone()),
        ("the spec's fingerprint", one.spec.clone(), other.spec.clone()),
        ("the choice of rules", rules(one), rules(other)),
    ];
    match told.into_iter().find(|(_, one, other)| one != other) {
        None => Ok(()),
        Some((what, one, other)) => {
            Err(MergeError::Different { first: first.to_owned(), second: second.to_owned(), what, one, other })
        }
    }
}

/// A pair is known by its seed and number, so that one seed can't be divided in two ways.
fn no_pair_twice(first: &str, one: &Part, second: &str, other: &Part) -> Result<(), MergeError> {
    if one.seed != other.seed {
        return Ok(());
    }
    let what = match one.shards.iter().find(|number| other.shards.contains(number)) {
        _ if one.pairs != other.pairs || one.of != other.of => "pairs".to_owned(),
        Some(number) => format!("shard {number} of {}", one.of),
        None => return Ok(()),
    };
    Err(MergeError::Twice { first: first.to_owned(), second: second.to_owned(), what, seed: one.seed.clone() })
}
