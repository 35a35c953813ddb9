//! A case as a Python script that stands alone: what a maintainer runs, and pastes into a bug report.
//!
//! The script builds what the Python package builds (`src/python/jitkey`), says for each call what it took, and exits
//! with 1 while the library does what the report is about: while a call takes something else than is expected, or, where a
//! stale hit is claimed, while the last call returns something else than a fresh function does.

mod array;
mod class;
mod frame;
mod function;
mod steps;
mod value;

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use self::frame::part;
use crate::case::{
    Case, Class, ClearScope, DefForm, DefaultDictForm, Fill, Form, Layer, MethodForm, MethodKind, Name, Step, Value,
    Verdict, Via,
};

/// What a script is to show.
#[derive(Debug, Clone)]
pub struct Claim<'c> {
    /// The id of the finding or case.
    pub id: &'c str,
    /// What it says, in a sentence or more.
    pub says: &'c str,
    /// The implementation that is called.
    pub implementation: &'c str,
    /// The version of jax that this is about.
    pub version: &'c str,
    /// The program.
    pub case: &'c Case,
    /// What is expected, one verdict a call; empty if nobody knows.
    pub expected: Vec<Verdict>,
    /// What was seen when the finding was made, if it is one.
    pub observed: Option<Vec<Verdict>>,
    /// Whether the last call is claimed to be a stale hit.
    pub stale: bool,
}

/// What a script can't express.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no script can be written for {what}")]
pub struct ScriptError {
    what: String,
}

impl ScriptError {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into() }
    }
}

/// How an implementation is called in Python.
#[derive(Debug)]
struct Api {
    name: &'static str,
    /// What a function is wrapped with.
    wrap: &'static str,
    eval_shape: &'static str,
    vmap: &'static str,
    /// Whether a wrapper can clear its own cache.
    clears: bool,
    /// Whether a wrapper can trace and do no more.
    traces: bool,
}

const APIS: &[Api] = &[
    Api {
        name: "jax.jit",
        wrap: "jax.jit",
        eval_shape: "jax.eval_shape",
        vmap: "jax.vmap",
        clears: true,
        traces: true,
    },
    Api {
        name: "equinox.filter_jit",
        wrap: "eqx.filter_jit",
        eval_shape: "eqx.filter_eval_shape",
        vmap: "eqx.filter_vmap",
        clears: false,
        traces: false,
    },
];

/// Writes the script.
pub fn script(claim: &Claim<'_>) -> Result<String, ScriptError> {
    let api = APIS.iter().find(|api| api.name == claim.implementation);
    let api = api.ok_or_else(|| ScriptError::new(format!("the target {}", claim.implementation)))?;
    Writer::new(claim, api).script(claim)
}

/// A script that is being written.
struct Writer<'c> {
    case: &'c Case,
    api: &'static Api,
    stale: bool,
    /// The methods of objects that are used, each with its attribute.
    methods: BTreeMap<String, MethodKind>,
    /// Whether an instance may be called.
    calls_instances: bool,
    /// Whether misses of the fast path alone are looked for.
    dispatch: bool,
    helpers: BTreeSet<&'static str>,
    imports: BTreeSet<String>,
    /// The bodies of functions that make functions, each with its name.
    factories: IndexMap<String, String>,
}

impl<'c> Writer<'c> {
    fn new(claim: &Claim<'c>, api: &'static Api) -> Self {
        let case = claim.case;
        let verdicts = || claim.expected.iter().chain(claim.observed.iter().flatten());
        Self {
            case,
            api,
            stale: claim.stale,
            methods: values(case)
                .into_iter()
                .filter_map(|value| if let Value::Form(form) = value { Some(&**form) } else { None })
                .filter_map(|form| if let Form::Method(method) = form { Some(method) } else { None })
                .map(|method| (attribute(method), method.kind))
                .collect(),
            calls_instances: anywhere(case, |form| {
                matches!(form, Form::Partial(_) | Form::TreePartial(_) | Form::Wrap(_))
            }) || functions(case)
                .any(|value| is_form(value, |form| matches!(form, Form::New(_) | Form::Ref(_)))),
            dispatch: verdicts().any(|verdict| *verdict == Verdict::DISPATCH),
            helpers: BTreeSet::new(),
            imports: BTreeSet::new(),
            factories: IndexMap::new(),
        }
    }

