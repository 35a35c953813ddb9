//! Groups of implementations: `lax.*` in a rule stands for each implementation whose name begins so, where the rule doesn't
//! name it itself. Of a rule with a pair, those are meant that have a position to plant it in.

use indexmap::IndexMap;

use super::{Places, Profile, Rule};

/// Puts the implementations in the place of the groups that stand for them.
pub(super) fn expand(rule: &mut Rule, profiles: &[&Profile]) {
    if let Places::By(places) = &mut rule.places {
        spread(places, profiles, |_| true);
    }
    let Rule { places, pair, expect, .. } = rule;
    let offered = |profile: &Profile| {
        pair.is_none() || places.of(&profile.profile).iter().any(|place| profile.positions.contains(place))
    };
    spread(expect, profiles, offered);
}

/// A group that stands for nothing stays, and is reported as an implementation that isn't there.
fn spread<T: Clone>(entries: &mut IndexMap<String, T>, profiles: &[&Profile], wanted: impl Fn(&Profile) -> bool) {
    let groups: Vec<String> = entries.keys().filter(|name| name.ends_with(".*")).cloned().collect();
    for group in groups {
        let prefix = group.trim_end_matches('*');
        let members: Vec<&&Profile> =
            profiles.iter().filter(|profile| profile.profile.starts_with(prefix) && wanted(profile)).collect();
        if let Some(said) = entries.get(&group).cloned()
            && !members.is_empty()
        {
            for member in members {
                entries.entry(member.profile.clone()).or_insert_with(|| said.clone());
            }
            entries.shift_remove(&group);
        }
    }
}
