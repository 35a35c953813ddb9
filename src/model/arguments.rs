//! Sorts the arguments of a call into dynamic leaves, treedefs and statics, as a profile says, and finds the errors that
//! come before any key is looked up.
//!
//! Sources: `jax/_src/api_util.py` (static arguments by number and name), `jaxlib/jax_jit.cc` (`ParseArguments`).

use std::borrow::Cow;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;

use super::called::signature_raises;
use super::flatten::{Flattening, flatten, flatten_among};
use super::leaf::{Leaf, LeafErrors, Leaves, Traits};
use super::object::{Kind, Obj, Raised};
use super::python;
use super::signature::Signature;
use super::treedef::{Path, Root, Tree, Treedef};
use super::view::{View, Views};
use crate::case::{Array, InShardings, JitOptions, Name, Sharding, Shardings, Split};
use crate::spec::{ArgumentStyle, ErrorStage, LeafRule, Profile};

/// A static, or a treedef: what is compared as Python objects, in the order of comparison.
#[derive(Debug, Clone)]
pub enum Item {
    Static { path: Path, value: Obj, keyword: bool, hash: u64 },
    Tree(Treedef),
}

/// A call's arguments, sorted.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    pub leaves: Rc<Leaves>,
    pub items: Rc<Vec<Item>>,
    pub form: Rc<CallForm>,
    /// How many of the items, the first ones, belong to the function and not to its arguments.
    pub function_items: usize,
    /// For `partition`: how many leaves the function, the first argument and the rest have.
    pub roots: Vec<usize>,
    /// The names as a `**kwargs` of the body has them.
    pub keywords_in_order: Vec<Name>,
    /// The parameters that take nothing, so that the body sees their defaults.
    pub omitted: Vec<Name>,
    /// Whether the body can be called so at all.
    pub bindable: bool,
    /// Whether a name is passed that a positional-only parameter has, too.
    pub names_twice: bool,
    /// What the fast path raises for a static that can't be hashed, where nothing else hashes it.
    pub unhashable: Option<Raised>,
    /// Under `jax.vmap`: how many elements there are.
    pub batch: Option<u64>,
    /// Under `jax.vjp` and `jax.jvp`: whether what is lowered is the function as it is.
    pub without_tangents: bool,
}

/// How a call is written, as far as keys have it.
#[derive(Debug, Default)]
pub struct CallForm {
    /// For `partition`: which leaves are dynamic.
    pub mask: Vec<bool>,
    pub positional: usize,
    pub keywords: Vec<Name>,
    pub static_positions: Vec<usize>,
    /// Whether statics are chosen by their names, too.
    pub chooses_by_name: bool,
    /// The numbers and names of what is donated, as the wrapper has them.
    pub donated: (Vec<i32>, Vec<Name>),
}

impl Arguments {
    /// The arguments of one element, under a `jax.vmap` over the first dimension of each.
    pub fn unbatched(mut self) -> Result<Self, Raised> {
        let value_error = || Raised::new("ValueError");
        // What was mapped before, by a vmap around this one, had a size of its own.
        let mut batch = None;
        for leaf in self.leaves.iter().filter(|leaf| is_passed(leaf.traits)) {
            let size = *leaf.aval.shape.first().ok_or_else(value_error)?;
            if batch.is_some_and(|batch| batch != size) {
                return Err(value_error());
            }
            batch = Some(size);
        }
        self.batch = Some(batch.ok_or_else(value_error)?);
        Rc::make_mut(&mut self.leaves).change_all(|traits| {
            if !is_passed(traits) {
                return;
            }
            let aval = Rc::make_mut(&mut traits.aval);
            aval.shape.remove(0);
            // Where it is remains that of the whole array; its type has what is explicit.
            if let Some(sharding) = aval.placement.as_mut().and_then(|at| at.sharding.as_mut())
                && !sharding.spec.is_empty()
                && !sharding.explicit.is_empty()
            {
                sharding.spec.remove(0);
            }
        });
        Ok(self)
    }
}

/// Whether a leaf is one of what is passed, and not of the function, which no `vmap` maps.
fn is_passed(leaf: &Traits) -> bool {
    leaf.tree.root != Root::Function
}

/// Whether there is anything that a `vmap` maps.
pub fn is_mapped(arguments: &Arguments) -> bool {
    arguments.leaves.iter().any(|leaf| is_passed(leaf.traits))
}