    fn script(mut self, claim: &Claim<'_>) -> Result<String, ScriptError> {
        let mut classes = Vec::new();
        for (name, class) in &self.case.classes {
            classes.push(Block::of(self.class(name, class)?));
        }
        let steps = self.program(claim)?;
        let mut blocks = vec![Block::of(self.state())];
        blocks.extend(self.dispatch.then(|| Block::of(part("hook").to_owned())));
        blocks.extend(
            frame::HELPERS
                .iter()
                .filter(|name| self.helpers.contains(**name))
                .map(|name| Block::of(part(name).to_owned())),
        );
        let own: Vec<_> = classes.into_iter().chain(self.factory_texts().map(Block::of)).chain(steps).collect();
        let runs_body = |block: &Block| block.text.contains("body(");
        if blocks.iter().chain(&own).any(runs_body) {
            blocks.push(Block::of(self.body()));
        }
        blocks.push(Block::of(self.call_text()));
        blocks.extend(own);
        let code = joined(&blocks);
        let count = self.case.devices.max(devices_of(&code));
        let devices = if count > 1 {
            format!(
                "import os\n\nos.environ[\"JAX_PLATFORMS\"] = \"cpu\"\n\
                 os.environ[\"XLA_FLAGS\"] = \"--xla_force_host_platform_device_count={count}\"\n\n"
            )
        } else {
            String::new()
        };
        let imports = frame::imports(&code, std::mem::take(&mut self.imports));
        Ok(format!("{}\n\n{devices}{}\n\n{code}\n", self.heading(claim), imports.trim_start()))
    }

    /// The docstring: what is claimed, of what, and how the script ends.
    fn heading(&self, claim: &Claim<'_>) -> String {
        let mut text = String::new();
        let says = if claim.says.is_empty() { claim.id.to_owned() } else { format!("{}: {}", claim.id, claim.says) };
        text += &filled(&says);
        text += "\n\n";
        let words = |verdicts: &[Verdict]| verdicts.iter().map(|one| self.word(one)).collect::<Vec<_>>().join(", ");
        text += &format!("with      {} on jax {}\n", claim.implementation, claim.version);
        let expected =
            if claim.expected.is_empty() { "nothing in particular".to_owned() } else { words(&claim.expected) };
        text += &format!("expected  {expected}\n");
        if let Some(observed) = &claim.observed {
            text += &format!("observed  {}\n", words(observed));
        }
        text += "\n";
        text += &filled(&format!(
            "trace: the Python body ran again, and all below followed; lower: lowered and compiled again; compile: compiled \
             again; {} Exits with 1 while {}, and with 0 (\"not reproduced\") otherwise.",
            if self.dispatch {
                "dispatch: only the C++ fast path missed; hit: nothing missed."
            } else {
                "hit: none of these (a miss of the C++ fast path alone is not looked for)."
            },
            if self.stale {
                "the last call returns something else than the same call of a fresh function"
            } else {
                "a call does something else than is expected"
            }
        ));
        format!("\"\"\"{}\n\"\"\"", text.replace('\\', "\\\\").replace("\"\"\"", "'''"))
    }

    /// The verdict as the script says it.
    fn word(&self, verdict: &Verdict) -> String {
        match verdict {
            Verdict::Error(class) => class.clone(),
            dispatch if *dispatch == Verdict::DISPATCH && self.dispatch => "dispatch".to_owned(),
            Verdict::Missed(missed) => {
                let below: Vec<_> = missed.iter().filter(|layer| *layer != Layer::Dispatch).map(Layer::word).collect();
                match below[..] {
                    [] => "hit".to_owned(),
                    ["compile"] => "compile".to_owned(),
                    ["lower", "compile"] => "lower".to_owned(),
                    ["trace", "lower", "compile"] => "trace".to_owned(),
                    _ => format!("{} only", below.join(" ")),
                }
            }
        }
    }

    fn state(&self) -> String {
        let kept = if self.stale { "seen = []" } else { "differences = []" };
        format!("{}\n{kept}", part("state"))
    }

