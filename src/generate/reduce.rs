//! Shrinking on the case: parts are taken away as long as it still shows what it has to.
//!
//! Choices ([`shrink`](super::shrink)) can't leave out what every pair is given, such as a third call or a class that only
//! another part of the rule uses. A part is whatever the text of a case can do without: a step, an argument, an element, a
//! container around a value, an object, a class, an option, a flag.

use serde_json::Value as Tree;

use super::descent::{Descent, Simpler};
use crate::case::{Case, Class};

/// A case without one part of another.
#[derive(Debug, Clone, PartialEq)]
pub struct Reduction {
    /// What is left.
    pub case: Case,
    /// Whether what the calls differ in, and the position at which it stands, are what they were: a sibling is gone, or a
    /// container around a part of an argument, or what nothing used. What a rule says of the case it says of this one, too.
    pub neutral: bool,
}

/// The smallest case that `fails` still accepts, starting from `case`, which it accepts: none of its [`reductions`] is
/// accepted.
pub fn reduce(case: Case, fails: impl FnMut(&Reduction) -> bool) -> Case {
    Descent::new(Reduction { case, neutral: true }).run(usize::MAX, fails).case
}

/// Every case that is `case` without one part: what stands in all calls is left out of all of them, and of each alone.
pub fn reductions(case: &Case) -> impl Iterator<Item = Reduction> {
    edits(case).into_iter().filter_map(|edit| edit.apply(case))
}

impl Simpler for Reduction {
    type Edit = Edit;

    fn edits(&self) -> Vec<Edit> {
        edits(&self.case)
    }

    fn edited(&self, edit: &Edit) -> Option<Self> {
        edit.apply(&self.case)
    }
}

/// A way into the text of a case.
type Path = Vec<Segment>;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    Key(String),
    Index(usize),
}

/// A part that could be left out.
#[derive(Debug)]
pub struct Edit {
    /// Where; below `steps` relative to a call.
    at: Path,
    left: Left,
    /// The steps whose calls are edited, if it is one within calls.
    calls: Option<Vec<usize>>,
}

/// What takes the place of a part.
#[derive(Debug, Clone)]
enum Left {
    /// It is left out.
    Nothing,
    /// What stands there in it.
    Part(Path),
    /// A smaller number: of levels, or of times.
    Number(u64),
}