/// Whether the first dimension of a leaf is split over axes that are part of its type.
pub fn is_split_explicitly(leaf: Leaf<'_>) -> bool {
    let sharding = leaf.aval.placement.as_ref().and_then(|at| at.sharding.as_ref());
    let over = |named: &Sharding, split: &Split| split.axes().iter().any(|axis| named.explicit.contains(axis));
    sharding.is_some_and(|named| named.spec.first().is_some_and(|split| over(named, split)))
}

/// A call, as objects.
#[derive(Clone, Copy)]
pub struct Invocation<'c> {
    pub function: &'c Obj,
    pub args: &'c [Obj],
    pub kwargs: &'c [(Name, Obj)],
    pub options: &'c JitOptions,
    pub views: &'c Views<'c>,
    /// What the positional arguments are called, where the function's own parameters don't say it.
    pub called: &'c [String],
    /// Whether it matters which objects the leaves are.
    pub objects: bool,
}

/// The positions and names of the static arguments of `call`.
pub fn statics(profile: &Profile, call: &Invocation<'_>) -> Result<(Vec<usize>, Vec<Name>), Raised> {
    let Statics { positions, names, .. } = Sorter::of(profile, call).statics()?;
    Ok((positions, names))
}

/// What `jax.jit` itself raises for the options that choose arguments (`resolve_argnums`), before there is a call.
pub fn refused(profile: &Profile, call: &Invocation<'_>) -> Option<Raised> {
    let JitOptions { static_argnums, static_argnames, donate_argnums, donate_argnames, .. } = call.options;
    // It goes without a signature where there is none to be had (`fun_signature`).
    let raised = signature_raises(call.function, &profile.python)
        .filter(|Raised(class)| !matches!(&**class, "ValueError" | "TypeError"));
    if raised.is_some() {
        return raised;
    }
    let numbers = !static_argnums.is_empty() || !donate_argnums.is_empty();
    let chooses = (numbers || !static_argnames.is_empty() || !donate_argnames.is_empty())
        && profile.arguments == ArgumentStyle::AsWritten
        && Signature::is_known(call.function, &profile.python);
    if !chooses {
        return None;
    }
    let sorter = Sorter::of(profile, call);
    (!python::is_data(call.function)).then(|| sorter.statics().err().or_else(|| sorter.donated().err())).flatten()
}

/// Sorts the arguments of `call`.
pub fn sort(profile: &Profile, call: &Invocation<'_>) -> Result<Arguments, Raised> {
    let is_loop = matches!(profile.arguments, ArgumentStyle::ControlFlow(_));
    if !is_loop && python::is_data(call.function) {
        return Err(Raised::new("TypeError"));
    }
    let sorter = Sorter::of(profile, call);
    match &profile.arguments {
        // What the functions of a loop are given is what they are called with.
        ArgumentStyle::AsWritten | ArgumentStyle::ControlFlow(_) => sorter.as_written(),
        // Which binds the arguments itself.
        ArgumentStyle::Partition if !Signature::is_known(call.function, &profile.python) => {
            Err(signature_raises(call.function, &profile.python).unwrap_or_else(|| Raised::new("ValueError")))
        }
        ArgumentStyle::Partition => sorter.partition(),
    }
}

pub(super) struct Sorter<'c> {
    pub(super) profile: &'c Profile,
    pub(super) call: &'c Invocation<'c>,
    pub(super) signature: Signature<'c>,
    pub(super) flattening: Flattening<'c>,
}

/// The dynamic leaves that were found, in order.
#[derive(Default)]
pub(super) struct Found {
    pub(super) leaves: Leaves,
    pub(super) faults: Faults,
    /// The last number of traits of the arrays among them, by what they are: in one argument they have one.
    pub(super) traits: Vec<Option<u32>>,
    /// Those that may be there once.
    alone: Vec<*const Kind>,
}

/// The traits of arrays of an argument that were met last, by their addresses: what has one lives as long as the call.
#[derive(Default)]
pub(super) struct Recent {
    traits: [Option<(NonNull<Array>, u32)>; 4],
    next: usize,
}

impl Recent {
    fn get(&self, array: &Arc<Array>) -> Option<u32> {
        let address = NonNull::from(&**array);
        self.traits.iter().flatten().find(|(known, _)| *known == address).map(|(_, traits)| *traits)
    }

    fn remember(&mut self, array: &Arc<Array>, traits: u32) {
        self.traits[self.next] = Some((NonNull::from(&**array), traits));
        self.next = (self.next + 1) % self.traits.len();
    }
}

