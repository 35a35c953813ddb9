//! `jitkey schema`

use clap::{Args, ValueEnum};
use schemars::{Schema, schema_for};

use super::{CliError, End, print};
use crate::case::Case;
use crate::report::json::Report;
use crate::spec::{CaseFile, Causes, Contexts, Flags, Mutants, Profile, Pythons, RuleFile};
use crate::target::protocol::{HelloReply, Reply, Request};

/// Print a JSON Schema, for editors and for other implementations.
#[derive(Debug, Args)]
pub(super) struct SchemaOf {
    /// Of what.
    name: SchemaName,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SchemaName {
    /// A file under spec/rules/.
    Rules,
    /// A file under spec/profiles/.
    Profile,
    /// spec/contexts.yaml.
    Contexts,
    /// spec/flags.yaml.
    Flags,
    /// spec/python.yaml.
    Python,
    /// spec/causes.yaml.
    Causes,
    /// spec/mutants.yaml.
    Mutants,
    /// A file under spec/cases/.
    Cases,
    /// A case alone, as the protocol carries it.
    Case,
    /// The lines that jitkey and a target exchange.
    Protocol,
    /// A report that `check --report json=FILE` or `merge` writes.
    Report,
}

impl SchemaOf {
    pub(super) fn run(&self) -> Result<End, CliError> {
        let schema = schema(self.name);
        print(&serde_json::to_string_pretty(&schema).expect("a schema has a JSON form"));
        Ok(End::Well)
    }
}

fn schema(name: SchemaName) -> Schema {
    match name {
        SchemaName::Rules => schema_for!(RuleFile),
        SchemaName::Profile => profile(),
        SchemaName::Contexts => schema_for!(Contexts),
        SchemaName::Flags => schema_for!(Flags),
        SchemaName::Python => schema_for!(Pythons),
        SchemaName::Causes => schema_for!(Causes),
        SchemaName::Mutants => schema_for!(Mutants),
        SchemaName::Cases => schema_for!(Vec<CaseFile>),
        SchemaName::Case => schema_for!(Case),
        SchemaName::Protocol => schema_for!(Lines),
        SchemaName::Report => schema_for!(Report),
    }
}

/// A profile says everything, or follows another and says what is different, or is what several have in common.
fn profile() -> Schema {
    let mut schema = schema_for!(Profile);
    if let Some(all) = schema.remove("required") {
        let group =
            serde_json::json!({ "required": ["profile"], "properties": { "profile": { "pattern": "\\.\\*$" } } });
        let either = serde_json::json!([{ "required": all }, { "required": ["profile", "follows"] }, group]);
        schema.insert("anyOf".to_owned(), either);
    }
    schema
}

/// What jitkey writes, and what a target answers.
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Lines {
    /// A line that jitkey writes.
    request: Request,
    /// A target's first line.
    hello: HelloReply,
    /// A target's answer to a case.
    reply: Reply,
}
