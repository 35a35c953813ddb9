"""The instructions of code, and what each of them loads, sets and takes."""

from __future__ import annotations

import collections
import dis
import functools
import itertools
import re
import types
from collections.abc import Sequence
from typing import Any, NamedTuple

KEY = 16
"""A key is made by so many instructions, at most."""

ARGUMENTS = 64
"""The arguments of a call are made by so many, at most."""

FORMS = ("shape", "ndim", "size", "dtype", "nbytes")
"""What is the same for all arrays of one aval."""

LOGS = frozenset({"critical", "debug", "error", "exception", "getLogger", "info", "log", "warn", "warning"})
"""What loggers do that returns nothing, and what is asked for one."""

_LOGGER = re.compile("_?(log|logger|logging|warnings)", re.IGNORECASE)
"""What loggers are called."""

_PAIR = re.compile("((?:LOAD|STORE)_FAST(?:_BORROW)?)_((?:LOAD|STORE)_FAST(?:_BORROW)?)")
"""What instructions are called that are two."""

_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FAST", "LOAD_DEREF")
"""How what loads a name begins."""

_CALLS = ("PRECALL", "CALL", "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_FAST")
"""How what loads the arguments of `super` and calls it begins."""

_CALLED = ("CALL", "CALL_KW", "CALL_FUNCTION", "CALL_FUNCTION_KW")
"""How functions are called with arguments that are written one by one."""

_CATCHES = frozenset({"PUSH_EXC_INFO", "SETUP_FINALLY"})
"""What code has that catches something."""

_ENTERS = frozenset({"BEFORE_ASYNC_WITH", "BEFORE_WITH", "LOAD_SPECIAL", "SETUP_ASYNC_WITH", "SETUP_WITH"})
"""What code has where a `with` begins, whose context can catch what is raised in it."""

_BEFORE_EACH = ("LOAD_FAST_AND_CLEAR", "SWAP", "BUILD_LIST", "BUILD_MAP", "BUILD_SET", "COPY", "MAKE_CELL")
"""How the instructions begin with which a comprehension that is written out begins to go through something."""

_NOTHING = frozenset({"EXTENDED_ARG", "NOP", "NOT_TAKEN"})
"""What does nothing by itself."""

IS_NONE = " is None"
"""The attribute that stands for whether something is None."""

IS_TRUE = " is true"
"""The attribute that stands for whether a container has anything in it."""

IS_THERE = " is there"
"""The attribute that stands for whether a container has an item, or something else in it."""

_ASKS = {"callable": "__class__", "isinstance": "__class__", "len": "__len__", "type": "__class__"}
"""The functions that ask a thing for one attribute."""

_SCOPES = frozenset({"StepTraceAnnotation", "TraceAnnotation", "name_scope", "named_scope"})
"""What is called with a name for what is traced in it, which is in no program's results."""

_GOES_THROUGH = ("enumerate", "reversed", "zip")
"""The functions whose result has the items of what they are given, in turn."""

_COMPREHENSIONS = ("<dictcomp>", "<genexpr>", "<listcomp>", "<setcomp>")
"""What code is called that goes through what it is given, which a comprehension is where it isn't written out."""

_LIKE = frozenset({"empty_like", "full_like", "graphdef", "ndim", "ones_like", "result_type", "shape", "size", "zeros_like"})
"""The functions that look at the shape and the dtype of what they are given alone."""


@functools.lru_cache(maxsize=1024)
def instructions(written: types.CodeType) -> tuple[dis.Instruction, ...]:
    """Those of the code, without what it prints or logs, what alone decides whether it does, and what it raises: what is read for that is
    in no program. What decides whether it raises is seen where nothing is cached."""
    steps = [one for step in dis.get_instructions(written) for one in _one_by_one(step, written.co_consts)]
    said, raised = set[int](), set[int]()
    for at in range(len(steps)):
        said.update(range(at, at + _length_of_message(steps, at)))
        said.update(range(at + 1, at + 1 + _length_of_name(steps, at)))
        raised.update(range(at - _length_of_error(steps, at), at))
    places = {step.offset: at for at, step in reversed([*enumerate(steps)])}
    # What decides whether something is said, from the last to the first: `if loud and early:`.
    for at in reversed(range(len(steps))):
        end = places.get(steps[at].argval, 0) if steps[at].opname.startswith("POP_JUMP") else 0
        if end > at + 1 and all(
            inner in said or steps[inner].opname in _NOTHING for inner in range(at + 1, _end_of_branch(steps, at, end))
        ):
            decides = range(at - _length_before(steps, at, 1), at + 1)
            # What is named on the way is read behind.
            said.update(decides if not any(steps[inner].opname.startswith("STORE_") for inner in decides) else ())
    unseen = said | raised
    return tuple(step for at, step in enumerate(steps) if at not in unseen)


