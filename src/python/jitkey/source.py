"""Where the program's own code stands: the functions inside of wrappers, and their places."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import numbers
import os
import re
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
from jax._src import core as jax_core

core: Any = jax_core

FILES = 4096
"""Names of files of which is known what they are, at most."""

LIBRARY = (os.path.dirname(os.path.abspath(jax.__file__)) + os.sep, os.path.dirname(os.path.abspath(__file__)) + os.sep)
"""Where code is no program's own."""


def held_by(value: Any) -> dict[str, Any] | None:
    """What an object holds, or one of a class of the program's in its slots if it has nothing else; what a property or its
    `__getattr__` would do is the program's own code."""
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return _in_slots(value) or None
    if type(held) is not dict and issubclass(type(held), dict):
        # A dict that is its own: `self.__dict__ = self`.
        held = dict.copy(held)
    return (held or _in_slots(value) or held) if type(held) is dict else None


def _in_slots(value: Any) -> dict[str, Any]:
    made = type(value)
    own = [type.__getattribute__(base, "__dict__") for base in _bases(made)]
    if not any("__slots__" in held for held in own) or not is_of_the_program(made):
        return {}
    slots = {name: found for held in reversed(own) for name, found in held.items() if type(found) is types.MemberDescriptorType}
    # What isn't set yet is not there.
    return {name: part for name, slot in slots.items() if (part := _got(slot, value, made, NOTHING)) is not NOTHING}


def stored(value: Any, name: str, default: Any = None) -> Any:
    """What is under the name in an object, in its slots or in its class. A property runs if a library wrote it, as equinox does
    `__wrapped__`; one of the program's is its own code, as a `__getattr__` is."""
    held, made = held_by(value), type(value)
    if held is not None and name in held:
        return held[name]
    is_class = isinstance(value, type)
    for base in (*_bases(value), *_bases(made)) if is_class else _bases(made):
        found = type.__getattribute__(base, "__dict__").get(name, NOTHING)
        if found is NOTHING:
            continue
        if type(found) in (types.MemberDescriptorType, types.GetSetDescriptorType):
            # How Python finds what is in a slot, and what its own classes have; there can be nothing.
            return _got(found, value, made, default)
        if not hasattr(type(found), "__get__") or isinstance(found, types.FunctionType):
            return found
        if _is_written_by_program(found):
            return default
        return _got(found, None, value, default) if is_class and base in _bases(value) else _got(found, value, made, default)
    return default


def of_class(made: type, name: str) -> Any:
    """What stands under the name in the class, or in the first of its bases that has it; `NOTHING` if it is in none."""
    for base in _bases(made):
        held = type.__getattribute__(base, "__dict__")
        if name in held:
            return held[name]
    return NOTHING


def _bases(made: type) -> tuple[type, ...]:
    bases: tuple[type, ...] = type.__getattribute__(made, "__mro__")
    return bases


def _got(descriptor: Any, value: Any, made: type, default: Any) -> Any:
    try:
        return descriptor.__get__(value, made)
    except Exception:  # A library can look at what isn't there yet.
        return default


def _is_written_by_program(descriptor: Any) -> bool:
    """Whether to ask a descriptor is to run the program's own code: its `__get__`, or what a property calls."""
    runs = (getattr(type(descriptor), "__get__", None), stored(descriptor, "fget"), stored(descriptor, "func"))
    return any(isinstance(one, types.FunctionType) and is_of_program(one.__code__.co_filename) for one in runs)


NOTHING: Any = object()
"""Stands for what isn't there, or can't be had without the program's own code."""


def layers(function: Any) -> Iterator[Any]:
    """What is called, and what is inside of each: of partials, methods and wrappers, those that jax makes included (`jax.grad`)."""
    for _ in range(16):
        yield function
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, types.MethodType):
            function = function.__func__
        elif (inner := stored(function, "__wrapped__")) is not None and not (
            isinstance(function, types.FunctionType) and is_program(function.__code__)
        ):
            function = inner
        elif type(function) is _JITTED:
            # A copy of a jitted function has no attributes.
            function = function.__getstate__().get("fun")
        else:
            break


def body(function: Any) -> Any:
    """The Python function inside of all that is around it."""
    *_, innermost = layers(function)
    return innermost


