//! Targets: implementations that a case can be run on.
//!
//! A target says what it is and which layers it can observe, and answers each case with an [`Observation`]. The reference
//! model is a target like any other ([`Reference`]); everything else is a process that speaks the [`protocol`], for which
//! [`environment`] finds or makes a Python.

pub mod environment;
mod mutant;
mod name;
pub mod protocol;
mod reference;
mod subprocess;

pub use mutant::Mutated;
pub use name::{TargetName, TargetNameError, newest, open};
pub use protocol::{About, CallObservation, Observation, RaisedError, Served};
pub use reference::Reference;
pub use subprocess::{Limits, Subprocess};

use crate::case::Case;

/// An implementation that cases can be run on.
pub trait Target: Send {
    /// What it is.
    fn about(&self) -> &About;

    /// Runs the cases; one observation for each, in order.
    ///
    /// # Errors
    /// If the target can be run no longer at all. What goes wrong in one case is that case's observation.
    fn observe(&mut self, cases: &[Case]) -> Result<Vec<Observation>, TargetError>;

    /// How often its process had to be started again so far.
    fn restarts(&self) -> u64 {
        0
    }
}

/// Why a target can't be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// The program could not be started.
    #[error("`{command}` could not be started: {reason}")]
    Start {
        /// The program and its arguments.
        command: String,
        /// What the system says.
        reason: String,
    },
    /// The program started, and did not answer `hello` as it should.
    #[error("`{command}` did not answer the greeting: {reason}{stderr}")]
    Hello {
        /// The program and its arguments.
        command: String,
        /// What it did instead.
        reason: String,
        /// The end of what it wrote to stderr, on lines of its own.
        stderr: String,
    },
    /// The target crashes, hangs or babbles again and again.
    #[error("`{command}` {what} {times} times in a row without answering any case{stderr}")]
    KeepsCrashing {
        /// The program and its arguments.
        command: String,
        /// What it does.
        what: String,
        /// How often.
        times: usize,
        /// The end of what it wrote to stderr, on lines of its own.
        stderr: String,
    },
    /// The spec has no profile for what the target says it is.
    #[error("the spec has no profile of {}; it knows {known}", format!("{implementation} {version}").trim_end())]
    NoProfile {
        /// The implementation.
        implementation: String,
        /// Its version.
        version: String,
        /// What there are profiles of.
        known: String,
    },
    /// A sweep ended early, or said something that makes no sense.
    #[error("`{command}`: {reason}")]
    Sweep {
        /// The program and its arguments.
        command: String,
        /// What is wrong.
        reason: String,
    },
    /// No Python, or no way to set one up.
    #[error(transparent)]
    Environment(#[from] environment::EnvironmentError),
}