def _end_of_branch(steps: list[dis.Instruction], at: int, end: int) -> int:
    """Where the branch ends that a jump to there leaves out: before what returns as the other one does."""
    kinds = [(step.opname, step.argval) for step in steps[max(at + 1, end - 2) : end]]
    for length in (1, 2):
        returned = [(step.opname, step.argval) for step in steps[end : end + length]]
        if returned[-1:] and returned[-1][0] in ("RETURN_VALUE", "RETURN_CONST") and kinds[-length:] == returned:
            return end - length
    return end


def _one_by_one(step: dis.Instruction, constants: tuple[Any, ...]) -> list[dis.Instruction]:
    """From Python 3.13 on two loads or stores can be one; in 3.11 it isn't said which names keywords have."""
    if step.opname == "KW_NAMES":
        return [step._replace(argval=constants[step.arg or 0])]
    pair = _PAIR.fullmatch(step.opname)
    if pair is None:
        return [step]
    both = zip(pair.groups(), step.argval, strict=True)
    return [step._replace(opname=name, opcode=dis.opmap[name], argval=value, argrepr=value) for name, value in both]


@functools.lru_cache(maxsize=1024)
def functions_in(written: types.CodeType) -> tuple[types.CodeType, ...]:
    """The functions in the code that can run when it is traced: those that are only given to a callback see what is there later."""
    steps = instructions(written)
    callbacks = [step for at, step in enumerate(steps) if is_given_to_a_callback(steps, at)]
    times = collections.Counter(map(own_loaded, steps))
    times.subtract(collections.Counter(map(own_loaded, callbacks)))
    now = {id(step.argval) for at, step in enumerate(steps) if isinstance(step.argval, types.CodeType) and not _is_later(steps, at, times)}
    return tuple(part for part in written.co_consts if isinstance(part, types.CodeType) and id(part) in now)


def _is_later(steps: Sequence[dis.Instruction], at: int, times: collections.Counter[str | None]) -> bool:
    """Whether the function whose code is loaded there is given to a callback as it is made, or by a name that nothing else has."""
    begin, left = at, len(steps[at].argval.co_freevars)
    if left and begin > 0 and steps[begin - 1].opname == "BUILD_TUPLE":
        # What it closes over was loaded before.
        begin -= 1
        while left > 0 and begin > 0 and own_loaded(steps[begin - 1]) is not None:
            begin, left = begin - 1, left - 1
    if left == 0 and is_given_to_a_callback(steps, begin):
        return True
    makes = ("LOAD_CONST", "MAKE_FUNCTION", "SET_FUNCTION_ATTRIBUTE")
    named = next((step for step in steps[at + 1 :] if step.opname not in makes), None)
    return named is not None and named.opname in ("STORE_FAST", "STORE_DEREF") and times.get(named.argval) == 0


def is_called_as_a_method(step: dis.Instruction | None) -> bool:
    """Whether an instruction takes a method of what was loaded, to call it next."""
    return step is not None and (step.opname == "LOAD_METHOD" or (step.opname == "LOAD_ATTR" and "NULL|self" in step.argrepr))


def is_given_to_a_callback(steps: Sequence[dis.Instruction | None], at: int) -> bool:
    """Whether the instruction there begins the first argument of what calls that with the program, `jax.debug.callback(self.log, loss)`:
    what that takes of anything is there later."""
    before = _before(steps, at)
    return before[-2:] == ["debug", "callback"] or before[-1:] in (["io_callback"], ["pure_callback"])


def _before(steps: Sequence[dis.Instruction | None], at: int) -> list[Any]:
    """What the instructions before load or take, three at most."""
    return [step.argval for step in steps[max(at - 4, 0) : at] if step is not None and step.opname != "PUSH_NULL"][-3:]


def own_loaded(step: dis.Instruction | None) -> str | None:
    """The name of what an instruction loads that is the function's own, or around it."""
    return step.argval if step is not None and step.opname.startswith(("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE")) else None