def is_jitted(value: Any) -> bool:
    """Whether it is what `jax.jit` returns, or `equinox.filter_jit`."""
    kind = type(value)
    return kind is _JITTED or (kind.__name__ == "_JitWrapper" and kind.__module__.startswith("equinox."))


@dataclasses.dataclass(frozen=True)
class Owner:
    """An object that a function is called with and that is no argument."""

    value: Any
    is_identity: bool
    """Whether a key has it by its identity."""
    parameter: str | None = None
    """The parameter that it is passed as, if that is known."""
    called: str | None = None
    """The name under which the function has it: the parameter's, or that of a method for its object."""


def owners(function: Any, *, is_partition: bool) -> Iterator[Owner]:
    """The object whose method the function is, what a partial gives it, and the object that is called itself; nothing of a node where a
    partition has its leaves in the key."""
    for _ in range(16):
        kind = type(function)
        if is_partition and not jax.tree_util.all_leaves([function]):
            return
        if kind is types.FunctionType:
            inner = function.__dict__.get("__wrapped__") if function.__dict__ else None
            if inner is None or is_program(function.__code__):
                return
        elif kind is types.MethodType:
            inner = function.__func__
            yield Owner(function.__self__, is_identity=True, called=_first_parameter(inner))
        elif issubclass(kind, functools.partial):
            names = positional(function.func)
            for i, value in enumerate(function.args):
                name = names[i] if i < len(names) else None
                yield Owner(value, is_identity=True, parameter=name, called=name)
            for name, value in function.keywords.items():
                yield Owner(value, is_identity=True, parameter=name, called=name)
            inner = function.func
        else:
            if is_by_identity(kind):
                # One that is compared by what it holds is another one to a recording once that changes.
                yield Owner(function, is_identity=True, called=_first_parameter(stored(kind, "__call__")))
            inner = stored(function, "__wrapped__")
            if inner is None:
                return
        function = inner


def _first_parameter(method: Any) -> str | None:
    """The name by which a method has its object."""
    written = method if type(method) is types.FunctionType else body(method)
    has_name = type(written) is types.FunctionType and written.__code__.co_argcount > 0
    return written.__code__.co_varnames[0] if has_name else None


def positional(function: Any) -> tuple[str, ...]:
    """The parameters of a function or method that are passed by position, but for the object whose method it is."""
    is_method = type(function) is types.MethodType
    inner = function.__func__ if is_method else function
    if type(inner) is not types.FunctionType:
        return ()
    return inner.__code__.co_varnames[is_method : inner.__code__.co_argcount]


def is_by_identity(made: type) -> bool:
    """Whether the instances of the class are compared by their identity."""
    return made.__eq__ is object.__eq__ and made.__hash__ is object.__hash__


_JITTED = type(jax.jit(lambda: None))


def is_program(written: types.CodeType) -> bool:
    """Whether it is written in the program, or in a library that isn't jax."""
    return not _absolute(written.co_filename).startswith(LIBRARY)


@functools.lru_cache(maxsize=4096)
def _absolute(file: str) -> str:
    """Where a program that goes to another folder began with the file."""
    return os.path.abspath(file)


def has_public(function: Any) -> bool:
    """Whether a function in it is what its public name in its module stands for: what is around that was put there by another."""
    for _ in range(16):
        module, name = stored(function, "__module__"), stored(function, "__name__")
        if isinstance(name, str) and not name.startswith("_") and getattr(sys.modules.get(str(module)), name, None) is function:
            return True
        function = function.func if isinstance(function, functools.partial) else stored(function, "__wrapped__")
    return False


def is_made(function: Any) -> bool:
    """Whether a function of jax's own was made as the program ran, by another function: an initializer, what `jax.vjp` returns."""
    return isinstance(function, types.FunctionType) and "<locals>" in function.__qualname__


def is_wrapper(value: Any) -> bool:
    """Whether it is an object that stands around a function, as what `eqx.filter_grad` returns, and no function itself."""
    is_plain = isinstance(value, (types.FunctionType, types.MethodType, functools.partial))
    return not is_plain and not isinstance(value, type) and stored(value, "__wrapped__") is not None