    fn body(&self) -> String {
        let mut body = part(if anywhere(self.case, unsorted) { "careful_body" } else { "body" }).to_owned();
        if anywhere(self.case, |form| matches!(form, Form::ArrayRef(_))) {
            // A reference is no array, and can't be returned: what it holds is.
            body = body.replace("leaf for leaf in", "leaf[...] for leaf in").replace("jax.Array", "jax.core.Tracer");
        }
        if self.has_unused() {
            let made = "    return [leaf for leaf in jax.tree_util.tree_leaves(values) if isinstance(leaf, jax.Array)]";
            let without = "\n    return [array for i, array in enumerate(arrays) if i not in unused]";
            body = body.replace(made, &(made.replace("return", "arrays =") + without));
        }
        if self.stale { format!("{}\n{}", body.replace("return [", "arrays = ["), part("seeing")) } else { body }
    }

    /// Whether the program of a call doesn't have all of its arguments, which makes no hit a stale one.
    fn has_unused(&self) -> bool {
        !self.stale && self.case.calls().any(|call| !call.unused.is_empty())
    }

    fn call_text(&self) -> String {
        let counted = functions(self.case).all(|function| self.is_counted(function));
        // Since 0.9 the event comes for a jaxpr that is found, too; a new one is lowered, where the call goes on.
        let events = if self.case.calls().all(|call| call.via == Via::Call) {
            r#"{"/jax/core/compile/jaxpr_trace_duration", "/jax/core/compile/jaxpr_to_mlir_module_duration"} <= set(events)"#
        } else {
            r#""/jax/core/compile/jaxpr_trace_duration" in events"#
        };
        let traced = if counted { "traces > 0".to_owned() } else { format!("traces > 0 or {events}") };
        let mut text = part("call").replace("TRACED", &traced);
        if self.stale {
            text = text.replace("expected, ", "");
        }
        let parts = [self.dispatch.then_some("fast_path"), Some(if self.stale { "returned" } else { "compared" })];
        parts.into_iter().flatten().fold(text, |text, name| format!("{text}\n{}", part(name)))
    }

    /// Whether a function of that form is made more than once, a fresh one for a stale hit included. They have to come from
    /// one place then, since jax keeps a function's name and line beside some keys, and compares them first.
    fn is_repeated(&self, form: &Form) -> bool {
        self.stale || values(self.case).into_iter().filter(|value| is_form(value, |other| other == form)).count() > 1
    }

    fn has_modules(&self) -> bool {
        self.case.classes.values().any(|class| matches!(class, Class::Module { .. }))
    }

