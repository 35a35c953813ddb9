//! The files of the persistent compilation cache: whether an executable that no table has is loaded instead of compiled.
//!
//! jax names a file after the text of the lowered module, without the locations in it, and the compile options
//! (`jax/_src/cache_key.py`). So weak types, trees, and which function object it was don't count there, and the name of the
//! function does. What the module says depends on the body: the one that a case makes by default returns what it uses. A
//! source computes the same where it is the same text and is given what tracing can't tell apart; elsewhere nobody knows,
//! unless the case has words for it.

use super::arguments::Item;
use super::digest::{Digest, typed};
use super::key::{Ingredients, Key};
use super::leaf::Leaf;
use super::object::{Function, Kind, Obj};
use super::predict::{ModelError, Simulation};
use crate::case::{Value, Via};
use crate::spec::TableName;

/// Flags that say where files are and which programs get one, or that are in their names by other rules than by value.
pub(super) const FLAGS_OF_FILES: [&str; 6] = [
    // Whether XLA makes the same bytes again.
    "jax_compilation_cache_check_contents",
    "jax_compilation_cache_max_size",
    "jax_enable_compilation_cache",
    "jax_persistent_cache_enable_xla_caches",
    "jax_persistent_cache_min_compile_time_secs",
    "jax_persistent_cache_min_entry_size_bytes",
];

/// What is done with the files around a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Files {
    /// Each program gets one.
    #[default]
    Written,
    /// Those that are there are read.
    Read,
    /// Nothing.
    Ignored,
}

impl Files {
    /// The seconds, and the bytes, that no program of a case takes (`jax/_src/compiler.py`, `_cache_write`;
    /// `jax/_src/compilation_cache.py`, `put_executable_and_time`).
    const MORE_THAN_ANY: [f64; 2] = [60.0, 1e9];

    /// What a flag with that value makes of it, if that is known.
    pub fn under(flag: &str, value: &Value) -> Option<Self> {
        let number = match value {
            Value::Bool(kept) if flag == "jax_enable_compilation_cache" => {
                return Some(if *kept { Self::Written } else { Self::Ignored });
            }
            Value::Int(number) => number.get() as f64,
            Value::Float(number) => *number,
            _ => return None,
        };
        let more = match flag {
            "jax_persistent_cache_min_compile_time_secs" => Self::MORE_THAN_ANY[0],
            "jax_persistent_cache_min_entry_size_bytes" => Self::MORE_THAN_ANY[1],
            _ => return None,
        };
        match number {
            _ if number <= 0.0 => Some(Self::Written),
            _ if number >= more => Some(Self::Read),
            _ => None,
        }
    }
}

/// A file.
#[derive(Debug)]
pub(super) struct File {
    /// What its name has of a call, but for the body.
    key: Key,
    body: Body,
}

/// What a body computes.
#[derive(Debug)]
enum Body {
    /// It returns what it uses.
    Returns,
    /// What the case has this word for, and what it may depend on: static arguments, flags.
    Word(String, String),
    /// What this source does with the like, and with what else tracing sees.
    Source(String, Digest),
}

/// The name of the module that the function is lowered to, if it is a plain one.
pub(super) fn module_name(function: &Obj) -> Option<&'static str> {
    Some(if &*plain(function)?.definition == "lambda" { "<lambda>" } else { "f" })
}

/// The function, or that of a wrapper, if its body is no other function's look-up.
fn plain(function: &Obj) -> Option<&Function> {
    match &**function {
        Kind::Function(function) => Some(function),
        Kind::Wrapper(inner, _) => plain(inner),
        _ => None,
    }
}