def transformations(function: Any) -> list[types.CodeType]:
    """The codes of the functions that jax made of the program's, from the outermost to the innermost."""
    found: list[types.CodeType] = []
    while isinstance(function, types.FunctionType) and not is_program(function.__code__) and hasattr(function, "__wrapped__"):
        made = function
        if made.__code__.co_name == "reraise_with_filtered_traceback":
            # What shortens tracebacks stands around it, and shows what it stands around as wrapped.
            around = [cell.cell_contents for cell in made.__closure__ or ()]
            made = next((inner for inner in around if isinstance(inner, types.FunctionType)), made)
        if made.__code__ not in found[-1:]:
            found.append(made.__code__)
        function = function.__wrapped__
    if found and isinstance(function, types.FunctionType) and function.__code__ is found[-1]:
        # What stood around it was made of itself.
        found.pop()
    return found


def transformation_name(made: types.CodeType) -> str:
    """What the program calls to make such a function, which stands around its code, if Python knows that (from 3.11 on)."""
    around, inside, _ = getattr(made, "co_qualname", "").partition(".<locals>.")
    return around.partition(".")[0].lstrip("_") if inside else made.co_name


def wrapper_name(value: Any) -> str:
    """What the program calls to make such an object of equinox (`eqx.filter_vmap`), if it is named so; otherwise its class."""
    name = type(value).__name__
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip("_").removesuffix("Wrapper")).lower()
    return f"filter_{words}" if hasattr(sys.modules.get("equinox"), f"filter_{words}") else name


def code(function: Any) -> types.CodeType | None:
    """The code that runs when the function is called, if it is Python's."""
    inner = body(function)
    if not isinstance(inner, types.FunctionType):
        inner = body(stored(type(inner), "__call__"))
    return inner.__code__ if isinstance(inner, types.FunctionType) else None


def library_function(value: Any) -> str | None:
    """What a function that a library defines is called, `jax.numpy.tanh`. None for others, those among them that a library makes of the
    program's or of what it is given, as an optimizer's `update`."""
    if type(value) is not types.FunctionType and not is_jitted(value) and type(value) not in (jax.custom_jvp, jax.custom_vjp):
        name = str(stored(value, "__name__")) if type(value) is jnp.ufunc else ""
        return f"jax.numpy.{name}" if getattr(jnp, name, None) is value else None
    if type(value) is types.FunctionType and (stored(value, "__wrapped__") is not None or is_closure(value)):
        return None
    written = code(value)
    if written is None or is_of_program(written.co_filename):
        return None
    is_inner = type(value) is types.FunctionType and "<locals>" in value.__qualname__
    name = value.__qualname__ if is_inner else own_name(value)
    # What says where it is written is known to the program by another module.
    public = next((module.__name__ for module in (jnp, jax.nn, jax.lax) if getattr(module, name, None) is value), None)
    return f"{public or stored(value, '__module__')}.{name}"


def is_closure(value: Any) -> bool:
    """Whether it is a function that another one has made, which holds what that was given."""
    return type(value) is types.FunctionType and value.__closure__ is not None and "<locals>" in value.__qualname__


def written_at(function: Any) -> types.CodeType | None:
    """The code for whose place a reader looks: that of what `functools.wraps` says that the function stands around, whose name it
    has."""
    inner = body(function)
    if not isinstance(inner, types.FunctionType):
        inner = body(stored(type(inner), "__call__"))
    for _ in range(16):
        around = getattr(inner, "__wrapped__", None)
        if not (isinstance(inner, types.FunctionType) and isinstance(around, types.FunctionType)):
            break
        inner = around
    return inner.__code__ if isinstance(inner, types.FunctionType) else None


def codes(functions: list[Any]) -> frozenset[types.CodeType]:
    """Those that run when the functions are called: the program's own, and what jax made of them, since a function of the program's
    may have been traced under another one before."""
    made = [found for function in functions for found in transformations(function)[-1:]]
    return frozenset([*made, *(found for found in map(code, functions) if found is not None)])


def own_name(value: Any) -> str:
    """What an object is called; by its class if it has no name of its own."""
    name = stored(value, "__name__")
    return name if isinstance(name, str) else type(value).__name__


def function_text(function: types.FunctionType) -> str:
    """The function for a reader; what jax made of one of the program's stands where that one is written."""
    by = [transformation_name(made) for made in transformations(function)]
    inner = body(function) if by else function
    written = written_at(inner)
    if not isinstance(inner, types.FunctionType) and written is not None:
        return " of ".join([*by, f"{own_name(inner)} at {place(written)}"])
    if not isinstance(inner, types.FunctionType):
        by, inner = [], function
    return " of ".join([*by, f"{inner.__qualname__} at {place(written_at(inner))}"])


