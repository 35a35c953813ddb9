//! What tells one spec from another.

use std::fmt;
use std::hash::Hasher;

use serde_yaml::Value as Tree;
use siphasher::sip::SipHasher13;

/// The keys of rules and profiles that only people read.
const PROSE: [&str; 6] = ["about", "says", "fix", "hazard", "note", "sources"];

/// A hash of the rules, the profiles and the contexts, the same on every machine. A comment, a better sentence or another
/// written case leaves it as it is, since none of them changes a pair or a verdict.
#[derive(Default)]
pub(super) struct Fingerprint(SipHasher13);

impl Fingerprint {
    /// Adds a file; files come in the order of their names.
    pub(super) fn add(&mut self, name: &str, tree: &Tree) {
        if name.starts_with("cases/") {
            return;
        }
        let mut tree = tree.clone();
        without_prose(&mut tree);
        if let Some(Tree::Sequence(rules)) = tree.get_mut("rules") {
            rules.iter_mut().for_each(without_prose);
        }
        let text = serde_yaml::to_string(&tree).expect("a tree that was read can be written");
        for part in [name, &text] {
            self.0.write(part.as_bytes());
            self.0.write_u8(0xff);
        }
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0.finish())
    }
}

fn without_prose(tree: &mut Tree) {
    if let Some(map) = tree.as_mapping_mut() {
        map.retain(|key, _| !key.as_str().is_some_and(|key| PROSE.contains(&key)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        let mut fingerprint = Fingerprint::default();
        fingerprint.add("rules/a.yaml", &serde_yaml::from_str(text).unwrap());
        fingerprint.to_string()
    }

    #[test]
    fn prose_does_not_count_and_verdicts_do() {
        let rule = "rules: [{id: a/b, says: One thing., expect: {jax.jit: hit}}]";
        assert_eq!(of(rule), of(&rule.replace("One thing", "Another thing")));
        assert_ne!(of(rule), of(&rule.replace("hit", "trace")));
        assert_eq!(of("a: 1"), "acfa2819e928b3d2", "it is the same on every machine");
    }
}
