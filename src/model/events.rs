//! What happens between calls: objects that change, caches that are cleared or filled.

use std::rc::Rc;

use super::ambient::Ambient;
use super::arguments::{Invocation, sort};
use super::key::{Ingredients, Key};
use super::object::{Kind, Obj};
use super::predict::{ModelError, Simulation};
use super::wrapper::Options;
use crate::case::{Call, ClearScope, Fill, JitOptions, Mutation, Name, Verdict, Via};
use crate::spec::{ArgumentStyle, TableName};

impl Simulation<'_> {
    pub(super) fn fill(&mut self, fill: &Fill) -> Result<(), ModelError> {
        // Its calls have no numbers.
        let calls = std::mem::take(&mut self.calls);
        for nth in 0..fill.calls {
            self.names.nth = nth;
            if let Verdict::Error(class) = self.call(&fill.call)?.verdict {
                return Err(ModelError::Unsupported(format!("a call that fills caches and raises {class}")));
            }
            self.names.not_returned();
        }
        self.calls = calls;
        Ok(())
    }

    pub(super) fn mutate(&mut self, mutation: &Mutation) -> Result<(), ModelError> {
        let value = mutation.value.as_ref().map(|value| self.names.build(value)).transpose()?;
        let new_defaults = mutation.defaults.iter().flatten().map(|value| self.names.build(value));
        let new_defaults: Vec<Obj> = new_defaults.collect::<Result<_, _>>()?;
        if let Some(contents) = &mutation.contents {
            let contents = self.names.build(contents)?;
            return match (self.names.object(&mutation.object).map(|object| &**object), &*contents) {
                (Some(Kind::List(held)), Kind::List(new)) | (Some(Kind::Set(held)), Kind::Set(new)) => {
                    held.replace(new.to_vec());
                    Ok(())
                }
                (Some(Kind::Dict(held)), Kind::Dict(new))
                | (Some(Kind::OrderedDict(held)), Kind::OrderedDict(new))
                | (Some(Kind::DefaultDict(_, held)), Kind::DefaultDict(_, new)) => {
                    held.replace(new.to_vec());
                    Ok(())
                }
                _ => Err(ModelError::Unsupported("contents of another kind".to_owned())),
            };
        }
        match self.names.object(&mutation.object).map(|object| &**object) {
            Some(Kind::Instance { value: held, hash, .. }) => {
                if let Some(value) = value {
                    held.replace(value);
                }
                if let Some(new) = mutation.hash {
                    hash.set(new);
                }
                Ok(())
            }
            Some(Kind::Function(function)) if mutation.value.is_none() && mutation.hash.is_none() => {
                let mut defaults = function.defaults.borrow_mut();
                for ((_, held), new) in defaults.iter_mut().zip(new_defaults) {
                    *held = new;
                }
                Ok(())
            }
            _ => Err(ModelError::Unsupported("mutation of anything but an instance of a plain class".to_owned())),
        }
    }

    pub(super) fn clear(&mut self, scope: &ClearScope) -> Result<(), ModelError> {
        match scope {
            ClearScope::Jax => {
                self.tables.iter_mut().for_each(|entries| entries.clear(None));
                self.given.clear();
                if self.profile.clearing_detaches_wrappers {
                    self.generations.part();
                }
            }
            // Its own wrappers alone have anything that equinox clears.
            ClearScope::Equinox if self.profile.arguments == ArgumentStyle::Partition => self.generations.part(),
            ClearScope::Equinox => {}
            ClearScope::Function => {
                let (function, options) = (Rc::clone(&self.function), self.options.clone());
                // It is made now if it wasn't before.
                self.generations.generation(&Call::default(), &function, &options);
                let owner = self.wrappers.of(self.profile.keyed_by, None, None, &function, &options);
                self.evict(&owner, None, &function, &options);
            }
            // What nothing was called through, or is gone, has left nothing.
            ClearScope::Wrapper(name) => {
                if let Some((owner, function, options)) = self.wrappers.named(name) {
                    self.evict(&owner, Some(name), &function, &options);
                }
            }
        }
        Ok(())
    }

    /// What `f.clear_cache()` does (`jax/_src/pjit.py`, `jit_evict_fn`): the fast path of this wrapper, and of those that share
    /// it, and the jaxprs of the function.
    fn evict(&mut self, owner: &Obj, name: Option<&Name>, function: &Obj, options: &Options) {
        let ambient = Rc::<Ambient>::default();
        // Of no arguments, which `in_shardings` for each are too many for.
        let donating = &JitOptions { in_shardings: None, ..JitOptions::clone(options) };
        let (args, views) = (&[], self.views(false));
        let call = Invocation { function, args, kwargs: &[], options: donating, views, called: &[], objects: false };
        let arguments = sort(self.profile, &call).unwrap_or_default();
        let wrapper = Ingredients {
            function: owner,
            arguments: &arguments,
            invocation: None,
            options,
            ambient: &ambient,
            via: Via::Call,
            wrapper: name,
            generation: self.generations.of(name, function, options).unwrap_or(self.generations.now()),
            primitive: None,
        };
        for (table, entries) in self.profile.tables.iter().zip(&mut self.tables) {
            match table.table {
                // Cleared for every function.
                TableName::Infer => entries.clear(None),
                TableName::Dispatch => {
                    let wrapper = Key::of(table, &wrapper, None);
                    entries.clear_those(owner, |key| key.is_of(&wrapper, table));
                }
                _ => entries.clear(Some(owner)),
            }
        }
    }
}