/// The largest parts first.
fn edits(case: &Case) -> Vec<Edit> {
    let tree = tree(case);
    let mut all: Vec<(usize, Edit)> = Vec::new();
    let calls: Vec<(usize, &Tree)> = tree["steps"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
        .filter_map(|(i, step)| Some((i, step.get("call")?)))
        .collect();
    walk(&tree, &mut Vec::new(), &mut |at, part, left| {
        // What is in a call comes below, for one and for several.
        let in_call = matches!(at, [Segment::Key(steps), Segment::Index(_), Segment::Key(call), _, ..] if steps == "steps" && call == "call");
        let all_steps = matches!(at, [Segment::Key(steps)] if steps == "steps");
        if !in_call && !all_steps {
            all.push((size(part), Edit { at: at.to_vec(), left, calls: None }));
        }
    });
    for (i, call) in &calls {
        walk(call, &mut Vec::new(), &mut |at, part, left| {
            let others: Vec<usize> =
                calls.iter().filter(|(_, other)| follow(other, at).is_some()).map(|(other, _)| *other).collect();
            if others.len() > 1 && others.first() == Some(i) {
                let edit = Edit { at: at.to_vec(), left: left.clone(), calls: Some(others) };
                all.push((2 * size(part), edit));
            }
            all.push((size(part), Edit { at: at.to_vec(), left, calls: Some(vec![*i]) }));
        });
    }
    all.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    all.into_iter().map(|(_, edit)| edit).collect()
}

/// Tells `each` every part of a tree: where it is, and what would be left of it.
fn walk(tree: &Tree, at: &mut Path, each: &mut impl FnMut(&[Segment], &Tree, Left)) {
    let inside: Vec<(Segment, &Tree)> = children(tree);
    if !at.is_empty() {
        each(at, tree, Left::Nothing);
        if let ([.., Segment::Key(form), Segment::Key(part)], Some(number @ 2..)) = (&at[..], tree.as_u64())
            && matches!((&form[..], &part[..]), ("nest", "levels") | ("repeat", "times"))
        {
            [number / 2, number - 1].into_iter().for_each(|number| each(at, tree, Left::Number(number)));
        }
        let mut below: Vec<(Path, &Tree)> = vec![(Vec::new(), tree)];
        // `{new: {fields: {a: …}}}` is the longest way from a value to one that it holds.
        for _ in 0..4 {
            below = below
                .into_iter()
                .flat_map(|(path, part)| {
                    let longer = |segment| path.iter().cloned().chain([segment]).collect();
                    children(part).into_iter().map(move |(segment, child)| (longer(segment), child)).collect::<Vec<_>>()
                })
                .collect();
            for (path, _) in &below {
                each(at, tree, Left::Part(path.clone()));
            }
        }
    }
    for (segment, child) in inside {
        at.push(segment);
        walk(child, at, each);
        at.pop();
    }
}

fn children(tree: &Tree) -> Vec<(Segment, &Tree)> {
    match tree {
        Tree::Array(items) => items.iter().enumerate().map(|(i, item)| (Segment::Index(i), item)).collect(),
        Tree::Object(map) => map.iter().map(|(key, value)| (Segment::Key(key.clone()), value)).collect(),
        _ => Vec::new(),
    }
}

fn size(tree: &Tree) -> usize {
    1 + children(tree).into_iter().map(|(_, child)| size(child)).sum::<usize>()
}

fn follow<'t>(tree: &'t Tree, at: &[Segment]) -> Option<&'t Tree> {
    at.iter().try_fold(tree, |tree, segment| match segment {
        Segment::Key(key) => tree.get(key),
        Segment::Index(i) => tree.get(i),
    })
}

fn tree(case: &Case) -> Tree {
    serde_json::to_value(case).expect("every case has a text form")
}

impl Edit {
    /// The case without the part, if that is one.
    fn apply(&self, case: &Case) -> Option<Reduction> {
        let whole = tree(case);
        let neutral = self.is_neutral(case, &whole);
        let mut tree = whole.clone();
        match &self.calls {
            None => edit(&mut tree, &self.at, &self.left)?,
            Some(calls) => {
                for step in calls {
                    edit(&mut tree["steps"][step]["call"], &self.at, &self.left)?;
                }
                if let ([Segment::Key(args), Segment::Index(i)], Left::Nothing) = (&self.at[..], &self.left)
                    && args == "args"
                {
                    if let Some(options) = tree.get_mut("options") {
                        forget_position(options, *i);
                    }
                    for step in calls {
                        if let Some(options) = tree["steps"][step]["call"].get_mut("options") {
                            forget_position(options, *i);
                        }
                    }
                }
            }
        }
        let smaller: Case = serde_json::from_value(tree).ok()?;
        // A case with a nan is equal to nothing, itself included.
        let is_smaller = self::tree(&smaller) != whole;
        (is_smaller && smaller.validate().is_ok()).then_some(Reduction { case: smaller, neutral })
    }
}

