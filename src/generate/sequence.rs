//! Random programs: calls of a few shared functions with a few shared values, and what happens between them.
//!
//! No rule says what such a program does; the model does, and a rule that is drawn so ([`crate::spec::Rule::sequence`]) says
//! only that the target does the same. Keys recur, since the pools are small.

use indexmap::IndexMap;

use super::Source;
use crate::case::{
    ArgName, Call, Case, ClearScope, Context, DefForm, Form, JitOptions, Name, OutputForm, Param, Step, Thread, Value,
    Via, WrapForm, Wrapper,
};
use crate::spec::{ArgumentStyle, KeyedBy, Numbers, Profile};

/// How often each use of a function comes.
const VIAS: [(Via, u32); 9] = [
    (Via::Call, 24),
    (Via::Trace, 2),
    (Via::Lower, 2),
    (Via::Compile, 2),
    (Via::Vmap, 2),
    (Via::Grad, 2),
    (Via::EvalShape, 1),
    (Via::MakeJaxpr, 1),
    (Via::Jvp, 1),
];

/// What is passed and traced.
const DYNAMIC: [&str; 9] =
    ["f32[3]", "np:f32[3]", "f32[4]", "~f32[]", "f32[]", "f32[2,3]", "f32[3]@0", "i32[3]", "i32[]"];

/// A program of that many steps.
pub fn sequence(source: &mut Source, profile: &Profile, steps: Numbers) -> Case {
    let is_plain = profile.arguments == ArgumentStyle::AsWritten;
    let has_tables_by_function = profile.keyed_by == KeyedBy::Function;
    let mut program = Program { source, is_plain, has_tables_by_function, has_second: false, alive: Vec::new() };
    program.has_second = program.source.one_in(2);
    let objects = program.objects();
    let options = program.options_of_case();
    let mut made: Vec<Step> = Vec::new();
    // The calls that return what a later one can be given.
    let mut returning: Vec<usize> = Vec::new();
    let mut calls = 0;
    for _ in 0..program.source.number(steps) {
        let step = match program.source.weighted([16, 2, 1, 1].into_iter()) {
            1 => Step::Clear(program.scope()),
            2 if !program.alive.is_empty() => {
                let i = program.source.below(u32::try_from(program.alive.len()).unwrap_or(1)) as usize;
                Step::Drop(program.alive.remove(i))
            }
            _ => {
                let step = program.call(&options, &returning);
                calls += 1;
                if matches!(&step, Step::Call(call) if call.via == Via::Call) {
                    returning.push(calls);
                }
                step
            }
        };
        made.push(step);
    }
    Case { objects, function: reference("f"), options, steps: made, ..Case::default() }
}

struct Program<'s> {
    source: &'s mut Source,
    /// Whether the options are those of `jax.jit`.
    is_plain: bool,
    has_tables_by_function: bool,
    /// Whether the functions have a second parameter.
    has_second: bool,
    /// The functions that can be dropped.
    alive: Vec<Name>,
}

fn name(text: &str) -> Name {
    Name::new(text).expect("a literal name")
}

fn reference(text: &str) -> Value {
    Form::Ref(name(text)).into()
}

