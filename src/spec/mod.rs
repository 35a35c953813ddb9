//! The specification: rules, profiles and contexts, read from the files under `spec/`.
//!
//! This room knows [`crate::case`] and nothing else. It turns text into typed values once, at the edge, and reports every
//! error with file, line, column, the reason and a suggestion ([`Diagnostic`]).

mod before;
mod case_file;
mod cause;
mod check;
mod context;
mod diagnostic;
mod entry;
mod expect;
mod fingerprint;
mod flags;
mod follow;
mod group;
mod links;
mod load;
mod mutant;
mod pattern;
mod profile;
mod python;
mod read;
mod rule;
mod spans;
mod table;
mod tree;
mod version;

pub use case_file::CaseFile;
pub use cause::{Cause, Causes, Habit, Sign, When};
pub use context::{CallSpec, Contexts, Passing, PositionSpec, WrapperKind, WrapperSpec};
pub use diagnostic::{Diagnostic, Diagnostics};
pub use entry::Unseen;
pub use expect::{Expectation, Outcome};
pub use flags::{ContextField, FlagDefault, FlagEffect, FlagGroup, FlagKey, Flags, NonFinite};
pub use load::{Spec, SpecError, SpecFile, glob};
pub use mutant::{Answer, Blind, Edit, Mutant, Mutants, Only, Sight};
pub use pattern::{Bindings, FillError, Holes, Pattern};
pub use profile::{
    ArgumentStyle, ErrorStage, KeyedBy, LeafKind, LeafRule, ModuleHash, Parameter, PartitionSpecs, Profile, Role,
    Transformations, WithoutTangents,
};
pub use python::{Python, Pythons};
#[cfg(feature = "cli")]
pub(crate) use read::nearest;
pub use rule::{
    Body, Composition, DtypeClass, Family, FlagDomain, Level, Metavariable, Numbers, Places, Planting, Rule, RuleFile,
    ShapeDomain, SourceRef, TreeDomain,
};
pub use spans::lines;
pub use table::{
    CallComponent, ComparisonErrors, ContextComponent, Equality, FunctionBy, FunctionKey, Held, LeafComponent,
    StaticEquality, Table, TableName,
};
pub use tree::Tree;
pub use version::{Requirement, Version};