impl Edit {
    /// Whether it takes away only what is the same in all calls, and changes no position.
    fn is_neutral(&self, case: &Case, tree: &Tree) -> bool {
        let Some(calls) = &self.calls else {
            let unused =
                |segment: &Segment| ["classes", "objects"].iter().any(|key| *segment == Segment::Key((*key).into()));
            return self.at.len() == 2 && matches!(self.left, Left::Nothing) && unused(&self.at[0]);
        };
        let dynamic = match &self.at[..] {
            [Segment::Key(args), Segment::Index(i), ..] if args == "args" => {
                let numbers = &case.options.static_argnums;
                numbers.iter().all(|n| usize::try_from(*n).is_ok_and(|n| n != *i))
            }
            [Segment::Key(kwargs), Segment::Key(name), ..] if kwargs == "kwargs" => {
                case.options.static_argnames.iter().all(|other| other.as_str() != name)
            }
            _ => return false,
        };
        let all = calls.len() == case.calls().count() && case.calls().all(|call| call.options.is_none());
        // What goes, with what stays of it taken out.
        let rest = |step: &usize| -> Option<Tree> {
            let mut part = follow(&tree["steps"][step]["call"], &self.at)?.clone();
            if let Left::Part(keep) = &self.left {
                *keep.iter().try_fold(&mut part, part_mut)? = Tree::Null;
            }
            Some(part)
        };
        let same = calls.iter().all(|step| rest(step) == rest(&calls[0]));
        let level = match &self.left {
            Left::Nothing => true,
            Left::Part(keep) => {
                let part = follow(&tree["steps"][calls[0]]["call"], &self.at);
                dynamic && part.is_some_and(|part| is_child(case, part, keep))
            }
            Left::Number(_) => dynamic,
        };
        all && same && level
    }
}

/// Whether the way from a value leads to one of its children as a pytree.
fn is_child(case: &Case, value: &Tree, way: &[Segment]) -> bool {
    use Segment::{Index, Key};
    match way {
        [Index(_)] => true,
        [Key(form), Index(_)] => form == "tuple",
        [Key(form), Key(_)] | [Key(form), Index(_), Index(1)] => form == "dict" || form == "ordered_dict",
        [Key(form), Key(part), Index(_)] => match form.as_str() {
            "new" => part == "args" || part == "children",
            "tree_partial" => part == "args",
            _ => false,
        },
        [Key(form), Key(part), Key(_)] | [Key(form), Key(part), Index(_), Index(1)] if form == "default_dict" => {
            part == "items"
        }
        [Key(form), Key(part), Key(field)] if form == "new" && part == "fields" => {
            let class = value["new"]["class"].as_str().and_then(|name| case.classes.get(name));
            let (Some(Class::Dataclass { data: fields, .. }) | Some(Class::Module { fields, .. })) = class else {
                return false;
            };
            fields.iter().any(|name| name.as_str() == field)
        }
        _ => false,
    }
}

fn edit(tree: &mut Tree, at: &[Segment], left: &Left) -> Option<()> {
    let (last, before) = at.split_last()?;
    let parent = before.iter().try_fold(tree, part_mut)?;
    match (left, parent, last) {
        (Left::Number(number), parent, last) => *part_mut(parent, last)? = Tree::from(*number),
        (Left::Part(keep), parent, last) => {
            let place = part_mut(parent, last)?;
            *place = follow(place, keep)?.clone();
        }
        (Left::Nothing, Tree::Object(map), Segment::Key(key)) => drop(map.shift_remove(key)),
        (Left::Nothing, Tree::Array(items), Segment::Index(i)) if *i < items.len() => drop(items.remove(*i)),
        _ => return None,
    }
    Some(())
}

fn part_mut<'t>(tree: &'t mut Tree, segment: &Segment) -> Option<&'t mut Tree> {
    match segment {
        Segment::Key(key) => tree.get_mut(key),
        Segment::Index(i) => tree.get_mut(i),
    }
}

