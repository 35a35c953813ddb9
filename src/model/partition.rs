//! What `filter_jit` makes of the arguments of a call: arrays are traced, all else is static.
//!
//! Sources: `equinox/_jit.py` and `equinox/_compile_utils.py` (binding to the signature, `hashable_partition`).

use std::rc::Rc;

use super::arguments::{Argument, Arguments, CallForm, Found, Invocation, Item, Recent, Sorter};
use super::flatten::{Flat, flatten, text};
use super::object::{Kind, Obj, Raised};
use super::python;
use super::treedef::{Path, Root};
use crate::case::{Donate, InShardings, JitOptions, Name, Shardings};
use crate::spec::Role;

/// Which leaves are dynamic, how many each root has, and the rest.
#[derive(Default)]
struct Partition {
    mask: Vec<bool>,
    roots: Vec<usize>,
    items: Vec<Item>,
}

impl Sorter<'_> {
    pub(super) fn partition(&self) -> Result<Arguments, Raised> {
        let Invocation { function, args, kwargs, options, .. } = self.call;
        // `filter_jit` refuses the options of `jax.jit` that choose arguments, and words of `donate` that it doesn't have.
        let JitOptions { static_argnums, static_argnames, donate_argnums, donate_argnames, .. } = options;
        if !static_argnums.is_empty()
            || !static_argnames.is_empty()
            || !donate_argnums.is_empty()
            || !donate_argnames.is_empty()
            || options.donate == Some(Donate::Bogus)
        {
            return Err(Raised::new("ValueError"));
        }
        if !self.signature.accepts(args.len(), kwargs) {
            return Err(Raised::new("TypeError"));
        }
        // `inspect.BoundArguments`: what can be passed by position is, up to the first parameter that is missing.
        let mut bound: Vec<Obj> = args.to_vec();
        let mut named: Vec<&(Name, Obj)> = kwargs.iter().collect();
        for parameter in self.signature.positional.iter().skip(args.len()) {
            let Some(i) = named.iter().position(|(name, _)| name == *parameter) else { break };
            bound.push(named.remove(i).1.clone());
        }
        let mut found = Found::default();
        let mut sorted = Partition::default();
        let flat = |root: Root, value: &Obj| flatten(root, value, &self.flattening);
        let mut roots = vec![(flat(Root::Function, function)?, true)];
        let none: Obj = Rc::new(Kind::None);
        let positional = bound.len();
        // The rest ends in a dummy None, so that there is always a first argument. Nobody passes it.
        bound.push(none);
        let root = |i: usize| if i == positional { Root::Called("(none)".into()) } else { self.root(i) };
        let mut arguments = bound.iter().enumerate();
        if let Some((i, first)) = arguments.next() {
            roots.push((flat(root(i), first)?, self.uses(self.signature.at(i))));
        }
        let mut rest_tree = Vec::new();
        for (i, value) in arguments {
            rest_tree.push((flat(root(i), value)?, self.uses(self.signature.at(i))));
        }
        let keywords: Vec<_> = named.iter().map(|(name, value)| (text(name), value.clone())).collect();
        let mut passed = Vec::new();
        for (name, value) in python::sort_by_key(keywords)? {
            let Kind::Str(name) = &*name else { unreachable!("keyword names are strings") };
            rest_tree.push((flat(Root::Called(name.clone().into()), &value)?, true));
            passed.push(Name::new(name.as_str()).expect("it was a name before"));
        }
        // `donate=`: the function goes with the rest.
        let rest_is_given = options.donate.is_some();
        let first_is_given = matches!(options.donate, Some(Donate::All | Donate::Warn));
        // The statics of a root come before its treedef; the rest is one root.
        let mut function_items = 0;
        for (i, (tree, used)) in roots.into_iter().enumerate() {
            let given = if i == 0 { rest_is_given } else { first_is_given };
            self.partition_root(vec![(tree, used)], given, &mut sorted, &mut found);
            if function_items == 0 {
                function_items = sorted.items.len();
            }
        }
        self.partition_root(rest_tree, rest_is_given, &mut sorted, &mut found);
        let unhashable = self.raise(found.faults)?;
        let Partition { mask, roots, items } = sorted;
        let form = CallForm { mask, positional, keywords: passed, ..CallForm::default() };
        Ok(Arguments {
            leaves: Rc::new(found.leaves),
            items: Rc::new(items),
            form: Rc::new(form),
            function_items,
            roots,
            keywords_in_order: Vec::new(),
            omitted: self.signature.omitted(args.len(), kwargs),
            bindable: true,
            names_twice: false,
            unhashable,
            batch: None,
            without_tangents: false,
        })
    }

    fn partition_root(&self, trees: Vec<(Flat, bool)>, given: bool, sorted: &mut Partition, found: &mut Found) {
        let mut treedefs = Vec::new();
        sorted.roots.push(trees.iter().map(|(flat, _)| flat.leaves.len()).sum());
        // `device` and `backend` say where all of them are.
        let everywhere = match &self.call.options.in_shardings {
            Some(InShardings::All(place)) => Some(Shardings::All(place.clone())),
            _ => None,
        };
        for (Flat { leaves, treedef }, used) in trees {
            let asked = everywhere.as_ref();
            let argument = Argument { tree: &treedef.tree, asked, before: 0, kept: used, donated: given };
            let mut recent = Recent::default();
            for (node, value) in leaves {
                let role = self.call.views.role(&value);
                sorted.mask.push(role == Some(Role::Dynamic));
                if role == Some(Role::Static) {
                    let hash = self.hash(&value, &mut found.faults);
                    let path = Path::new(argument.tree, node);
                    sorted.items.push(Item::Static { path, value, keyword: false, hash });
                } else {
                    self.leaf(node, &value, &argument, &mut recent, found);
                }
            }
            treedefs.push(Item::Tree(treedef));
        }
        sorted.items.extend(treedefs);
    }
}