def _length_of_message(steps: list[dis.Instruction], at: int) -> int:
    """So many of the instructions from there on are a statement that prints or logs; none if no such begins there."""
    first, *following = steps[at : at + 3]
    if not first.opname.startswith(_LOADS) or type(first.argval) is not str:
        return 0
    asked = [first.argval, *(step.argval for step in following if step.opname in ("LOAD_ATTR", "LOAD_METHOD"))]
    # By its name, or as it is held: `logger.info(…)`, `self.logger.info(…)`.
    is_logger = any(_LOGGER.fullmatch(called) and does in LOGS for called, does in itertools.pairwise(asked))
    if not is_logger and (first.argval != "print" or first.opname not in ("LOAD_GLOBAL", "LOAD_NAME")):
        return 0
    depth = 0
    for count, step in enumerate(itertools.islice(steps, at, None), 1):
        if _jumps(step) or step.opname.startswith("STORE_"):
            # What it says depends on something, or is named there.
            return 0
        depth += dis.stack_effect(step.opcode, step.arg)
        if depth <= 0:
            return count if step.opname == "POP_TOP" else 0
    return 0


def _length_of_name(steps: list[dis.Instruction], at: int) -> int:
    """So many of the instructions after that one make the name of a scope, which is called by what it loads."""
    if steps[at].argval not in _SCOPES or not steps[at].opname.startswith((*_LOADS, "LOAD_ATTR", "LOAD_METHOD")):
        return 0
    depth = 0
    for count, step in enumerate(steps[at + 1 : at + 1 + ARGUMENTS]):
        if _jumps(step):
            return 0
        if depth < 0 or step.opname.startswith("STORE_"):
            return 0
        if step.opname.startswith("CALL") and (step.arg or 0) + ("KW" in step.opname) == depth:
            return count
        depth += dis.stack_effect(step.opcode, step.arg) if step.opname not in ("PUSH_NULL", "PRECALL") else 0
    return 0


def _length_of_error(steps: list[dis.Instruction], at: int) -> int:
    """So many of the instructions before make what is raised there; none if nothing is, or if it can be caught there."""
    if steps[at].opname != "RAISE_VARARGS" or _can_be_caught(steps, at):
        return 0
    return _length_before(steps, at, steps[at].arg or 0)


def _can_be_caught(steps: list[dis.Instruction], at: int) -> bool:
    """Whether what is raised there can be caught in the function; what stands before each `with` isn't by these."""
    catches = [after for step, after in zip(steps, [*steps[1:], None], strict=True) if step.opname in _CATCHES]
    if not all(after is not None and after.opname == "WITH_EXCEPT_START" for after in catches):
        return True
    return any(step.opname in _ENTERS for step in steps[:at])


def _length_before(steps: list[dis.Instruction], at: int, left: int) -> int:
    """So many of the instructions before make so many values for the one there; none if what they are depends on something."""
    for count, step in enumerate(reversed(steps[:at]), 1):
        if left <= 0 or _jumps(step):
            return 0
        left -= dis.stack_effect(step.opcode, step.arg)
        if left == 0:
            return count
    return 0


def _jumps(step: dis.Instruction) -> bool:
    return step.opcode in dis.hasjrel or step.opcode in dis.hasjabs


def is_given_for_its_form(steps: Sequence[dis.Instruction | None], at: int, end: int) -> bool:
    """Whether what is loaded there and taken of it up to the end is the one thing that is given to a function which looks at its form
    alone, or is mapped by such over all that is in it; `full_like` is given what to fill it with as well."""
    *_, mapped, _, function = ("", "", "", *_before(steps, at))
    step, call = steps[at], steps[end + (function == "full_like")]
    if not isinstance(function, str) or function not in _LIKE or step is None:
        return False
    if call is None or not call.opname.startswith(("CALL", "PRECALL")):
        return False
    return call.arg == (2 if mapped in ("map", "tree_map") or function == "full_like" else 1)


def asked_of(steps: Sequence[dis.Instruction | None], at: int, end: int) -> str | None:
    """The attribute that stands for all that is asked of what is loaded there and taken of it up to the end: whether it is None, of which
    class it is, how long."""
    following, after = steps[end], steps[end + 1]
    if following is not None and following.opname.startswith("POP_JUMP") and following.opname.endswith("_NONE"):
        return IS_NONE
    is_none = following is not None and following.opname == "LOAD_CONST" and following.argval is None
    if is_none and after is not None and after.opname == "IS_OP":
        return IS_NONE
    asks = steps[at - 1] if at > 0 else None
    if asks is None or asks.opname not in ("LOAD_GLOBAL", "LOAD_NAME") or asks.argval not in _ASKS:
        return None
    if following is None or following.opname in ("LOAD_ATTR", "LOAD_METHOD"):
        return None
    # A class is given beside it, by its name.
    given = 2 if asks.argval == "isinstance" else 1
    call = next((step for step in steps[end : end + 4] if step is None or step.opname.startswith(("CALL", "PRECALL"))), None)
    is_asked = call is not None and call.arg == given and (given == 2 or call is following)
    return _ASKS[asks.argval] if is_asked else None