def place(written: types.CodeType | None) -> str | None:
    """The file and the line where it is written; of a lambda the column of its body too, if Python knows it (from 3.11 on)."""
    if written is None:
        return None
    line = f"{_name_of(written.co_filename)}:{written.co_firstlineno}"
    if written.co_name != "<lambda>" or not hasattr(written, "co_positions"):
        return line
    columns = [column for begins, _, column, _ in written.co_positions() if column and begins == written.co_firstlineno]
    return f"{line}:{min(columns) + 1}" if columns else line


@functools.lru_cache(FILES)
def _name_of(file: str) -> str:
    """Without its folder, but for those of a library, which say whose it is; a cell of IPython that runs again is the same one,
    though it has another number."""
    installed = _IN_PACKAGES.match(file)
    name = file[installed.end() :].replace(os.sep, "/") if installed else os.path.basename(file)
    return re.sub(r"^<ipython-input-\d+-", "<ipython-input-", name)


_PASSES_ON = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
"""The flags of a function that takes whatever it is given."""


def caller() -> str | None:
    """Where the call is made: the first frame that is neither this package's nor a library's hook. Where that is another library's,
    or a decorator of the program's, the line of the program that calls it is said as well."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and _is_hook(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return None
    written, at = frame.f_code, frame.f_lasti
    known, line = _callers.get((id(written), at), (None, ""))
    if known is written:
        return line
    program = _first(frame, is_of_program)
    while program is not None and program.f_code.co_flags & _PASSES_ON == _PASSES_ON:
        program = _first(program.f_back, is_of_program)
    if program is not None and program is not frame:
        return f"{_line(frame)} (from {_line(program)})"
    line = _line(frame)
    if program is frame:
        if len(_callers) >= FILES:
            _callers.clear()
        _callers[id(written), at] = written, line
    return line


_callers: dict[tuple[int, int], tuple[types.CodeType, str]] = {}
"""What was said of instructions of the program's own."""


def programs_line() -> str | None:
    """The line of the program that runs, whatever library it has called; that of the library if the program runs none."""
    frame = _first(sys._getframe(1), is_of_program) or _first(sys._getframe(1), lambda file: not _is_hook(file))
    return None if frame is None else _line(frame)