impl Body {
    /// Whether they are lowered to the same text; `None` where that isn't known.
    fn is_as(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            (Self::Returns, Self::Returns) => Some(true),
            (Self::Word(word, _), Self::Word(other, _)) if word != other => Some(false),
            (Self::Word(_, on), Self::Word(_, other)) => (on == other).then_some(true),
            (Self::Source(text, seen), Self::Source(other, then)) => {
                (text == other && seen.difference(then).is_none()).then_some(true)
            }
            _ => None,
        }
    }

    /// That of a call, or what the model doesn't know of it.
    fn of(call: &Ingredients<'_>) -> Result<Self, &'static str> {
        let ambient = call.ambient;
        let function = plain(call.function).ok_or("of functions that wrap others")?;
        if !matches!(call.via, Via::Call | Via::Compile) {
            return Err("under a transformation");
        }
        if call.options.in_shardings.is_some() || call.options.out_shardings.is_some() {
            return Err("of programs with shardings");
        }
        if ambient.is_more_than_flags() || ambient.mesh.is_some() || ambient.default_device.is_some() {
            return Err("beside anything around the call but flags");
        }
        let is_sharded = |leaf: Leaf<'_>| leaf.aval.placement.as_ref().is_some_and(|at| at.sharding.is_some());
        if call.arguments.function_items > 0 && call.arguments.leaves.iter().any(is_sharded) {
            return Err("of sharded arrays where the function is an argument, too");
        }
        let returns_it = !function.is_source && function.returns.is_none() && !call.options.keep_unused;
        if !returns_it && call.arguments.leaves.iter().any(|leaf| leaf.donated) {
            return Err("of programs that may not give back what is donated");
        }
        let of_one = |leaf: Leaf<'_>| {
            let devices = leaf.aval.placement.as_ref().map_or(0, |at| at.devices().len());
            is_sharded(leaf) && devices == 1
        };
        if call.arguments.leaves.iter().any(of_one) {
            return Err("of arrays on a mesh of one device");
        }
        if function.is_source && !function.definition.contains("def f(") {
            return Err("of sources that bind f otherwise than by def");
        }
        let statics = call.arguments.items.iter().filter_map(|item| match item {
            Item::Static { value, .. } => Some(typed(value)),
            Item::Tree(_) => None,
        });
        let seen = [&ambient.trace, &ambient.seen].into_iter().flatten().cloned();
        let seen = seen.map(std::borrow::Cow::Owned);
        let on = || format!("{} {}", statics.chain(seen).collect::<Vec<_>>().join(", "), ambient.x64);
        let is_known = !function.is_source && function.returns.is_none() && function.effect.is_none();
        Ok(match (&function.computes, !is_known) {
            (Some(word), _) => Self::Word(word.clone(), on()),
            (None, false) => Self::Returns,
            (None, true) => {
                Self::Source(format!("{} {:?} {}", function.definition, function.effect, on()), Digest::of(call))
            }
        })
    }
}

impl Simulation<'_> {
    /// Whether the executable is loaded from a file; where it isn't, there is one from now on.
    pub(super) fn is_loaded(&mut self, call: &Ingredients<'_>) -> bool {
        if call.ambient.loaded {
            return true;
        }
        let Some((_, table)) = self.table(TableName::Persistent).filter(|_| call.ambient.persistent_cache) else {
            return false;
        };
        if call.ambient.files == Files::Ignored {
            return false;
        }
        // What a program calls back is no part of a file (`jax/_src/compiler.py`, `compile_or_get_cached`).
        let effect = plain(call.function).and_then(|function| function.effect);
        if effect.is_some() && !self.profile.callbacks_have_files {
            return false;
        }
        let body = match Body::of(call) {
            Ok(body) => body,
            Err(what) => return self.is_unknown(what),
        };
        let key = Key::of(table, call, None);
        let same = |file: &&File| file.key.same(&key, table) == Ok(true);
        let alike: Vec<_> = self.files.iter().filter(same).map(|file| file.body.is_as(&body)).collect();
        if alike.contains(&Some(true)) {
            return true;
        }
        if call.ambient.files == Files::Written {
            self.files.push(File { key, body });
        }
        alike.contains(&None) && self.is_unknown("of sources that differ")
    }

    fn is_unknown(&mut self, what: &str) -> bool {
        self.unknown = Some(ModelError::Unsupported(format!("the files of a persistent cache {what}")));
        false
    }
}
