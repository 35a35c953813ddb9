//! A mutator for YAML: flipped bytes rarely get past the reader, and trees with a part moved often do.

use serde_yaml::Value as Tree;

use crate::generate::Source;

/// Words that mean something somewhere in a spec or a case.
const WORDS: [&str; 24] = [
    "${d}",
    "${s...}",
    "f32[]",
    "~f32[2]",
    "np:>f32[3]",
    "trace",
    "hit",
    "dynamic",
    "static",
    "jax.jit",
    ">=0.5",
    "0..4",
    "tuple",
    "dict",
    "ref",
    "new",
    "class",
    "error",
    "TypeError",
    "pair",
    "expect",
    "forall",
    "",
    "\u{7f}",
];

/// The text with one part of its tree left out, doubled, exchanged or replaced; `None` if it is no YAML.
#[must_use]
pub fn mutated(text: &str, seed: u64) -> Option<String> {
    let mut tree: Tree = serde_yaml::from_str(text).ok()?;
    let mut source = Source::random(seed);
    let parts = count(&tree);
    let donor = part(&tree, &mut (source.below(parts) as usize))?.clone();
    let mut which = source.below(parts) as usize;
    change(&mut tree, &mut which, &mut source, &donor);
    let written = serde_yaml::to_string(&tree).ok()?;
    // The first line says which file it is.
    let first = text.lines().next().filter(|line| line.starts_with('#'));
    Some(first.map_or(written.clone(), |first| format!("{first}\n{written}")))
}

fn count(tree: &Tree) -> u32 {
    1 + inside(tree).into_iter().map(count).sum::<u32>()
}

fn inside(tree: &Tree) -> Vec<&Tree> {
    match tree {
        Tree::Sequence(items) => items.iter().collect(),
        Tree::Mapping(map) => map.values().collect(),
        _ => Vec::new(),
    }
}

fn part<'t>(tree: &'t Tree, which: &mut usize) -> Option<&'t Tree> {
    if *which == 0 {
        return Some(tree);
    }
    *which -= 1;
    inside(tree).into_iter().find_map(|child| part(child, which))
}

fn change(tree: &mut Tree, which: &mut usize, source: &mut Source, donor: &Tree) -> bool {
    if *which == 0 {
        replace(tree, source, donor);
        return true;
    }
    *which -= 1;
    match tree {
        Tree::Sequence(items) => items.iter_mut().any(|child| change(child, which, source, donor)),
        Tree::Mapping(map) => map.values_mut().any(|child| change(child, which, source, donor)),
        _ => false,
    }
}

fn replace(tree: &mut Tree, source: &mut Source, donor: &Tree) {
    let word = |source: &mut Source| Tree::String((*source.pick(&WORDS)).to_owned());
    match (source.below(6), &mut *tree) {
        (0, Tree::Sequence(items)) if !items.is_empty() => {
            let i = source.below(u32::try_from(items.len()).unwrap_or(1)) as usize;
            let one = items[i].clone();
            items.push(one);
        }
        (1, Tree::Sequence(items)) if !items.is_empty() => {
            items.remove(source.below(u32::try_from(items.len()).unwrap_or(1)) as usize);
        }
        (0 | 1, Tree::Mapping(map)) if !map.is_empty() => {
            let i = source.below(u32::try_from(map.len()).unwrap_or(1)) as usize;
            let key = map.keys().nth(i).cloned().unwrap_or_default();
            let value = map.shift_remove(&key).unwrap_or_default();
            if source.one_in(2) {
                let other = word(source);
                map.insert(other, value);
            }
        }
        (2, _) => *tree = donor.clone(),
        (3, _) => *tree = Tree::Sequence(vec![tree.clone()]),
        (4, Tree::String(text)) => {
            let more = *source.pick(&WORDS);
            text.push_str(more);
        }
        (5, _) => *tree = Tree::from(source.number(crate::spec::Numbers { min: -3, max: 300 })),
        _ => *tree = word(source),
    }
}
