//! Implementations that are built on another: a profile that says `follows: jax.jit` is written as a difference. What it
//! doesn't say is as in each profile that it follows, and a rule that doesn't name it says of it what it says of the other.
//!
//! A profile whose name ends with `.*` is what a group of implementations has in common, and none by itself.

use serde_yaml::Value as Tree;

use super::read::Reader;
use super::spans::Step;
use super::{Places, Profile, Rule};

/// A profile as a whole, and the files that say it: its own, and that of what it follows.
pub(super) struct Overlaid<'r, 'f> {
    pub tree: Tree,
    own: &'r Reader<'f>,
    followed: Option<&'r Reader<'f>>,
}

impl<'r, 'f> Overlaid<'r, 'f> {
    /// The file that says what stands at `path`, and where in it.
    pub fn says(&self, path: &[Step]) -> (&'r Reader<'f>, Vec<Step>) {
        let own = || (self.own, path.to_vec());
        let (Some(followed), Some(Step::Key(field))) = (self.followed, path.first()) else { return own() };
        if self.own.tree.get(field).is_none() {
            return (followed, path.to_vec());
        }
        let has = |before: &str, version: &str| self.own.tree.get(before).is_some_and(|it| it.get(version).is_some());
        if matches!(path, [Step::Key(before), Step::Key(version)] if !has(before, version)) {
            return (followed, path.to_vec());
        }
        // Edits come from both.
        let [Step::Key(before), Step::Key(version), Step::Index(at), inside @ ..] = path else { return own() };
        let edits = |tree: &'_ Tree| tree.get(before)?.get(version)?.as_sequence().cloned();
        let place = |reader: &'r Reader<'f>| {
            let edit = edits(&self.tree)?.into_iter().nth(*at)?;
            let at = edits(&reader.tree)?.iter().position(|known| *known == edit)?;
            Some((reader, [&path[..2], &[Step::Index(at)], inside].concat()))
        };
        place(self.own).or_else(|| place(followed)).unwrap_or_else(own)
    }
}

/// The profiles that the file of `own` stands for: one for each that it follows, or itself if it follows none.
pub(super) fn overlaid<'r, 'f>(own: &'r Reader<'f>, known: &'r [Reader<'f>]) -> Vec<Overlaid<'r, 'f>> {
    let itself = || vec![Overlaid { tree: own.tree.clone(), own, followed: None }];
    let (Some(name), Tree::Mapping(fields)) = (own.tree.get("follows"), &own.tree) else { return itself() };
    let followed = known.iter().filter(|it| it.tree.get("profile") == Some(name) && it.tree.get("follows").is_none());
    let overlay = |followed: &'r Reader<'f>| {
        let mut tree = followed.tree.clone();
        let mut before = tree.get("before").cloned();
        // What it says itself is so at each version.
        let is_own = |edit: &Tree| {
            let at = edit.get("at").and_then(Tree::as_str).unwrap_or_default();
            fields.contains_key(at.split('/').next().unwrap_or_default())
        };
        for edits in before.iter_mut().filter_map(Tree::as_mapping_mut).flat_map(|before| before.values_mut()) {
            edits.as_sequence_mut().into_iter().for_each(|edits| edits.retain(|edit| !is_own(edit)));
        }
        if let Tree::Mapping(whole) = &mut tree {
            whole.extend(fields.clone());
            whole.extend(added(before, own.tree.get("before")).map(|before| ("before".into(), before)));
        }
        Overlaid { tree, own, followed: Some(followed) }
    };
    let overlaid: Vec<_> = followed.map(overlay).collect();
    if overlaid.is_empty() { itself() } else { overlaid }
}

/// The edits of both, those of `own` after the others before the same version.
fn added(before: Option<Tree>, own: Option<&Tree>) -> Option<Tree> {
    let (mut before, own) = match (before, own) {
        (Some(Tree::Mapping(before)), Some(Tree::Mapping(own))) => (before, own),
        (before, own) => return own.cloned().or(before),
    };
    for (version, edits) in own {
        match (before.get_mut(version), edits) {
            (Some(Tree::Sequence(known)), Tree::Sequence(edits)) => known.extend(edits.iter().cloned()),
            _ => drop(before.insert(version.clone(), edits.clone())),
        }
    }
    Some(Tree::Mapping(before))
}

/// Whether `name` is that of a group.
pub(super) fn is_group(name: &str) -> bool {
    name.ends_with(".*")
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
    use serde_yaml::Value as Tree;

    use super::{Overlaid, is_group, overlaid};
    use crate::spec::read::Reader;
    use crate::spec::{Spec, SpecFile};

    #[test]
    fn what_it_says_itself_comes_after_what_it_follows() {
        let file = |text: &str| SpecFile { name: "profiles/a.yaml".to_owned(), text: text.to_owned() };
        let shared = file(
            "profile: a.*\nunhashable: TypeError\nerrors: [flatten]\nbefore:\n  '0.8': [{at: errors/x, set: 1}, {at: errors/y, set: 2}, {at: unhashable, set: 3}]\n",
        );
        let own = file(
            "profile: a.b\nfollows: a.*\nunhashable: ValueError\nbefore: {'0.8': [{at: errors/z, set: 4}], '0.6': [{at: unhashable, set: 5}]}\n",
        );
        let known = [Reader::new(&shared), Reader::new(&own)];
        let [Overlaid { tree, .. }] = &overlaid(&known[1], &known)[..] else { panic!("it follows one") };
        let expected = "
profile: a.b
unhashable: ValueError
errors: [flatten]
before:
  '0.8': [{at: errors/x, set: 1}, {at: errors/y, set: 2}, {at: errors/z, set: 4}]
  '0.6': [{at: unhashable, set: 5}]
follows: a.*
";
        assert_eq!(*tree, serde_yaml::from_str::<Tree>(expected).unwrap());
    }

    #[test]
    fn what_follows_has_the_versions_and_rules_of_what_it_follows() {
        let spec = Spec::embedded();
        let versions = |name: &str| -> Vec<String> {
            spec.profiles.iter().filter(|known| known.profile == name).map(|known| known.versions.to_string()).collect()
        };
        for profile in &spec.profiles {
            let Some(followed) = profile.follows.as_ref().filter(|name| !is_group(name)) else { continue };
            assert_eq!(versions(&profile.profile), versions(followed));
            for rule in spec.rules.values().filter(|rule| rule.expect.contains_key(followed)) {
                assert!(rule.expect.contains_key(&profile.profile), "{}", rule.id);
            }
        }
    }
}