/// What holds for all leaves of an argument.
pub(super) struct Argument<'t> {
    pub(super) tree: &'t Rc<Tree>,
    pub(super) asked: Option<&'t Shardings>,
    /// How many leaves come before its own.
    pub(super) before: usize,
    pub(super) kept: bool,
    pub(super) donated: bool,
}

/// The arguments that are static.
struct Statics {
    /// Their positions, ascending, each once.
    positions: Vec<usize>,
    /// Those that are written more than once, where that counts.
    repeated: Vec<usize>,
    names: Vec<Name>,
    /// Negative positions beyond the first argument of the call.
    before_first: Vec<i32>,
}

/// What the stages before the look-up found; which of the errors is raised is up to the profile.
#[derive(Default)]
pub(super) struct Faults {
    /// That of the first leaf whose fault the fast path doesn't see. Where another leaf has none to offer, it comes first if it
    /// stands first.
    missed: Option<Raised>,
    leaf: Option<Raised>,
    hash: Option<Raised>,
}

impl<'c> Sorter<'c> {
    fn of(profile: &'c Profile, call: &'c Invocation<'c>) -> Self {
        Self { profile, call, signature: Signature::of(call.function), flattening: Flattening::of(profile) }
    }

    fn as_written(&self) -> Result<Arguments, Raised> {
        let Invocation { args, kwargs, .. } = self.call;
        let Statics { positions: numbers, repeated, names, before_first } = self.statics()?;
        // Where they count from the end of the call, that is jaxlib's to do, which comes first.
        if !before_first.is_empty() && self.profile.negative_argnums_count_from_call {
            return Err(Raised::new("ValueError"));
        }
        let donated = self.donated()?;
        let mut kwargs: Vec<_> = kwargs.iter().collect();
        let written: Vec<Name> =
            kwargs.iter().map(|(name, _)| name.clone()).filter(|name| names.contains(name)).collect();
        kwargs.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut found = Found::default();
        let (mut trees, mut statics) = (Vec::new(), Vec::new());
        let mut static_positions = Vec::new();
        let mut keywords = Vec::new();
        let mut shardings = self.shardings(&numbers)?.into_iter();
        let mut modules = Vec::new();
        let mut argument = |root: Root, value: &Obj, is_static: bool, keyword: bool, used: bool, given: bool| {
            if is_static {
                let hash = self.hash(value, &mut found.faults);
                statics.push(Item::Static { path: Path::argument(root), value: value.clone(), keyword, hash });
                return Ok(());
            }
            let asked = if keyword && !self.call.options.moves() { None } else { shardings.next().flatten() };
            let asked = asked.as_deref();
            let tree = Tree::of(root);
            let before = found.leaves.len();
            let argument = Argument { tree: &tree, asked, before, kept: used, donated: given };
            let mut count = 0;
            let mut recent = Recent::default();
            let leaf = |node, object: &Obj| {
                count += 1;
                self.leaf(node, object, &argument, &mut recent, &mut found);
            };
            trees.push(Item::Tree(flatten_among(&tree, value, &self.flattening, &mut modules, leaf)?));
            match asked {
                Some(Shardings::Tree(tree)) if tree.leaves.len() != count => Err(Raised::new("ValueError")),
                _ => Ok(()),
            }
        };
        for (i, value) in args.iter().enumerate() {
            // Where they are rebased they count the dynamic arguments only.
            let number = if self.profile.rebases_donation { i - static_positions.len() } else { i };
            let is_static = numbers.contains(&i);
            if is_static {
                static_positions.push(i);
            }
            let given = donated.0.iter().any(|donated| usize::try_from(*donated) == Ok(number));
            argument(self.root(i), value, is_static, false, self.uses(self.signature.at(i)), given)?;
        }
        for (name, value) in kwargs {
            let parameter = if self.signature.has_named(name) { Some(name) } else { self.signature.keywords };
            let (is_static, given) = (names.contains(name), donated.1.contains(name));
            argument(Root::Named(name.clone()), value, is_static, true, self.uses(parameter), given)?;
            keywords.push(name.clone());
        }
        let unhashable = self.raise(found.faults)?;
        // They are counted round, but not everywhere, so that the leaves of one argument are too many.
        let has_leaves = |n: &i32| {
            let round = usize::try_from(n.rem_euclid(i32::try_from(args.len()).unwrap_or(i32::MAX).max(1)));
            let value = round.ok().and_then(|i| args.get(i));
            let flat = value.map(|value| flatten(Root::Called("static".into()), value, &self.flattening));
            flat.is_some_and(|flat| flat.is_ok_and(|flat| !flat.leaves.is_empty()))
        };
        if before_first.iter().any(has_leaves) {
            return Err(Raised::new("AssertionError"));
        }
        let mut items = trees;
        items.append(&mut statics);
        // Each repetition is one more argument for the body.
        let repeated: Vec<usize> = repeated.into_iter().filter(|i| *i < args.len()).collect();
        let bindable = self.signature.accepts(args.len() + repeated.len(), self.call.kwargs);
        static_positions.extend(repeated);
        let keywords_in_order = self.in_order(&keywords, written);
        let chooses_by_name = !names.is_empty();
        let positional = args.len();
        let form = CallForm { mask: Vec::new(), positional, keywords, static_positions, chooses_by_name, donated };
        Ok(Arguments {
            leaves: Rc::new(found.leaves),
            items: Rc::new(items),
            form: Rc::new(form),
            keywords_in_order,
            omitted: self.signature.omitted(args.len(), self.call.kwargs),
            function_items: 0,
            roots: Vec::new(),
            bindable,
            names_twice: bindable && self.call.kwargs.iter().any(|(name, _)| self.signature.is_positional_only(name)),
            unhashable,
            batch: None,
            without_tangents: false,
        })
    }

