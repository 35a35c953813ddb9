"""The instructions of code, and what each of them loads, sets and takes."""

from __future__ import annotations

import dis
import functools
import itertools
import types
from typing import Any

KEY = 16
"""A key is made by so many instructions, at most."""

FORMS = ("shape", "ndim", "size", "dtype")
"""What is the same for all arrays of one aval."""

LOGS = frozenset({"critical", "debug", "error", "exception", "info", "log", "warn", "warning"})
"""What loggers do that returns nothing."""


@functools.lru_cache(maxsize=1024)
def instructions(written: types.CodeType) -> tuple[dis.Instruction, ...]:
    """Those of the code, without the statements that print or log: what these read is in no program."""
    steps, found, at = [*dis.get_instructions(written)], list[dis.Instruction](), 0
    while at < len(steps):
        length = _length_of_message(steps, at)
        if length == 0:
            found.append(steps[at])
        at += max(length, 1)
    return tuple(found)


def _length_of_message(steps: list[dis.Instruction], at: int) -> int:
    """So many of the instructions from there on are a statement that prints or logs; none if no such begins there."""
    first, *following = steps[at : at + 2]
    if first.opname not in ("LOAD_GLOBAL", "LOAD_NAME"):
        return 0
    is_logger = "log" in first.argval.lower() and any(step.argval in LOGS for step in following)
    if not is_logger and first.argval != "print":
        return 0
    depth = 0
    for count, step in enumerate(itertools.islice(steps, at, None), 1):
        if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
            # What it says depends on something.
            return 0
        depth += dis.stack_effect(step.opcode, step.arg)
        if depth <= 0:
            return count if step.opname == "POP_TOP" else 0
    return 0


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


def loaded(step: dis.Instruction | None) -> Any:
    """The name of what an instruction loads last: two loads can be one."""
    loads = ("LOAD_FAST", "LOAD_DEREF", "LOAD_GLOBAL", "STORE_FAST_LOAD_FAST")
    if step is None or not step.opname.startswith(loads):
        return None
    return step.argval[-1] if isinstance(step.argval, tuple) else step.argval


def names_set(step: dis.Instruction | None) -> tuple[str, ...]:
    """The names that an instruction sets, in its order: two can be one, and the second of these a load."""
    if step is None or not step.opname.startswith("STORE_FAST"):
        return ()
    names = step.argval if isinstance(step.argval, tuple) else (step.argval,)
    return names[:1] if step.opname == "STORE_FAST_LOAD_FAST" else names
