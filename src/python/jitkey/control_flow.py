"""The targets `lax.while_loop`, `lax.scan` and their like, called outside of `jit`.

The functions among the arguments are passed on as they are, so identity and `==` are those of what a user wrote. What
differs by target is what a body has to return: `body` makes that of what it was called with.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
from jax import lax
from jax._src.lax.lax import copy_p

from . import functions, observe
from .errors import Unsupported


@dataclasses.dataclass(frozen=True)
class ControlFlow:
    """One of them."""

    name: str
    function: Callable[..., Any]
    functions: slice
    """Which arguments are functions, or a list of them."""
    returns: Callable[[tuple[Any, ...]], Any]
    """What a body returns that was called with these arguments."""
    examples: list[list[Any]]
    """The arguments of calls that set up what the function computes beside its program, an index of a branch."""

    def wrap(self, _function: Any, options: dict[str, Any]) -> Any:
        """The function itself: there is nothing to be wrapped."""
        if options:
            raise Unsupported(f"options of {self.name}")
        return self.function

    def entry(self, wrapper: Any, via: str) -> Callable[..., Any]:
        """What is called."""
        if via != "call":
            raise Unsupported(f"via {via}")

        def entry(*args: Any, **kwargs: Any) -> Any:
            for value in args[self.functions]:
                if not all(map(functions.is_counted, value if isinstance(value, (list, tuple)) else [value])):
                    raise Unsupported("bodies that don't count their runs")
            return wrapper(*args, **kwargs)

        return entry

    def clear_function(self, _wrapper: Any) -> None:
        """There is no such thing."""
        raise Unsupported("clearing one function")

    def body(self, used: Any, given: tuple[Any, ...], _seen: Any) -> Any:
        """What a body returns: all that it has to, each array copied if the body uses its arguments."""
        returned = self.returns(given)
        # Where nothing traces the body, each copy is a program of its own.
        with observe.unobserved():
            return jax.tree_util.tree_map(copy_p.bind, returned) if used else returned


def _carry(given: tuple[Any, ...]) -> Any:
    return given[-1]


def _carry_and_slice(given: tuple[Any, ...]) -> Any:
    return given[-2:]


def _operands(given: tuple[Any, ...]) -> Any:
    return given[0] if len(given) == 1 else given


_BODY: dict[str, Any] = {"def": {}}
_TRUTHS: list[Any] = [True, "np:bool[]", "bool[]", "bool[]@0", "bool[]@1", 1]
_INDICES: list[Any] = [0, "np:i32[]", "i32[]", "~i32[]", "i32[]@0", "i32[]@1", {"numpy_scalar": ["i32", 0]}]

TARGETS = {
    target.name: target
    for target in (
        ControlFlow("lax.while_loop", lax.while_loop, slice(2), _carry, [[{"def": {"returns": False}}, _BODY, "f32[]"]]),
        ControlFlow("lax.scan", lax.scan, slice(1), _carry_and_slice, [[_BODY, "f32[]", "f32[2]"]]),
        ControlFlow("lax.fori_loop", lax.fori_loop, slice(2, 3), _carry, [[0, 2, _BODY, "f32[]"]]),
        ControlFlow("lax.map", lax.map, slice(1), _carry, [[_BODY, "f32[2]"]]),
        ControlFlow("lax.cond", lax.cond, slice(1, 3), _operands, [[truth, _BODY, _BODY, "f32[]"] for truth in _TRUTHS]),
        ControlFlow("lax.switch", lax.switch, slice(1, 2), _operands, [[i, [_BODY, _BODY], "f32[]"] for i in _INDICES]),
    )
}