    /// The sharding that `in_shardings` has for each dynamic positional argument (`flatten_axis_resources`).
    fn shardings(&self, statics: &[usize]) -> Result<Vec<Option<Cow<'c, Shardings>>>, Raised> {
        let Some(asked) = &self.call.options.in_shardings else { return Ok(Vec::new()) };
        let count = (0..self.call.args.len()).filter(|i| !statics.contains(i)).count();
        let keywords = self.call.kwargs.len();
        if keywords > 0 && !self.call.options.moves() {
            return Err(Raised::new("ValueError"));
        }
        match asked {
            InShardings::All(place) => Ok(vec![Some(Cow::Owned(Shardings::All(place.clone()))); count + keywords]),
            InShardings::Each(places) if places.len() == count => {
                Ok(places.iter().map(|places| places.as_ref().map(Cow::Borrowed)).collect())
            }
            InShardings::Each(_) => Err(Raised::new("ValueError")),
        }
    }

    /// What a positional argument is called.
    pub(super) fn root(&self, i: usize) -> Root {
        match (self.call.called.get(i), self.signature.positional.get(i)) {
            (Some(name), _) => Root::Called(name.clone().into()),
            (None, Some(name)) => Root::Named(Name::clone(name)),
            (None, None) => match self.signature.rest.flatten() {
                Some(rest) => Root::Rest(rest.clone(), i - self.signature.positional.len()),
                None => Root::Argument(i),
            },
        }
    }

    /// The order of keywords that a `**kwargs` of the body shows: sorted, but statics as they are written at some versions.
    fn in_order(&self, sorted: &[Name], written: Vec<Name>) -> Vec<Name> {
        match &self.signature.keywords {
            Some(_) if self.profile.static_keywords_as_written => {
                sorted.iter().filter(|name| !written.contains(name)).cloned().chain(written.clone()).collect()
            }
            _ => sorted.to_vec(),
        }
    }

    pub(super) fn uses(&self, parameter: Option<&Name>) -> bool {
        let Kind::Function(function) = &**passed_on(self.call.function) else { return true };
        match (&function.uses, parameter) {
            (Some(uses), Some(parameter)) => self.call.options.keep_unused || uses.contains(parameter),
            _ => true,
        }
    }

    /// Which arguments are static; an error where the options are refused, by `jax.jit` itself or by the first call.
    fn statics(&self) -> Result<Statics, Raised> {
        let JitOptions { static_argnums, static_argnames, donate_argnames, donate_argnums, .. } = self.call.options;
        let (numbers, names) = self.completed(static_argnums, static_argnames)?;
        let (_, donated) = self.completed(donate_argnums, donate_argnames)?;
        if names.iter().any(|name| donated.contains(name)) {
            return Err(Raised::new("ValueError"));
        }
        // Negative numbers count from the end of the signature, or of the call: by version, and where the signature has
        // no end.
        let end = if self.signature.rest.flatten().is_some() || self.profile.negative_argnums_count_from_call {
            self.call.args.len()
        } else {
            self.signature.positional.len()
        };
        let end = i32::try_from(end).unwrap_or(i32::MAX);
        let absolute = |n: &i32| usize::try_from(if *n < 0 { n + end } else { *n }).ok();
        let mut positions: Vec<usize> = numbers.iter().filter_map(absolute).collect();
        let before_first = numbers.iter().copied().filter(|n| absolute(n).is_none()).collect();
        positions.sort_unstable();
        let twice = |pair: &[usize]| (pair[0] == pair[1] && self.profile.rebases_donation).then_some(pair[0]);
        let repeated = positions.windows(2).filter_map(twice).collect();
        positions.dedup();
        Ok(Statics { positions, repeated, names, before_first })
    }

    /// The numbers and names of what is donated, as the wrapper has them (`resolve_argnums`).
    fn donated(&self) -> Result<(Vec<i32>, Vec<Name>), Raised> {
        let JitOptions { static_argnums, static_argnames, donate_argnames, donate_argnums, .. } = self.call.options;
        let (mut numbers, names) = self.completed(donate_argnums, donate_argnames)?;
        if self.profile.rebases_donation {
            let (mut statics, _) = self.completed(static_argnums, static_argnames)?;
            statics.sort_unstable();
            statics.dedup();
            numbers.sort_unstable();
            numbers.dedup();
            if numbers.iter().any(|number| statics.contains(number)) {
                return Err(Raised::new("ValueError"));
            }
            let before = |number: i32| statics.iter().filter(|other| **other < number).count();
            numbers.iter_mut().for_each(|number| *number -= i32::try_from(before(*number)).unwrap_or(0));
        } else if self.signature.rest.flatten().is_none() && !self.profile.negative_argnums_count_from_call {
            let count = i32::try_from(self.signature.positional.len()).unwrap_or(i32::MAX);
            numbers.iter_mut().filter(|number| **number < 0).for_each(|number| *number += count);
        }
        Ok((numbers, names))
    }

    /// The numbers and names that choose arguments, as they are written: each completes the other from the signature if only
    /// one was given (`infer_argnums_and_argnames`).
    fn completed(&self, numbers: &[i32], names: &[Name]) -> Result<(Vec<i32>, Vec<Name>), Raised> {
        let value_error = || Raised::new("ValueError");
        let known = &self.signature.positional;
        let number = |i: usize| i32::try_from(i).unwrap_or(i32::MAX);
        let count = number(known.len());
        if self.signature.rest.flatten().is_none() && numbers.iter().any(|n| *n >= count || *n < -count) {
            return Err(value_error());
        }
        let is_known = |name: &Name| self.signature.has_named(name);
        if self.signature.rest.flatten().is_some_and(|rest| names.contains(rest)) {
            return Err(value_error());
        }
        if self.signature.keywords.is_none() && !names.iter().all(is_known) {
            return Err(value_error());
        }
        let (mut numbers, mut names) = (numbers.to_vec(), names.to_vec());
        if numbers.is_empty() {
            let named = known.iter().enumerate().skip(self.signature.positional_only);
            numbers.extend(named.filter(|(_, name)| names.contains(**name)).map(|(i, _)| number(i)));
        } else if names.is_empty() {
            let from_the_end = |i: usize| {
                let all = self.signature.parameters();
                !self.profile.negative_argnums_count_from_call && numbers.contains(&(number(i) - number(all)))
            };
            let is_chosen = |i: &usize| numbers.contains(&number(*i)) || from_the_end(*i);
            names.extend((self.signature.positional_only..known.len()).filter(is_chosen).map(|i| known[i].clone()));
        }
        Ok((numbers, names))
    }

    pub(super) fn hash(&self, value: &Obj, faults: &mut Faults) -> u64 {
        match python::hash(value) {
            Ok(hash) => hash,
            Err(raised) => {
                let class = if raised.0 == "TypeError" { Raised::new(&self.profile.unhashable) } else { raised };
                faults.hash.get_or_insert(class);
                0
            }
        }
    }

    /// Raises what is raised before any look-up; what the fast path alone raises comes back.
    pub(super) fn raise(&self, faults: Faults) -> Result<Option<Raised>, Raised> {
        let Faults { mut leaf, mut hash, .. } = faults;
        let unhashable = hash.take_if(|_| self.profile.fast_path_alone_hashes);
        for stage in &self.profile.errors {
            let fault = match stage {
                ErrorStage::Flatten => None,
                ErrorStage::Leaf => leaf.take(),
                ErrorStage::Hash => hash.take(),
            };
            if let Some(raised) = fault {
                return Err(raised);
            }
        }
        Ok(unhashable)
    }

    /// A dynamic leaf. An invalid one is a fault.
    #[inline]
    pub(super) fn leaf(
        &self,
        node: u32,
        object: &Obj,
        argument: &Argument<'_>,
        recent: &mut Recent,
        found: &mut Found,
    ) {
        let traits = match &**object {
            Kind::Array(array) if !matches!(argument.asked, Some(Shardings::Tree(_))) => {
                let known = recent.get(array);
                known.or_else(|| {
                    let traits = self.traits_of_array(array, argument, found)?;
                    recent.remember(array, traits);
                    Some(traits)
                })
            }
            _ => self.traits_of_value(object, argument, found),
        };
        if let Some(traits) = traits {
            found.leaves.push(node, traits, Some(object).filter(|_| self.call.objects));
        }
    }

    /// The number of the traits of an array, which those like it in the argument share.
    fn traits_of_array(&self, array: &Arc<Array>, argument: &Argument<'_>, found: &mut Found) -> Option<u32> {
        let Found { leaves, faults, traits, .. } = found;
        let (number, view) = self.call.views.of_array(array);
        if traits.len() <= number {
            traits.resize(number + 1, None);
        }
        let traits = &mut traits[number];
        if traits.is_none_or(|traits| !leaves.are_of(traits, argument.tree)) {
            *traits = self.traits(&view, argument, 0, faults).map(|traits| leaves.add(traits));
        }
        *traits
    }

    fn traits_of_value(&self, object: &Obj, argument: &Argument<'_>, found: &mut Found) -> Option<u32> {
        let Found { leaves, faults, alone, .. } = found;
        let i = leaves.len() - argument.before;
        let view = self.call.views.of_value(object);
        let mut traits = self.traits(&view, argument, i, faults)?;
        if let Some(class) = view.rule.and_then(|i| self.profile.leaves[i].error_when_twice.as_deref()) {
            if alone.contains(&Rc::as_ptr(object)) {
                traits.errors.get_or_insert_default().missed = Some(Raised::new(class));
            }
            alone.push(Rc::as_ptr(object));
        }
        Some(leaves.add(traits))
    }

    /// What holds for leaf `i` of the argument, and for those like it if all have one sharding.
    fn traits(&self, view: &View, argument: &Argument<'_>, i: usize, faults: &mut Faults) -> Option<Traits> {
        let rule = view.rule.map(|i| &self.profile.leaves[i]);
        let (Some(rule), Some(aval)) = (rule, &view.aval) else {
            let class = rule.and_then(|rule| rule.error.as_deref()).unwrap_or("TypeError");
            let first = faults.missed.take().unwrap_or_else(|| Raised::new(class));
            faults.leaf.get_or_insert(first);
            return None;
        };
        let LeafRule { error_when_missed, error_when_used, error_when_lowered, never_fast, .. } = rule;
        let &Argument { tree, asked, kept, donated, .. } = argument;
        let raised = |class: &Option<String>| class.as_deref().map(Raised::new);
        let raises = [error_when_missed, error_when_used, error_when_lowered].into_iter().any(Option::is_some);
        let errors = raises.then(|| {
            faults.missed = faults.missed.take().or_else(|| raised(error_when_missed));
            Box::new(LeafErrors {
                kind: Some(view.kind),
                missed: raised(error_when_missed),
                kept: raised(error_when_used).filter(|_| kept),
                lowered: raised(error_when_lowered),
                fast: None,
            })
        });
        let asked = asked.and_then(|places| places.of_leaf(i)).cloned().map(Rc::new);
        let (tree, aval, never_fast) = (Rc::clone(tree), Rc::clone(aval), *never_fast);
        Some(Traits { tree, aval, asked, errors, kept, donated, never_fast })
    }
}

/// The function that is given what `function` is, by its parameters: what isn't used there is used by nothing in between.
fn passed_on(function: &Obj) -> &Obj {
    match &**function {
        Kind::Jitted(inner, _)
        | Kind::Checkpointed(inner)
        | Kind::Mapped(inner)
        | Kind::ModuleWrapper("filter_jit", inner, _) => passed_on(inner),
        Kind::Partial { func, .. } | Kind::TreePartial { func, .. } => passed_on(func),
        _ => function,
    }
}
