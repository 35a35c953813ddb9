//! A call of a jitted function: its arguments are sorted, looked up, and what served it leaves something behind.

use std::rc::Rc;

use super::ambient::Ambient;
use super::arguments::{Arguments, Invocation, is_mapped, is_split_explicitly, refused, sort};
use super::called;
use super::compiled::Compiled;
use super::digest::Digest;
use super::flatten::is_unsortable;
use super::generation::is_kept;
use super::key::Ingredients;
use super::leaf::Traits;
use super::object::{Kind, Raised};
use super::predict::{ModelError, Objects, Prediction, Simulation};
use super::running::{body_output, returns_nothing, returns_what_it_uses, shardings_are_known};
use super::signature::Signature;
use super::transform::{Passed, differentiated, filtered, passed};
use super::walk::{Served, doubtful_option};
use super::wrapper::Options;
use crate::case::{Call, JitOptions, Verdict, Via};
use crate::spec::{ArgumentStyle, KeyedBy, NonFinite, WithoutTangents};

fn unknown<T>(what: impl Into<String>) -> Result<T, ModelError> {
    Err(ModelError::Unsupported(what.into()))
}

impl Simulation<'_> {
    pub(super) fn call(&mut self, call: &Call) -> Result<Prediction, ModelError> {
        let objects = &self.objects(call)?;
        if objects.ambient.guarded && self.profile.runs_operations {
            return unknown("what a transfer guard does to operations beside the program");
        }
        match (&self.profile.arguments, call.compiled) {
            (ArgumentStyle::ControlFlow(_), Some(_)) => unknown("compiled objects of loops"),
            (ArgumentStyle::ControlFlow(parameters), None) => self.call_eagerly(parameters, call, objects),
            (_, Some(number)) => self.call_compiled(number, call, objects),
            (_, None) => self.call_wrapper(call, objects),
        }
    }

    fn call_wrapper(&mut self, call: &Call, objects: &Objects) -> Result<Prediction, ModelError> {
        let Objects { function, args, kwargs, ambient } = objects;
        let asked = call.options.as_ref().unwrap_or(&self.case.options);
        let written = &self.options_of(call);
        self.knows_options(asked, written)?;
        let views = Rc::clone(self.views(ambient.x64));
        let (views, objects) = (&*views, self.objects_matter(written, ambient));
        let invocation = Invocation { function, args, kwargs, options: written, views, called: &[], objects };
        let unmade = self.unmade(asked, &invocation);
        let is_made = unmade.is_none();
        let generation = self.generations.generation(call, function, written);
        let fast = self.fast_arguments(&invocation);
        let (form, name) = (call.function.as_ref(), call.wrapper.as_ref());
        // What is traced may be the wrapper, as a function like any other.
        let itself = self.traces_the_wrapper(call.via).then(|| self.wrappers.itself(form, name, function, written));
        let (function, options) = match &itself {
            Some(wrapper) => (wrapper, &Options::default()),
            None => (function, written),
        };
        let passed = self.passed(call.via, &invocation)?;
        let (args, kwargs) = match &passed {
            Ok(Some((args, kwargs))) => (args, kwargs),
            _ => (args, kwargs),
        };
        let refused = passed.as_ref().err().cloned();
        let invocation = Invocation { function, args, kwargs, options, views, called: &[], objects };
        let sorted = match unmade.or(refused) {
            Some(raised) => Err(raised),
            None => self.sorted(call, &invocation, written, asked, ambient)?,
        };
        let owner = match &itself {
            Some(wrapper) => Rc::clone(wrapper),
            None => self.wrappers.of(self.profile.keyed_by, form, name, function, options),
        };
        let body_raises = match &sorted {
            Ok(arguments) => called::raises(function, call, args, arguments, self.profile)?,
            Err(_) => None,
        };
        let bypassed = is_made && ambient.bypasses && self.calls_the_wrapper(call.via);
        if bypassed && called::is_of_a_library(function) {
            return unknown("whether the body of a library's function ran");
        }
        let is_called = |arguments: &Arguments| {
            let is_as_called = self.profile.transformations.without_tangents == WithoutTangents::Called;
            (arguments.without_tangents && is_as_called)
                || (self.is_called_plainly(call.via) && arguments.batch.is_none())
        };
        let ingredients = sorted.as_ref().map(|arguments| Ingredients {
            function: &owner,
            arguments,
            invocation: Some(&invocation),
            options,
            ambient,
            via: if is_called(arguments) { Via::Call } else { call.via },
            wrapper: name,
            generation,
            primitive: None,
        });
        let outcome = match &ingredients {
            _ if bypassed => self.bypassed(&sorted, &invocation),
            Err(raised) => Err((*raised).clone()),
            Ok(_) if asked.moves() && self.profile.device_excludes_mesh && ambient.set_mesh.is_some() => {
                Err(Raised::new("ValueError"))
            }
            Ok(whole) => {
                let stated = call.raises.as_deref().or(ambient.trace_raises.as_deref());
                let fast = match &fast {
                    None => Some(*whole),
                    Some(Ok(arguments)) => Some(Ingredients { arguments, ..*whole }),
                    Some(Err(_)) => None,
                };
                self.walk(whole, fast.as_ref(), stated.map(Raised::new).or(body_raises))
            }
        };
        if let Some(unknown) = self.unknown.take() {
            return Err(unknown);
        }
        let (mut stale, mut stale_beside) = (None, Vec::new());
        let mut returned = call.returns.as_ref().map(|returns| self.stated(returns)).transpose()?;
        if let (Ok(served), Ok(whole)) = (&outcome, &ingredients) {
            if let Some(program) = served.program {
                let now = Ingredients { function, ..*whole };
                stale = self.stale(program, served.is_new, &now, call.raises.as_deref());
                if self.explains && stale.is_some() && !served.is_new {
                    stale_beside = Digest::of(&now).differences(self.digest(program));
                    stale_beside.retain(|also| Some(also) != stale.as_ref());
                }
            }
            match (call.via, served.program) {
                (Via::Call | Via::Vmap, _) if !bypassed => self.gone.donate(whole.arguments, ambient),
                (Via::Compile, Some(program)) => {
                    let (form, kept) = (call.function.clone(), is_kept(call));
                    let compiled = Compiled::of(form, kept, options, program, whole.arguments);
                    self.compiled.insert(self.calls, compiled);
                }
                _ => {}
            }
            let is_known = !matches!(**function, Kind::Class(_)) && !called::is_of_a_library(function);
            if returned.is_none() && is_known && !self.is_last {
                returned = Some(body_output(whole.arguments, options, ambient));
            }
        }
        self.names.returned(returned);
        let verdict =
            outcome.map_or_else(|Raised(class)| Verdict::Error(class), |Served { missed, .. }| Verdict::Missed(missed));
        Ok(Prediction { explanations: self.explanations(&verdict), verdict, stale, stale_beside })
    }

    fn knows_options(&self, asked: &JitOptions, options: &JitOptions) -> Result<(), ModelError> {
        if self.profile.statics_as_written && !options.static_argnums.is_sorted() {
            return unknown("static arguments that change places");
        }
        match doubtful_option(asked) {
            Some(option) if !self.profile.without_compiler_options => {
                unknown(format!("whether XLA takes `{option}` with that value"))
            }
            _ => Ok(()),
        }
    }

    /// What making the wrapper raises, or a call of any wrapper that is made so.
    fn unmade(&self, asked: &JitOptions, call: &Invocation<'_>) -> Option<Raised> {
        if asked.compiler_options.is_some() && self.profile.without_compiler_options {
            Some(Raised::new("TypeError"))
        } else if asked.contradict() || self.profile.always_gives_shardings && asked.moves() {
            Some(Raised::new("ValueError"))
        } else {
            refused(self.profile, call)
        }
    }

    /// What a transformation passes on to the wrapper that it calls, if that is something else than it is given itself, or
    /// raises at once.
    fn passed(&self, via: Via, call: &Invocation<'_>) -> Result<Result<Option<Passed>, Raised>, ModelError> {
        Ok(match (via, &self.profile.arguments) {
            (Via::Vmap | Via::Grad | Via::Jvp, ArgumentStyle::AsWritten) => passed(self.profile, via, call).map(Some),
            // What nnx.jit makes of the function is called inside of a trace, with tracers for its statics.
            (Via::EvalShape, _) if self.profile.keyed_by == KeyedBy::Wrapper && has_statics(call.options) => {
                passed(self.profile, Via::MakeJaxpr, call).map(Some)
            }
            (Via::Vmap | Via::Grad, ArgumentStyle::Partition) => {
                filtered(self.profile, via, call)?.map_or(Ok(None), Err)
            }
            _ => Ok(None),
        })
    }

    /// The arguments as the wrapper has them, or what they raise before anything is looked up.
    fn sorted(
        &self,
        call: &Call,
        invocation: &Invocation<'_>,
        written: &Options,
        asked: &JitOptions,
        ambient: &Ambient,
    ) -> Result<Result<Arguments, Raised>, ModelError> {
        let mut arguments = match sort(self.profile, invocation) {
            Ok(arguments) => arguments,
            Err(raised) => return Ok(Err(self.unsortable_ahead(call.via, invocation).unwrap_or(raised))),
        };
        // What a nan came from may be asked for.
        if ambient.returns_no.contains(&NonFinite::Nan) && arguments.leaves.iter().any(|leaf| leaf.donated) {
            Rc::make_mut(&mut arguments.leaves).change_all(|leaf| leaf.donated = false);
        }
        let count = arguments.leaves.len();
        for i in call.unused.iter().filter(|i| **i < count) {
            Rc::make_mut(&mut arguments.leaves).change(*i, Traits::leave_out);
        }
        self.gone.mark(&mut arguments, self.profile, ambient);
        if written.in_shardings.is_some() || written.out_shardings.is_some() {
            let unfit = shardings_are_known(self.profile, call, invocation.function, &arguments, written, ambient)?;
            if let Some(raised) = unfit {
                return Ok(Err(raised));
            }
        }
        // Which is looked for in each call.
        if asked.backend.as_deref().is_some_and(|platform| platform != "cpu") {
            return Ok(Err(Raised::new("RuntimeError")));
        }
        self.transformed(call.via, invocation, arguments)
    }

    /// What arguments that can't be flattened raise ahead of time, if that is something else than in a call.
    fn unsortable_ahead(&self, via: Via, call: &Invocation<'_>) -> Option<Raised> {
        let class = self.profile.unsortable_ahead.as_ref()?;
        let is_ahead = matches!(via, Via::Trace | Via::Lower | Via::Compile | Via::EvalShape | Via::MakeJaxpr);
        let mut values = call.args.iter().chain(call.kwargs.iter().map(|(_, value)| value));
        (is_ahead && !has_statics(call.options) && values.any(is_unsortable)).then(|| Raised::new(class))
    }

    /// Whether `via` calls the function itself where no argument is mapped.
    fn is_called_plainly(&self, via: Via) -> bool {
        self.profile.arguments == ArgumentStyle::Partition && via == Via::Vmap
    }

    /// The arguments of a wrapper below the transformation that calls it.
    fn transformed(
        &self,
        via: Via,
        call: &Invocation<'_>,
        arguments: Arguments,
    ) -> Result<Result<Arguments, Raised>, ModelError> {
        match (via, &self.profile.arguments) {
            (Via::Vmap, _) if arguments.leaves.iter().any(is_split_explicitly) => {
                unknown("vmap over an axis that is split explicitly")
            }
            (Via::Vmap, _) if self.is_called_plainly(via) && !is_mapped(&arguments) => {
                if returns_nothing(call.function) {
                    Ok(Ok(arguments))
                } else {
                    unknown("filter_vmap without an array to map over")
                }
            }
            (Via::Vmap, _) => Ok(arguments.unbatched()),
            (Via::Grad | Via::Jvp, ArgumentStyle::AsWritten | ArgumentStyle::Partition) => {
                let is_forwarded = via == Via::Grad && !call.options.keep_unused && returns_what_it_uses(call.function);
                Ok(differentiated(self.profile, via, arguments)?.map(|mut arguments| {
                    // What is returned as it was given is no argument of the program that is left.
                    if is_forwarded && !arguments.without_tangents {
                        Rc::make_mut(&mut arguments.leaves).change_all(Traits::leave_out);
                    }
                    arguments
                }))
            }
            _ => Ok(Ok(arguments)),
        }
    }

    /// What a call does where jit is off, and the wrapper calls the function itself.
    fn bypassed(&self, sorted: &Result<Arguments, Raised>, call: &Invocation<'_>) -> Result<Served, Raised> {
        let is_bound = || Signature::of(call.function).accepts(call.args.len(), call.kwargs);
        match sorted {
            Ok(arguments) if !arguments.bindable => Err(Raised::new("TypeError")),
            // Equinox binds the arguments itself.
            Err(raised) if self.profile.arguments == ArgumentStyle::Partition && !is_bound() => Err(raised.clone()),
            _ => Ok(Served::by_nothing()),
        }
    }

    /// Whether the wrapper itself is called, and not one of its methods.
    fn calls_the_wrapper(&self, via: Via) -> bool {
        match via {
            Via::Call | Via::Vmap | Via::Grad | Via::Jvp => true,
            Via::MakeJaxpr | Via::EvalShape => !self.traces_the_wrapper(via) && !self.evaluates_shapes_itself(via),
            Via::Trace | Via::Lower | Via::Compile => false,
        }
    }

    fn evaluates_shapes_itself(&self, via: Via) -> bool {
        via == Via::EvalShape && self.profile.evaluates_shapes_itself
    }

    /// Whether the wrapper is traced as a function like any other, in a `jax.jit` of its own.
    fn traces_the_wrapper(&self, via: Via) -> bool {
        self.profile.arguments == ArgumentStyle::AsWritten
            && self.profile.keyed_by == KeyedBy::Function
            && matches!(via, Via::MakeJaxpr | Via::EvalShape)
            && !self.evaluates_shapes_itself(via)
    }

    /// The arguments as the fast path sorts them, where it sorts them otherwise; an error where it can't describe them.
    fn fast_arguments(&self, call: &Invocation<'_>) -> Option<Result<Arguments, Raised>> {
        let negative = call.options.static_argnums.iter().any(|number| *number < 0);
        if !negative || !self.profile.fast_path_overlooks_negative_argnums {
            return None;
        }
        let mut options = call.options.clone();
        options.static_argnums.retain(|number| *number >= 0);
        Some(sort(self.profile, &Invocation { options: &options, ..*call }))
    }
}

/// Whether a wrapper with these options has static arguments.
fn has_statics(options: &JitOptions) -> bool {
    !options.static_argnums.is_empty() || !options.static_argnames.is_empty()
}