    /// The helper of that name, which the script will have.
    fn helper(&mut self, name: &'static str) -> &'static str {
        self.helpers.insert(name);
        name
    }

    /// The name of a class or object. One that the script uses itself gets a `_`, unless source refers to it.
    fn name(&self, name: &Name) -> Result<String, ScriptError> {
        let text = name.as_str();
        let is_output = text.strip_prefix("out").is_some_and(|rest| rest.parse::<usize>().is_ok());
        let is_taken = is_output
            || text.starts_with("jit_")
            || text.starts_with("new_f")
            || TAKEN.split(' ').any(|taken| taken == text)
            || is_keyword(text)
            || frame::is_module(text)
            || frame::HELPERS.contains(&text);
        if !is_taken {
            return Ok(text.to_owned());
        }
        if anywhere(self.case, |form| mentions(form, text)) {
            return Err(ScriptError::new(format!("source that uses `{text}`, a name that the script uses itself")));
        }
        let mut other = format!("{text}_");
        while self.case.objects.contains_key(&*other) || self.case.classes.contains_key(&*other) {
            other.push('_');
        }
        Ok(other)
    }
}

/// The names of the script's own, and of the builtins that it uses.
const TAKEN: &str = "f nth body call calls traces events differences seen args kwargs served fresh hook infer_params pjit WORDS \
    bool bytearray classmethod complex dict float frozenset getattr hash int isinstance list max min object \
    print range repr set str tuple type vars len sum Exception RuntimeError ImportError AttributeError";

/// Whether the name is a word of Python's grammar.
fn is_keyword(name: &str) -> bool {
    const KEYWORDS: &str = "False None True and as assert async await break class continue def del elif else except finally \
        for from global if import in is lambda nonlocal not or pass raise return try while with yield";
    KEYWORDS.split(' ').any(|word| word == name)
}

fn is_form(value: &Value, wanted: impl Fn(&Form) -> bool) -> bool {
    matches!(value, Value::Form(form) if wanted(form))
}

/// The functions under test of a case.
fn functions(case: &Case) -> impl Iterator<Item = &Value> {
    case.calls().map(|call| call.function.as_ref().unwrap_or(&case.function))
}

/// Whether any call is of the case's own function.
fn uses_own(case: &Case) -> bool {
    case.calls().any(|call| call.function.is_none()) || case.steps.contains(&Step::Clear(ClearScope::Function))
}

/// Every value that the case builds, those inside others included.
fn values(case: &Case) -> Vec<&Value> {
    let mut found: Vec<&Value> = case.objects.values().collect();
    found.extend(uses_own(case).then_some(&case.function));
    for step in &case.steps {
        match step {
            Step::Call(call) | Step::Fill(Fill { call, .. }) => {
                found.extend(call.args.iter().chain(call.kwargs.values()).chain(&call.function))
            }
            Step::Mutate(mutation) => found.extend(mutation.values()),
            Step::Drop(_) | Step::Delete(_) | Step::Donate(_) | Step::Clear(_) => {}
        }
    }
    let mut next = 0;
    while let Some(value) = found.get(next) {
        found.extend(value.children());
        next += 1;
    }
    found
}

/// Whether any form that the case builds is as wanted.
fn anywhere(case: &Case, wanted: impl Fn(&Form) -> bool) -> bool {
    values(case).into_iter().any(|value| is_form(value, &wanted))
}

/// What a class of the script calls a method.
fn attribute(method: &MethodForm) -> String {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    // A class can have a field or a method of its own that is called so.
    let named = method.name.as_ref().map(|name| format!("method_{}", name.replace(|c| !is_of_name(c), "_")));
    named.unwrap_or_else(|| method.kind.name().to_owned())
}

/// Whether the value is a dict that may be impossible to sort, so that it is no pytree.
fn unsorted(form: &Form) -> bool {
    match form {
        Form::Dict(items) | Form::DefaultDict(DefaultDictForm { items, .. }) => {
            items.0.iter().any(|(key, _)| !is_form(key, |form| matches!(form, Form::Str(_))))
        }
        _ => false,
    }
}

/// Whether the value is source in which the name stands.
fn mentions(form: &Form, name: &str) -> bool {
    let Form::Def(DefForm { source: Some(source), .. }) = form else { return false };
    source.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name)
}

/// A piece of a script: definitions are kept apart from what stands before and after them.
struct Block {
    text: String,
    is_definition: bool,
}

impl Block {
    fn of(text: String) -> Self {
        let starts = ["def ", "class ", "@", "try:"];
        let is_definition = starts.iter().any(|start| text.starts_with(start));
        Self { text, is_definition }
    }
}

fn joined(blocks: &[Block]) -> String {
    let mut text = String::new();
    let mut before: Option<&Block> = None;
    for block in blocks {
        text += match before {
            None => "",
            Some(before) if before.is_definition || block.is_definition => "\n\n\n",
            Some(_) => "\n",
        };
        text += &block.text;
        before = Some(block);
    }
    text
}

/// The text, four columns to the right.
fn indented(text: &str) -> String {
    let lines: Vec<_> =
        text.lines().map(|line| if line.is_empty() { String::new() } else { format!("    {line}") }).collect();
    lines.join("\n")
}

/// The words of a text in lines of at most 100 columns.
fn filled(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= 100 {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join("\n")
}

/// How many devices the code takes: `jax.devices()[:2]` as many as it says, `jax.devices()[2]` one more.
fn devices_of(code: &str) -> u32 {
    let taken = code.split("jax.devices()[").skip(1).filter_map(|rest| {
        let (number, _) = rest.split_once(']')?;
        let of = |text: &str| text.parse::<u32>().ok();
        number.strip_prefix(':').map_or_else(|| of(number).map(|number| number + 1), of)
    });
    taken.max().unwrap_or_default()
}
