//! Draws metavariables.

use super::plant::{Surroundings, tagged};
use super::{Discard, Source};
use crate::case::{Dtype, Name};
use crate::spec::{Bindings, Contexts, DtypeClass, Metavariable, Numbers, ShapeDomain, Tree};

/// How often a metavariable is drawn again until it differs from those it must differ from.
const ATTEMPTS: usize = 20;

/// Draws all of `variables`, in order.
pub fn bindings<'v>(
    source: &mut Source,
    around: Surroundings<'_>,
    variables: impl Iterator<Item = (&'v Name, &'v Metavariable)>,
) -> Result<Bindings, Discard> {
    // The hole of a container comes to them.
    let mut bound = Bindings::with_capacity(variables.size_hint().0 + 2);
    for (name, variable) in variables {
        let different = |value: &Tree, bound: &Bindings| {
            bound.iter().all(|(name, other)| !variable.not.0.contains(name) || other != value)
        };
        let value = (0..ATTEMPTS)
            .filter_map(|attempt| value(source, around, variable, attempt))
            .find(|value| different(value, &bound))
            .ok_or(Discard::NotDistinct)?;
        bound.push((name.clone(), value));
    }
    Ok(bound)
}

/// One value, if the domain has any. `attempt` moves choices that are played back and would repeat themselves for ever.
fn value(source: &mut Source, around: Surroundings<'_>, variable: &Metavariable, attempt: usize) -> Option<Tree> {
    let Metavariable { dtype, shape, int, float, name, one_of, tree, siblings: count, items: pairs, flag, not: _ } =
        variable;
    let contexts = around.contexts;
    Some(if let Some(domain) = flag {
        let all: Vec<_> = around.flags.iter().filter(|flag| domain.has(&flag.effect)).collect();
        let i = source.below(u32::try_from(all.len()).unwrap_or(1)) as usize + attempt;
        let flag = all.get(i % all.len().max(1))?;
        tagged(&flag.name, flag.value.clone())
    } else if let Some(class) = dtype {
        let all = dtypes(*class);
        let i = source.below(u32::try_from(all.len()).unwrap_or(1)) as usize + attempt;
        all[i % all.len()].into()
    } else if let Some(domain) = shape {
        shape_text(source, *domain, attempt).into()
    } else if let Some(range) = int {
        let n = source.number(*range);
        let attempt = i64::try_from(attempt).unwrap_or(0);
        Tree::from(range.min + (n - range.min + attempt) % (range.max - range.min + 1))
    } else if let Some(range) = float {
        // Halves and quarters: exact in every dtype.
        let n = source.number(*range);
        Tree::from(n as f64 + [0.5, 0.25, 0.75][(source.below(3) as usize + attempt) % 3])
    } else if name.is_some() {
        let i = source.below(26) as usize + attempt;
        char::from(b'a' + u8::try_from(i % 26).unwrap_or(0)).to_string().into()
    } else if let Some(values) = one_of {
        let i = source.below(u32::try_from(values.len()).unwrap_or(1)) as usize + attempt;
        values[i % values.len()].clone()
    } else if let Some(domain) = tree {
        let depth = source.number(domain.depth);
        arrays(source, contexts, depth)
    } else if let Some(range) = count {
        let n = source.number(*range);
        Tree::sequence((0..n).map(|_| source.pick(&contexts.leaves).clone()))
    } else if let Some(range) = pairs {
        items(source, contexts, *range)
    } else {
        Tree::Null
    })
}

fn items(source: &mut Source, contexts: &Contexts, range: Numbers) -> Tree {
    let n = usize::try_from(source.number(range)).unwrap_or(0).min(contexts.keys.len());
    let first = source.below(u32::try_from(contexts.keys.len()).unwrap_or(1)) as usize;
    let pair = |i: usize, source: &mut Source| {
        let key = contexts.keys[(first + i) % contexts.keys.len()].clone();
        Tree::sequence([key, source.pick(&contexts.leaves).clone()])
    };
    Tree::sequence((0..n).map(|i| pair(i, source)))
}

fn arrays(source: &mut Source, contexts: &Contexts, depth: i64) -> Tree {
    if depth <= 0 {
        return source.pick(&contexts.leaves).clone();
    }
    let n = source.below(3) + 1;
    let inside: Vec<Tree> = (0..n).map(|_| arrays(source, contexts, depth - 1)).collect();
    match source.below(3) {
        0 => tagged("tuple", Tree::sequence(inside)),
        1 => Tree::sequence(inside),
        _ => {
            let keys = ["a", "b", "c"];
            let items = keys.into_iter().zip(inside).map(|(key, value)| (key.into(), value));
            tagged("dict", Tree::mapping(items))
        }
    }
}

fn shape_text(source: &mut Source, domain: ShapeDomain, attempt: usize) -> String {
    let rank = source.number(domain.rank);
    let rank = domain.rank.min
        + (rank - domain.rank.min + i64::try_from(attempt).unwrap_or(0)) % (domain.rank.max - domain.rank.min + 1);
    let sizes: Vec<_> = (0..rank)
        .map(|_| {
            let size = source.number(domain.size);
            let shift = i64::try_from(attempt).unwrap_or(0);
            (domain.size.min + (size - domain.size.min + shift) % (domain.size.max - domain.size.min + 1)).to_string()
        })
        .collect();
    sizes.join(",")
}

/// The dtypes of a class, the plainest first.
fn dtypes(class: DtypeClass) -> &'static [&'static str] {
    use std::sync::LazyLock;
    static ANY: LazyLock<Vec<&str>> = LazyLock::new(|| of(|_| true));
    static INEXACT: LazyLock<Vec<&str>> = LazyLock::new(|| of(|dtype| dtype.is_float() || dtype.is_complex()));
    static FLOAT: LazyLock<Vec<&str>> = LazyLock::new(|| of(Dtype::is_float));
    static INTEGER: LazyLock<Vec<&str>> = LazyLock::new(|| of(Dtype::is_integer));
    /// Those that every version of jax on every backend has: no sub-byte and no 8-bit floats.
    fn of(test: impl Fn(Dtype) -> bool) -> Vec<&'static str> {
        const PLAIN: [&str; 13] =
            ["f32", "i32", "bool", "f16", "bf16", "u8", "i8", "i16", "u16", "u32", "c64", "i4", "f8_e5m2"];
        PLAIN.into_iter().filter(|name| Dtype::named(name).is_some_and(&test)).collect()
    }
    match class {
        DtypeClass::Any => &ANY,
        DtypeClass::Inexact => &INEXACT,
        DtypeClass::Float => &FLOAT,
        DtypeClass::Integer => &INTEGER,
        DtypeClass::Complex => &["c64"],
        DtypeClass::Weakable => &["f32", "i32", "c64"],
        DtypeClass::Wide => &["f64", "i64", "u64", "c128"],
        DtypeClass::ByteOrdered => &["f32", "i32", "f16", "i16", "u16", "u32"],
    }
}