def _first(frame: types.FrameType | None, is_it: Callable[[str], bool]) -> types.FrameType | None:
    """The innermost frame whose file is such a one."""
    while frame is not None and not is_it(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def _line(frame: types.FrameType) -> str:
    return f"{_name_of(frame.f_code.co_filename)}:{frame.f_lineno}"


@functools.lru_cache(FILES)
def is_of_program(file: str) -> bool:
    """Whether a file of that name is the program's, and no library's."""
    if file.startswith(("<ipython-input", "<stdin>")):
        return True
    return not (_is_hook(file) or _IN_PACKAGES.match(file) or file.startswith(_INSTALLED))


def is_of_the_program(value: Any) -> bool:
    """Whether a class or a module is the program's, and no library's."""
    module = value if isinstance(value, types.ModuleType) else sys.modules.get(str(stored(value, "__module__")))
    if module is None:
        return False
    file = stored(module, "__file__")
    return is_of_program(file) if isinstance(file, str) else module.__name__ == "__main__"


def is_of_python(file: str) -> bool:
    """Whether a file of that name is one of Python's own library."""
    return file.startswith(_INSTALLED) and not _IN_PACKAGES.match(file)


_IN_PACKAGES = re.compile(r".*[/\\](?:site|dist)-packages[/\\]")
"""Where libraries are that aren't Python's own: of the environment, the system or the user."""

_INSTALLED = (sysconfig.get_path("stdlib") + os.sep, "<")
"""Where no program is, and how the names of files begin that are none."""


def is_outside() -> bool:
    """Whether nothing is traced, mapped or differentiated around the call. Up to jax 0.4 what runs under a `jax.custom_jvp` that is
    called eagerly is at a level of its own, where calls go through the same caches."""
    if core.trace_state_clean():
        return True
    state = _old_state()
    if state is None:
        return False
    outside = core.MainTrace(0, core.EvalTrace)
    return state.axis_env == [] and state.trace_stack.stack == [outside] and state.trace_stack.dynamic == outside


def _old_state() -> Any:
    """What jax up to 0.4 knows of what is traced; None later."""
    return getattr(getattr(core, "thread_local_state", None), "trace_state", None)


_TRANSFORMATIONS = {"BatchTrace", "JVPTrace", "LinearizeTrace", "JaxprTrace"}


def _around() -> tuple[list[tuple[str, int | None]], bool]:
    """The transformations around a call, from the outermost, each with how many rows it maps over; and whether nothing is traced around
    all of them."""
    state = _old_state()
    if state is not None:
        sizes = {id(frame.main_trace): frame.size for frame in state.axis_env if hasattr(frame, "main_trace")}
        around = [(main.trace_type.__name__, sizes.get(id(main))) for main in state.trace_stack.stack[1:]]
        return around, state.trace_stack.dynamic.trace_type is core.EvalTrace and {name for name, _ in around} <= _TRANSFORMATIONS
    trace: Any = core.trace_ctx.trace
    around = []
    while type(trace).__name__ in _TRANSFORMATIONS:
        around.insert(0, (type(trace).__name__, getattr(getattr(trace, "axis_data", None), "size", None)))
        trace = trace.parent_trace
    return around, trace is core.eval_trace


def transformed() -> str | None:
    """Where the call is made under `jax.vmap`, `jax.grad` or the like, and nothing is traced around that: what becomes of one of which
    no argument is transformed, in the words of a case. `None` elsewhere."""
    around, is_eager = _around()
    if not is_eager:
        return None
    if _old_state() is not None:
        return "call"
    # What has no tangents is handed on to what is around.
    return "compile" if {name for name, _ in around} <= {"JVPTrace", "LinearizeTrace"} else "trace"


def transformed_by() -> list[tuple[str, int | None]]:
    """The transformations around a call for which `transformed` says something, from the outermost, and how many rows are mapped over."""
    # Beside a JVPTrace a JaxprTrace is part of one derivative.
    around = [(name, size) for name, size in _around()[0] if name != "JaxprTrace"]
    # What a program gives as `axis_size` can be a number of NumPy's.
    return [
        ("vmap" if name == "BatchTrace" else "derivative", int(size) if isinstance(size, numbers.Integral) else None)
        for name, size in around
    ]


def is_called_by_program() -> bool:
    """Whether the program makes the call itself, and not jax for it."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(LIBRARY[1:]):
        frame = frame.f_back
    while frame is not None and frame.f_code.co_name == "reraise_with_filtered_traceback":
        frame = frame.f_back
    return frame is not None and is_program(frame.f_code)


def asked_by() -> str | None:
    """Which kind of library makes the call, as they do to learn shapes: "hook" for equinox and flax, which trace what they have made
    themselves, and "library" for another one that is installed. None if the program makes it, by way of Python's own library perhaps."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(LIBRARY):
        frame = frame.f_back
    if frame is None:
        return None
    if _is_hook(frame.f_code.co_filename):
        return "hook"
    return "library" if _IN_PACKAGES.match(frame.f_code.co_filename) else None


@functools.lru_cache(FILES)
def _is_hook(file: str) -> bool:
    wrapping = [getattr(sys.modules.get(name), "__file__", None) for name in ("equinox", "flax")]
    return file.startswith((*LIBRARY, *(os.path.dirname(made) + os.sep for made in wrapping if made)))


def compared(made: type) -> frozenset[str]:
    """The fields that the `__eq__` of a dataclass looks at, or of a class of attrs, if it is the one that these make."""
    if not is_generated(made.__eq__):
        return frozenset()
    of_attrs: Any = getattr(made, "__attrs_attrs__", ())
    of_dataclass = dataclasses.fields(made) if dataclasses.is_dataclass(made) else ()
    names = [field.name for field in of_attrs if field.eq is True and field.eq_key is None]
    return frozenset(names + [field.name for field in of_dataclass if field.compare])


def closed_over(function: types.FunctionType) -> dict[str, Any]:
    """What it closes over, by name, but for what is bound later."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        with contextlib.suppress(ValueError):
            found[name] = cell.cell_contents
    return found


def is_generated(method: Any) -> bool:
    """Whether `dataclasses` or attrs made the method: its code is in no file."""
    file = str(getattr(getattr(method, "__code__", None), "co_filename", ""))
    return file == "<string>" or file.startswith("<attrs generated ")