def is_tested(step: dis.Instruction | None) -> bool:
    """Whether an instruction asks what was loaded before it for its truth alone."""
    if step is None:
        return False
    jumps = step.opname.startswith("POP_JUMP") and step.opname.endswith(("_TRUE", "_FALSE"))
    return jumps or step.opname in ("TO_BOOL", "UNARY_NOT")


def looked_for(steps: Sequence[dis.Instruction | None], at: int, end: int) -> str | int | None:
    """The text or number of which it is asked whether it is in what is loaded there and taken of it up to the end."""
    following = steps[end]
    return constant_of(steps[at - 1]) if at > 0 and following is not None and following.opname == "CONTAINS_OP" else None


def bases_asked(written: types.CodeType) -> set[str]:
    """The attributes that code asks its class's bases for, `super().forward`."""
    steps: list[dis.Instruction | None] = [*dis.get_instructions(written), None, None]
    found = set()
    for at, step in enumerate(steps[:-2]):
        if step is not None and step.opname.startswith("LOAD_SUPER"):
            found.add(step.argval)
        elif step is not None and step.opname == "LOAD_GLOBAL" and step.argval == "super":
            # Before Python 3.12 it is called, with the class and the object perhaps.
            calls = itertools.takewhile(lambda one: one is not None and one.opname.startswith(_CALLS), steps[at + 1 :])
            asked = steps[at + 1 + len(list(calls))]
            if asked is not None and asked.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                found.add(asked.argval)
    return found


def takes_its_form(step: dis.Instruction | None) -> bool:
    """Whether an instruction takes of what was loaded before it what is the same for all arrays of one aval."""
    return step is not None and step.opname == "LOAD_ATTR" and step.argval in FORMS


def is_copy(step: dis.Instruction | None) -> bool:
    """Whether an instruction has what was loaded before it a second time."""
    return step is not None and step.opname in ("COPY", "DUP_TOP")


def sets_an_item(steps: list[dis.Instruction | None]) -> bool:
    """Whether the instructions after a container was loaded set or delete an item of it: once all of its key is there."""
    depth, before = 1, ""
    for step in itertools.islice(steps, KEY):
        if step is None or depth < 1:
            return False
        if step.opname in ("STORE_SUBSCR", "DELETE_SUBSCR"):
            return depth == 2
        if (step.opname, depth) == ("DUP_TOP_TWO", 2) or (before, step.opname, depth) == ("COPY", "COPY", 3):
            # It is set to something that is made of it: both are needed again.
            return True
        depth, before = depth + dis.stack_effect(step.opcode, step.arg, jump=False), step.opname
    return False


def is_dropped(steps: list[dis.Instruction | None]) -> bool:
    """Whether nothing takes what the next call returns."""
    for step, following in itertools.pairwise(itertools.islice(steps, KEY)):
        if step is not None and step.opname.startswith("CALL"):
            return following is not None and following.opname == "POP_TOP"
    return False


def gets_an_item(steps: list[dis.Instruction | None]) -> bool:
    """Whether the instructions after a container was loaded take an item of it, once all of its key is there."""
    depth = 1
    for step in itertools.islice(steps, KEY):
        if step is None or depth < 1 or _jumps(step):
            return False
        if is_subscript(step) and depth == 2:
            return True
        depth += dis.stack_effect(step.opcode, step.arg, jump=False)
    return False


