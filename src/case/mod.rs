//! The data of jitkey: a [`Case`] is a short program, and everything is a case.
//!
//! A rule's example, a generated pair, a fuzzer's find and a recorded training loop are all the same type with the same
//! text form: YAML for people, JSON for programs ([`text`]). This room knows nothing of the spec, of keys or of targets.

mod array;
mod class;
mod context;
mod name;
pub mod notation;
mod options;
mod param;
mod parsed;
mod placement;
mod program;
pub mod text;
mod validate;
mod value;
mod value_text;
mod verdict;

pub use array::{Array, ArrayError, Dtype, Library, MemoryOrder, Prng, Subclass};
pub use class::{Class, EqPolicy, HashPolicy};
pub use context::{Context, DefaultDevice, TransferGuard};
pub use name::{Name, NameError};
pub use options::{Donate, InShardings, JitOptions, ShardingTree, Shardings};
pub use param::{ArgName, Param};
pub use parsed::{Content, Parsed, ParsedClass, ParsedError};
pub use placement::{Placement, Sharding, Split, axes};
pub use program::{Call, Case, ClearScope, Fill, Mutation, Step, Thread, Via};
pub use validate::{CaseError, Part};
pub use value::{
    ClosureForm, DefForm, DefaultDictForm, DictItems, Effect, Form, Integer, LambdaForm, MakeForm, MethodForm,
    MethodKind, NestContainer, NestForm, NewForm, OutputForm, PartialForm, Real, RepeatForm, Value, WrapForm, Wrapper,
};
pub use verdict::{Behaviour, Layer, LayerSet, Verdict};
