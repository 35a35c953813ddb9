//! What surrounds a call: configuration and contexts, as far as keys and verdicts depend on them.

use super::predict::ModelError;
use crate::case::Context;
use crate::spec::{FlagEffect, FlagKey, Profile};

/// The surroundings of one call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ambient {
    pub x64: bool,
    pub default_device: Option<u32>,
    /// The axes of the mesh around the call, with their sizes.
    pub mesh: Vec<String>,
    /// The flags that are part of the fast path's key, with their values; likewise the next two.
    pub dispatch: Vec<String>,
    /// The flags that are part of the trace context.
    pub trace: Vec<String>,
    /// The flags that tracing can see.
    pub seen: Vec<String>,
    pub never_fast: bool,
    pub bypasses: bool,
    pub trace_raises: Option<String>,
    pub run_raises: Option<String>,
}

impl Ambient {
    /// The surroundings of a call in a case; those of the call come over those of the case.
    pub fn of(case: &Context, call: &Context, profile: &Profile) -> Result<Self, ModelError> {
        let mesh = call.mesh.as_ref().or(case.mesh.as_ref());
        let mut ambient = Self {
            x64: call.x64.or(case.x64).unwrap_or(false),
            default_device: call.default_device.or(case.default_device),
            mesh: mesh.into_iter().flatten().map(|(axis, size)| format!("{axis}: {size}")).collect(),
            ..Self::default()
        };
        let mut flags = case.flags.clone();
        flags.extend(call.flags.clone());
        flags.sort_unstable_keys();
        for (name, value) in &flags {
            let Some(effect) = profile.flags.get(name) else {
                return Err(ModelError::Unsupported(format!("the flag {name}")));
            };
            ambient.add(effect, &format!("{name}={value}"));
        }
        Ok(ambient)
    }

    fn add(&mut self, effect: &FlagEffect, text: &str) {
        let FlagEffect { keys, seen, never_fast, bypasses, trace_raises, run_raises } = effect;
        for key in keys {
            match key {
                FlagKey::Dispatch => self.dispatch.push(text.to_owned()),
                FlagKey::Trace => self.trace.push(text.to_owned()),
            }
        }
        if *seen {
            self.seen.push(text.to_owned());
        }
        self.never_fast |= never_fast;
        self.bypasses |= bypasses;
        self.trace_raises = self.trace_raises.take().or_else(|| trace_raises.clone());
        self.run_raises = self.run_raises.take().or_else(|| run_raises.clone());
    }
}