def argument_of(steps: list[dis.Instruction | None], at: int, end: int) -> tuple[str, int | str, int] | None:
    """The name of the function that is called with what is loaded there and taken of it up to the end, its position among the arguments,
    or its keyword, and where that is called; None if it is given to nothing that is called by a name."""
    depth, keywords = 1, tuple[str, ...]()
    for now, step in enumerate(itertools.islice(steps, end, end + ARGUMENTS), end):
        if step is None or _jumps(step):
            return None
        if step.opname == "KW_NAMES":
            keywords = _constant_at(steps, now)
        elif step.opname in _CALLED:
            if "KW" in step.opname:
                keywords, depth = _constant_at(steps, now - 1), depth - 1
            given = step.arg or 0
            if given >= depth:
                place = given - depth
                named = place - (given - len(keywords))
                name = _called_before([one for one in steps[:at] if one is not None], place)
                if name is None or named >= len(keywords):
                    return None
                return name, keywords[named] if named >= 0 else place, now
            # With it goes what is called, which has two places from Python 3.11 on, and what it returns comes.
            depth -= given + (step.opname in ("CALL", "CALL_KW"))
            keywords = ()
        elif step.opname != "PRECALL":
            if depth <= _taken_by(step):
                return None
            depth += dis.stack_effect(step.opcode, step.arg)
    return None


def is_called(steps: list[dis.Instruction | None], end: int) -> bool:
    """Whether what the instructions before leave is called, with arguments that are written one by one."""
    depth, first = 1, steps[end]
    # From Python 3.13 on a NULL stands between it and its arguments.
    between = first is not None and first.opname == "PUSH_NULL"
    for step in itertools.islice(steps, end, end + ARGUMENTS):
        if step is None or _jumps(step):
            return False
        if step.opname in _CALLED:
            before = depth - (step.arg or 0) - ("KW" in step.opname) - between
            if before <= 1:
                return before == 1
            depth -= (step.arg or 0) + ("KW" in step.opname) + (step.opname in ("CALL", "CALL_KW"))
        elif step.opname != "PRECALL":
            depth += dis.stack_effect(step.opcode, step.arg)
        if depth < 1:
            return False
    return False


class Each(NamedTuple):
    """What a loop or a comprehension goes through, one by one."""

    name: str
    """What it calls each."""
    code: types.CodeType | None
    """Which has the name, if that is one of its own."""
    part: str
    """The slice of them that it goes through, if not all."""
    is_of_dict: bool
    """Whether these are what stands in a dict under its keys."""


def name_of_each(steps: list[dis.Instruction | None], at: int, end: int) -> Each | None:
    """What a loop calls the items in turn of what is loaded there and taken of it up to the end, or of a slice of that: `for layer in
    net.layers[1:]:`, `for i, layer in enumerate(net.layers):`, `for name, layer in net.layers.items():`."""
    of_dict = _asked_of_dict(steps, end)
    part, end = ("", of_dict[1]) if of_dict else _slice_at(steps, end)
    asks, place, call = argument_of(steps, at, end) or ("", 0, end - 1)
    goes_on = _without_nothing(steps, call + 1)
    if asks not in ("", *_GOES_THROUGH) or not isinstance(place, int) or not goes_on or goes_on.pop(0).opname != "GET_ITER":
        return None
    written = None
    if goes_on and goes_on[0].opname in _CALLED:
        makes = (step.argval for step in reversed(steps[:at]) if step is not None and isinstance(step.argval, types.CodeType))
        written = next(makes, None)
        if written is None or written.co_name not in _COMPREHENSIONS:
            return None
        # It is given the iterator.
        goes_on = _without_nothing(instructions(written), 0)
        begin = next((i for i, step in enumerate(goes_on) if step.opname == "FOR_ITER"), len(goes_on))
    else:
        begin = next((i for i, step in enumerate(goes_on) if not step.opname.startswith(_BEFORE_EACH)), len(goes_on))
    expected = ["FOR_ITER"]
    if asks in ("enumerate", "zip"):
        expected += ["UNPACK_SEQUENCE", *["STORE"] * (place + (asks == "enumerate"))]
    if of_dict and of_dict[0] == "items":
        expected += ["UNPACK_SEQUENCE", "STORE"]
    found, stores = goes_on[begin : begin + len(expected)], goes_on[begin + len(expected) :]
    if [step.opname.removesuffix("_FAST").removesuffix("_DEREF") for step in found] != expected or not stores:
        return None
    if stores[0].opname not in ("STORE_FAST", "STORE_DEREF"):
        return None
    return Each(stores[0].argval, written, part, is_of_dict=of_dict is not None)


def _asked_of_dict(steps: list[dis.Instruction | None], end: int) -> tuple[str, int] | None:
    """Whether it is `items` or `values` that was taken last, and where that was called."""
    asks, call = steps[end - 1], next(iter(_without_nothing(steps, end)), None)
    if asks is None or asks.opname not in ("LOAD_ATTR", "LOAD_METHOD") or asks.argval not in ("items", "values"):
        return None
    return (asks.argval, steps.index(call, end) + 1) if call is not None and call.opname.startswith("CALL") and call.arg == 0 else None