/// The options of a call that has one positional argument fewer.
fn forget_position(options: &mut Tree, gone: usize) {
    let gone = i64::try_from(gone).unwrap_or(i64::MAX);
    for name in ["static_argnums", "donate_argnums"] {
        let Some(Tree::Array(numbers)) = options.get_mut(name) else { continue };
        numbers.retain(|number| number.as_i64() != Some(gone));
        for number in numbers {
            if let Some(n) = number.as_i64().filter(|n| *n > gone) {
                *number = Tree::from(n - 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::text;

    fn case(yaml: &str) -> Case {
        text::from_yaml(yaml).unwrap()
    }

    #[test]
    fn takes_away_levels_siblings_calls_and_what_nothing_uses() {
        let start = case(
            "classes: {N: {node: {}}}\n\
             objects: {o: {object: {}}}\n\
             options: {static_argnums: [1, 2]}\n\
             steps:\n\
             - call: {args: [1, {tuple: [2, [\"f32[]\", 3]]}, 4]}\n\
             - call: {args: [1, {tuple: [2, [\"~f32[]\", 3]]}, 4]}\n\
             - call: {args: [5]}\n",
        );
        let differs_in_weak_type = |reduction: &Reduction| {
            let text = text::to_yaml(&reduction.case);
            text.contains("~f32[]") && text.replace("~f32[]", "").contains("f32[]") && text.contains("static")
        };
        let small = reduce(start, differs_in_weak_type);
        let texts: Vec<String> = small.calls().map(|call| text::to_yaml(&call.args)).collect();
        assert_eq!(texts.len(), 2);
        assert!(small.classes.is_empty() && small.objects.is_empty());
        assert_eq!(small.options.static_argnums.len(), 1);
        assert!(reductions(&small).all(|reduction| !differs_in_weak_type(&reduction)));
        assert!(texts.iter().all(|text| text.len() < 12), "{texts:?}");
    }

    #[test]
    fn levels_and_times_are_no_more_than_it_takes() {
        let start = case(
            "steps:\n\
             - call: {args: [{nest: {levels: 40, in: list, value: \"f32[]\"}}, {repeat: {times: 300, in: list, value: 1}}]}\n\
             - call: {args: [{nest: {levels: 40, in: list, value: \"~f32[]\"}}, {repeat: {times: 300, in: list, value: 1}}]}\n",
        );
        let number = |text: &str, key: &str| {
            let numbers = text.split(key).skip(1).map(|rest| rest.trim_start().split(['\n', ',']).next()?.parse().ok());
            numbers.map(Option::unwrap_or_default).collect::<Vec<u32>>()
        };
        let is_deep = |reduction: &Reduction| {
            let text = text::to_yaml(&reduction.case);
            let (levels, times) = (number(&text, "levels:"), number(&text, "times:"));
            reduction.neutral && levels.len() == 2 && levels.iter().all(|n| *n >= 5) && times.iter().sum::<u32>() >= 14
        };
        let small = text::to_yaml(&reduce(start, is_deep));
        assert_eq!((number(&small, "levels:"), number(&small, "times:")), (vec![5, 5], vec![7, 7]), "{small}");
    }

    #[test]
    fn positions_of_options_move_with_the_arguments() {
        let start = case("options: {static_argnums: [0, 2]}\nsteps: [{call: {args: [7, 8, 9]}}]\n");
        let without_first = reductions(&start).find(|reduction| {
            reduction.case.calls().next().is_some_and(|call| text::to_yaml(&call.args) == "- 8\n- 9\n")
        });
        assert_eq!(without_first.unwrap().case.options.static_argnums, [1]);
    }

    #[test]
    fn what_is_not_equal_to_itself_ends_as_well() {
        let start = case("classes: {P: {plain: {hash: value}}}\nsteps: [{call: {args: [{float: nan}, 1]}}]\n");
        let small = reduce(start, |reduction| text::to_yaml(&reduction.case).contains("float: nan"));
        assert_eq!(text::to_yaml(&small), "steps:\n- call:\n    function:\n      float: nan\n");
    }

    #[test]
    fn what_a_rule_speaks_of_stays_in_its_position() {
        let start = case(
            "classes: {N: {node: {}}, Unused: {node: {}}}\n\
             steps:\n\
             - call: {args: [[{new: {class: N, children: [{dict: [[1, \"f32[]\"]]}], aux: 2}}, 3]]}\n\
             - call: {args: [[{new: {class: N, children: [{dict: [[true, \"f32[]\"]]}], aux: 2}}, 3]]}\n",
        );
        let small = reduce(start, |reduction| reduction.neutral);
        let texts: Vec<String> = small.arguments().map(ToString::to_string).collect();
        assert_eq!(texts, ["{1: f32[]}", "{True: f32[]}"]);
        assert!(small.classes.is_empty());
    }
}