impl Program<'_> {
    /// The functions: one that is always there, another like it, and wrappers of the first, which share what it has cached.
    fn objects(&mut self) -> IndexMap<Name, Value> {
        let definition = |has_second: bool| {
            let params = ["x", "y"].into_iter().take(1 + usize::from(has_second));
            let params = params.map(|text| Param::Plain(ArgName::One(name(text)))).collect();
            Value::from(Form::Def(DefForm { params: Some(params), ..DefForm::default() }))
        };
        let wrapped = |by: Wrapper, func: &str| Value::from(Form::Wrap(WrapForm::of(by, reference(func))));
        let mut objects = IndexMap::from([(name("f"), definition(self.has_second)), (name("x"), array("f32[3]"))]);
        let by = if self.is_plain { Wrapper::Jit } else { Wrapper::FilterJit };
        for object in ["g", "h"] {
            let value = match self.source.below(5) {
                0 => continue,
                1 => definition(self.has_second),
                2 if self.is_plain => wrapped(Wrapper::Checkpoint, "f"),
                3 if self.is_plain && object == "h" && objects.contains_key("g") => wrapped(Wrapper::Jit, "g"),
                _ => wrapped(by, "f"),
            };
            objects.insert(name(object), value);
            self.alive.push(name(object));
        }
        // What others wrap outlives them.
        let is_wrapped = objects.get("h").is_some_and(|value| *value == wrapped(Wrapper::Jit, "g"));
        self.alive.retain(|object| !(is_wrapped && object.as_str() == "g"));
        objects
    }

    fn options_of_case(&mut self) -> JitOptions {
        let has_static = self.is_plain && self.has_second && self.source.one_in(2);
        JitOptions { static_argnums: if has_static { vec![1] } else { Vec::new() }, ..JitOptions::default() }
    }

    /// The options of a call, where they aren't those of the case.
    fn options(&mut self, of_case: &JitOptions) -> Option<JitOptions> {
        if !self.is_plain || self.source.below(4) != 3 {
            return None;
        }
        let mut options = of_case.clone();
        match self.source.below(4) {
            0 => options.keep_unused = true,
            1 => options.donate_argnums = vec![0],
            2 if self.has_second => options.static_argnames = vec![name("y")],
            _ => options.inline = true,
        }
        Some(options)
    }

    fn scope(&mut self) -> ClearScope {
        match (self.source.below(2), self.is_plain) {
            (0, _) => ClearScope::Jax,
            (_, true) => ClearScope::Function,
            (_, false) => ClearScope::Equinox,
        }
    }

    fn call(&mut self, of_case: &JitOptions, returning: &[usize]) -> Step {
        let options = self.options(of_case);
        let chosen = options.as_ref().unwrap_or(of_case);
        let is_static = !chosen.static_argnums.is_empty() || !chosen.static_argnames.is_empty();
        let via = self.via();
        let mut args = vec![self.dynamic(returning, via)];
        if self.has_second {
            args.push(if is_static { self.constant() } else { self.dynamic(&[], via) });
        }
        let functions: Vec<Option<Value>> =
            std::iter::once(None).chain(self.alive.iter().map(|name| Some(reference(name.as_str())))).collect();
        let function = self.source.pick(&functions).clone();
        let wrapper = (self.source.below(5) == 4).then(|| name("other"));
        let mut kwargs = IndexMap::new();
        if self.has_second && self.source.below(6) == 5 && via == Via::Call {
            kwargs.extend(args.pop().map(|value| (name("y"), value)));
        }
        let context = match self.source.below(12) {
            11 => Context { x64: Some(true), ..Context::default() },
            _ => Context::default(),
        };
        let thread = if self.source.below(16) == 15 { Thread::Other } else { Thread::Main };
        Step::Call(Call { function, args, kwargs, options, wrapper, via, context, thread, ..Call::default() })
    }

    fn via(&mut self) -> Via {
        let known = |via: Via| match via {
            Via::MakeJaxpr | Via::Jvp => self.is_plain && self.has_tables_by_function,
            Via::EvalShape => self.has_tables_by_function,
            _ => true,
        };
        let (via, _) = VIAS[self.source.weighted(VIAS.iter().map(|(_, weight)| *weight))];
        if known(via) { via } else { Via::Call }
    }

    fn dynamic(&mut self, returning: &[usize], via: Via) -> Value {
        if matches!(via, Via::Grad | Via::Jvp) {
            // What has a tangent.
            return array(DYNAMIC[self.source.below(6) as usize]);
        }
        if via == Via::Vmap && !self.is_plain {
            // equinox.filter_vmap maps over nothing else.
            return array(DYNAMIC[self.source.below(9) as usize]);
        }
        match self.source.below(13) {
            i @ 0..9 => array(DYNAMIC[i as usize]),
            9 => Value::Float(1.0),
            10 => Value::Int(1.into()),
            11 if !returning.is_empty() => {
                Form::Output(OutputForm { call: *self.source.pick(returning), path: vec![0] }).into()
            }
            _ => reference("x"),
        }
    }

    fn constant(&mut self) -> Value {
        let text = |text: &str| Value::from(Form::Str(text.to_owned()));
        match self.source.below(8) {
            0 => Value::Int(1.into()),
            1 => Value::Bool(true),
            2 => Value::Float(1.0),
            3 => Value::Int(2.into()),
            4 => text("a"),
            5 => Form::Tuple(vec![Value::Int(1.into())]).into(),
            6 => Form::Tuple(vec![Value::Bool(true)]).into(),
            _ => Value::None,
        }
    }
}

fn array(text: &str) -> Value {
    text.parse::<crate::case::Array>().expect("a literal array").into()
}