def _without_nothing(steps: Sequence[dis.Instruction | None], begin: int) -> list[dis.Instruction]:
    """The next of the instructions, without those that do nothing by themselves."""
    following = steps[begin : begin + KEY]
    return [step for step in following if step is not None and step.opname not in ("PRECALL", *_NOTHING)]


def names_of_parts(steps: list[dis.Instruction | None], end: int) -> list[str]:
    """What the code calls the items of what was loaded before that, as it takes it apart: `first, last = net.layers`."""
    parts = steps[end]
    if parts is None or parts.opname != "UNPACK_SEQUENCE":
        return []
    names = [step.argval for step in steps[end + 1 : end + 1 + (parts.arg or 0)] if step is not None and step.opname == "STORE_FAST"]
    return names if len(names) == parts.arg else []


def _slice_at(steps: list[dis.Instruction | None], end: int) -> tuple[str, int]:
    """The slice that is taken there, `[1:]`, if one is whose ends are written in it, and what comes behind it."""
    ends: list[Any] = []
    for now, step in enumerate(steps[end : end + KEY], end):
        if step is not None and step.opname in ("LOAD_CONST", "LOAD_SMALL_INT"):
            ends += [step.argval.start, step.argval.stop, step.argval.step] if isinstance(step.argval, slice) else [step.argval]
        elif step is None or step.opname != "BUILD_SLICE":
            is_taken = is_subscript(step) or (step is not None and step.opname == "BINARY_SLICE")
            if not is_taken or len(ends) < 2 or not all(one is None or type(one) is int for one in ends):
                break
            return f"[{':'.join('' if one is None else str(one) for one in ends)}]", now + 1
    return "", end


def _constant_at(steps: list[dis.Instruction | None], at: int) -> tuple[str, ...]:
    step = steps[at]
    names = None if step is None else step.argval
    return names if isinstance(names, tuple) else ()


def _taken_by(step: dis.Instruction) -> int:
    """So many values an instruction takes, at most."""
    if step.opname.startswith(("LOAD_ATTR", "LOAD_METHOD", "UNARY")):
        return 1
    if step.opname.startswith("LOAD_SUPER"):
        return 3
    if step.opname.startswith(("LOAD_", "PUSH_NULL", *_NOTHING)):
        return 0
    if step.opname.startswith(("BINARY_", "COMPARE_OP", "IS_OP", "CONTAINS_OP")):
        return 2
    return step.arg or 0 if step.opname.startswith("BUILD_") else KEY


def _called_before(steps: list[dis.Instruction], given: int) -> str | None:
    """The name of what is called, which was loaded before so many arguments that end there."""
    length = _length_before(steps, len(steps), given) if given else 0
    if given and not length:
        return None
    before = [step for step in steps[: len(steps) - length] if step.opname not in ("PUSH_NULL", *_NOTHING)]
    return before[-1].argval if before and before[-1].opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF") else None


def constant_of(step: dis.Instruction | None) -> str | int | None:
    """The text or number that an instruction loads."""
    if step is None or step.opname not in ("LOAD_CONST", "LOAD_SMALL_INT") or type(step.argval) not in (str, int):
        return None
    constant: str | int = step.argval
    return constant


def is_subscript(step: dis.Instruction | None) -> bool:
    """Whether an instruction takes an item, by the key that was loaded before it."""
    return step is not None and (step.opname == "BINARY_SUBSCR" or (step.opname == "BINARY_OP" and step.argrepr == "[]"))


def is_set(step: dis.Instruction | None) -> bool:
    """Whether the item whose key was loaded is set, deleted, or added to in its place."""
    return step is not None and step.opname in ("STORE_SUBSCR", "DELETE_SUBSCR", "COPY", "DUP_TOP_TWO")


def loaded(step: dis.Instruction | None) -> str | None:
    """The name of what an instruction loads."""
    return step.argval if step is not None and step.opname.startswith(("LOAD_FAST", "LOAD_DEREF", "LOAD_GLOBAL")) else None


def name_set(step: dis.Instruction | None) -> str | None:
    """The name of the function's own that an instruction sets."""
    return step.argval if step is not None and step.opname.startswith("STORE_FAST") else None
