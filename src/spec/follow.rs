//! Implementations that are built on another: a profile that says `follows: jax.jit` is written as a difference. What it
//! doesn't say is as in each profile that it follows, and a rule that doesn't name it says of it what it says of the other.

use serde_yaml::Value as Tree;

use super::{Places, Profile, Rule};

/// The profiles that `tree` stands for: one for each that it follows, or itself if it follows none.
pub(super) fn overlaid(tree: &Tree, known: &[&Tree]) -> Vec<Tree> {
    let (Some(followed), Tree::Mapping(own)) = (tree.get("follows"), tree) else { return vec![tree.clone()] };
    let followed = known.iter().filter(|base| base.get("profile") == Some(followed) && base.get("follows").is_none());
    let overlay = |base: &&Tree| {
        let mut whole = (**base).clone();
        if let Tree::Mapping(fields) = &mut whole {
            fields.extend(own.clone());
        }
        if own.get("before").is_none()
            && let Some(Tree::Mapping(before)) = whole.get_mut("before")
        {
            // What it says itself is so at each version.
            let is_own = |edit: &Tree| {
                let at = edit.get("at").and_then(Tree::as_str).unwrap_or_default();
                own.contains_key(at.split('/').next().unwrap_or_default())
            };
            for edits in before.values_mut().filter_map(Tree::as_sequence_mut) {
                edits.retain(|edit| !is_own(edit));
            }
        }
        whole
    };
    let overlaid: Vec<_> = followed.map(overlay).collect();
    if overlaid.is_empty() { vec![tree.clone()] } else { overlaid }
}

/// Lets the rule speak of those that follow an implementation it names.
pub(super) fn expand(rule: &mut Rule, profiles: &[&Profile]) {
    for profile in profiles {
        let Some(followed) = &profile.follows else { continue };
        let Some(said) = rule.expect.get(followed).cloned() else { continue };
        if let Places::By(places) = &mut rule.places
            && let Some(same) = places.get(followed).cloned()
        {
            places.entry(profile.profile.clone()).or_insert(same);
        }
        rule.expect.entry(profile.profile.clone()).or_insert(said);
    }
}

#[cfg(test)]
mod tests {
    use crate::spec::Spec;

    #[test]
    fn what_follows_has_the_versions_and_rules_of_what_it_follows() {
        let spec = Spec::embedded();
        let versions = |name: &str| -> Vec<String> {
            spec.profiles.iter().filter(|known| known.profile == name).map(|known| known.versions.to_string()).collect()
        };
        for profile in &spec.profiles {
            let Some(followed) = &profile.follows else { continue };
            assert_eq!(versions(&profile.profile), versions(followed));
            for rule in spec.rules.values().filter(|rule| rule.expect.contains_key(followed)) {
                assert!(rule.expect.contains_key(&profile.profile), "{}", rule.id);
            }
        }
    }
}
