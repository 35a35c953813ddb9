"""Records a program's own calls: what each was given, in the words of a case, and which layers it missed.

`with jitkey.recording(file):` or `python -m jitkey record script.py`. A recording is JSON lines: the first says what runs, and
each other is a call that was made outside of any trace, a clearing, an aside: a call that is none of these and leaves something
in the caches, or a compile beside the calls, of what jax and libraries jit themselves. Arrays are written as avals, never their
contents, but for the bounds of a `fori_loop`, whose distance is part of the program. Objects are named, and held weakly: the end
of each is recorded. Those whose class has an `__eq__` of its own are written as values, which are the same if `==` and hash said
so when they were met.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import gc
import inspect
import itertools
import os
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import jax
from jax._src.array import ArrayImpl

from . import environment, hooks, loops
from .errors import Unsupported, describe
from .hooks import local
from .known import Known, Signature
from .lines import json_text, line_text
from .met import Wrappers
from .objects import Objects, taken
from .observe import LAYERS
from .parameters import NAME
from .reads import Reads, Said
from .record import is_module
from .served import FastPath
from .signatures import Signatures, twice
from .source import asked_by, caller, code, codes, place, programs_line, transformed_by
from .stream import Stream
from .surroundings import Surroundings
from .wrappers import Wrapper, handed_on

VERSION = 1
"""Of the format of recordings."""

PATIENCE = 2.0
"""Seconds that a call waits while another thread's arguments are looked at, which can run code of the program's that waits for
this thread."""
GOES_TO = {"trace": {"trace"}, "transformed": {"trace"}, "eval_shape": {"trace"}, "lower": {"trace", "lower"}}
"""The layers to which what is done ahead of time goes, and those of the function itself under a transformation, which compiles what
it makes of that."""
VIAS = {"eval_shape": "trace", "transformed": "trace"}
"""What cases call a use that they have no word for. The wrapper's own `eval_shape` traces its function as `trace` does;
`jax.eval_shape` can trace the wrapper itself."""


_one = threading.Lock()
"""Held while a recording is under way."""


@contextlib.contextmanager
def recording(file: str | os.PathLike[str] = "recording.jsonl") -> Iterator[Recording]:
    """Records the calls that are made inside, to a file that `jitkey explain` reads.

    Raises `RuntimeError` if a recording is under way already.
    """
    if not _one.acquire(blocking=False):
        raise RuntimeError("a recording is under way already")
    with contextlib.ExitStack() as undone:
        undone.callback(_one.release)
        hooks.install()
        stream = Stream(file)
        undone.callback(stream.close)
        begun = Recording(stream)
        undone.callback(hooks.replace())
        hooks.active = begun
        try:
            yield begun
        finally:
            hooks.active = None


@dataclasses.dataclass
class _Call:
    """A call that is made, and what is to be known of it."""

    line: dict[str, Any]
    describes: Callable[[], dict[str, Any]]
    codes: frozenset[types.CodeType]
    via: str = "call"
    was_called: bool = False
    """Whether its function was, before the recording."""
    signs: Callable[[], Signature | None] = lambda: None
    reads: Callable[[], dict[str, Any]] = dict
    """What it says of what its functions read."""
    learns: Callable[[dict[str, Any], frozenset[str]], None] = lambda line, used: None
    signature: Signature | None = None
    used: frozenset[str] = frozenset()
    """The names of the objects of which its description speaks."""
    written: tuple[str, int] = ("{", 0)
    """How its line begins, as text, and how many of its entries that are."""


def _has_begun() -> None:
    local.begins = None


class Recording:
    """A recording under way."""

    def __init__(self, stream: Stream) -> None:
        self.calls = 0
        """How many calls were recorded."""
        self.overlooked: collections.Counter[str] = collections.Counter()
        """How many calls weren't, without a line that says so, by the class of the error that a defect of the recorder's raised."""
        self.file = stream.file
        self.thread = threading.get_ident()
        """Which thread has begun it."""
        self.is_abandoned = False
        """Whether this process is a child of the one that records."""
        self._stream = stream
        self._describing, self._writing = threading.RLock(), threading.RLock()
        self._objects = Objects()
        self._reads = Reads()
        self._known = Known()
        self._wrappers = Wrappers(self._objects.fresh)
        self._begun, self._numbers = 0, itertools.count(1)
        self._stages: weakref.WeakKeyDictionary[Any, tuple[str, int]] = weakref.WeakKeyDictionary()
        """What `trace` and `lower` made, with the API and the number of the call, since caches were cleared."""
        self._surroundings = Surroundings(self._objects.static)
        self._signatures = Signatures(self._objects, self._surroundings)
        # The backend is the program's to choose: it isn't asked for.
        self._write({"recording": VERSION, "about": environment.versions()})

    @property
    def begun(self) -> int:
        """The number of the call that was begun last."""
        return self._begun

    @property
    def failure(self) -> str | None:
        """Why nothing is written any more, and nothing recorded."""
        return self._stream.failure

    def flush(self) -> None:
        """Writes down what was recorded so far."""
        self._stream.flush()

    def call(self, api: str, wrapper: Any, args: Any, kwargs: Any, original: Callable[..., Any], via: str = "call") -> Any:
        """Makes the call and records it, if the function is the program's own."""
        if self._stream.failure is not None:
            return original(wrapper, *args, **kwargs)
        try:
            wrapped = self._wrappers.by_id.get(id(wrapper)) or self._wrappers.of(api, wrapper)
        except Exception as error:  # A defect of the recorder is none of the program's.
            self.overlooked[type(error).__name__] += 1
            wrapped = None
        by = asked_by() if wrapped is not None and via in ("trace", "eval_shape") else None
        if by == "library":
            # It is no call of the program's, and can leave the jaxpr of one of its functions.
            self.traced(api, wrapper, args, kwargs, "trace")
        if wrapped is None or by is not None:
            return original(wrapper, *args, **kwargs)
        reads: Said = ()
        path = again = jitted = None
        try:
            # What describing runs of the program's own is no call of it.
            local.inside = True
            reads = self._reads.of_call(wrapped, args, kwargs)
            jitted = wrapped.jitted(wrapper)
            count = getattr(jitted, "_cache_size", None) if via == "call" else None
            path = None if count is None else FastPath(wrapped.entries, count, lambda: self._signatures.given(wrapped, args, kwargs))
            again = None if path is None or path.before == 0 else self._call_like(path, wrapped, args, kwargs, reads)
        except Exception:  # As above; it is described as any other.
            path = again = None
        except BaseException:
            # The program was interrupted.
            local.inside = False
            raise

        def described() -> _Call:
            return _Call(
                dict(wrapped.said),
                lambda: {**self._call_of(api, wrapped, args, kwargs), "via": VIAS.get(via, via), **_said(reads)},
                wrapped.codes if wrapped.is_run else frozenset(),
                via,
                wrapped.was_called and via == "call",
                lambda: self._signatures.of_call((wrapped.ref, via, reads), wrapped, args, kwargs),
                lambda: _said(self._reads.of_call(wrapped, args, kwargs)),
                lambda line, used: None if path is None else self._learn(path, wrapped, args, kwargs, reads, line, used),
                written=(f"{wrapped.written}, ", len(wrapped.said)),
            )

        if path is not None and again is not None:
            runs = functools.partial(original, wrapper, *args, **kwargs)
            return self._served(wrapped, path, handed_on(jitted), again, described, runs)
        call = described()
        function = None if path is None else handed_on(jitted)
        made = self._watched(call, functools.partial(original, wrapper, *args, **kwargs), function)
        if via in ("trace", "lower"):
            self._stage_is(made, (api, call.line["number"]))
        return made

    def traced(self, api: str, wrapper: Any, args: Any, kwargs: Any, via: str) -> None:
        """Records a call that was made inside of a trace, as an aside: what it left, as `via` says, serves later calls."""
        inside, local.inside, local.describing = local.inside, True, True
        try:
            # What is looked at raises whatever it likes, and nothing of that is the program's.
            with contextlib.suppress(Exception):
                wrapped = self._wrappers.of(api, wrapper)
                if wrapped is None and any(wrapper is function for function in local.given):
                    wrapped = self._wrappers.of_library(api, wrapper)
                if wrapped is not None and self._describing.acquire(timeout=PATIENCE):
                    try:
                        self._describe_traced(api, wrapped, args, kwargs, via, local.number if inside else None)
                    finally:
                        self._describing.release()
        finally:
            local.inside, local.describing = inside, False

    def _describe_traced(self, api: str, wrapped: Wrapper, args: Any, kwargs: Any, via: str, within: int | None) -> None:
        """`within` is the number of the call that is traced, if it is one of the recording."""
        reads = self._reads.of_call(wrapped, args, kwargs)
        signature = self._signatures.of_call((wrapped.ref, "inside", via, reads), wrapped, args, kwargs)
        self._known.forget(self._objects.dropped)
        known = self._known.call(signature)
        # What it reads may be something else than what its trace has read, which the call around it takes over.
        if known is not None and (not reads or within in (None, known[0])):
            return
        self._objects.begin()
        aside: dict[str, Any] | None = None
        with contextlib.suppress(Exception):  # A case has no words for it, or what is looked at raises.
            call = {**self._call_of(api, wrapped, args, kwargs), "via": via, **_said(reads)}
            aside = {"api": api, "wrapper": wrapped.ref, "call": call} | ({} if within is None else {"inside": within})
        news = self._objects.news()
        self._known.forget(news.get("dropped", []))
        if (aside or news) and self._aside(aside, news) and signature is not None:
            self._known.remember(signature, within or self._begun, frozenset(self._objects.used))

    def went_on(self, stage: Any, via: str, made: Any) -> None:
        """Records that what `trace` made was lowered, or what `lower` made compiled."""
        with contextlib.suppress(TypeError):
            call = self._stages.pop(_stage(stage), None)
            if call is not None:
                self._aside({"api": call[0], "again": call[1], "via": via}, {})
                self._stage_is(made, call)

    def _stage_is(self, stage: Any, call: tuple[str, int]) -> None:
        with contextlib.suppress(TypeError):
            self._stages[_stage(stage)] = call

    def _aside(self, aside: dict[str, Any] | None, news: dict[str, Any]) -> bool:
        return self._write({"aside": aside, "after": self._begun, **news})

    def compiled_beside(self, name: str | None) -> None:
        """Records that something was compiled outside of the recorded calls: an operation, or a function that a library jits."""
        named = {} if name is None else {"name": name.removeprefix("jit(").removesuffix(")") if name.startswith("jit(") else name}
        self._write({"beside": {**named, "from": programs_line()}, "after": self._begun})

    def loop(self, name: str, original: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Makes an eager call of a function of `jax.lax` and records it."""
        given = None
        with contextlib.suppress(TypeError):
            given = inspect.signature(original).bind(*args, **kwargs)
        if given is None:
            # It raises what it would raise.
            return original(*args, **kwargs)
        try:
            functions = loops.functions(name, given)
            of_functions, last = codes(functions), code(functions[-1]) if functions else None
            line = {"api": f"lax.{name}", "name": f"lax.{name}", "at": place(last)}
        except Exception as error:  # As in `call`.
            self.overlooked[type(error).__name__] += 1
            return original(*args, **kwargs)
        if name == "switch" and len(functions) == 1:
            # It is a call of its branch, whose jitted calls are the program's own.
            return original(*args, **kwargs)

        def describes() -> dict[str, Any]:
            return {**loops.described(given, self._objects), "context": self._surroundings.of_call(), **reads()}

        def reads() -> dict[str, Any]:
            each = [dict(self._reads.of_call(self._wrappers.of_loop(function), (), {})) for function in functions]
            return {"reads_each": each} if any(each) else {}

        call = _Call(line, describes, of_functions, reads=reads)

        def runs() -> Any:
            returned = hooks.watched_loop(lambda: original(*args, **kwargs), functions)
            with contextlib.suppress(Exception):  # What is given or returned is no array.
                if "call" in call.line and (carried := loops.carried(given, returned)):
                    call.line["call"]["carried"] = carried
            return returned

        return self._watched(call, runs)

    def abandon(self) -> None:
        """This process is a child of the one that records, and writes nothing; what another thread has locked there stays locked."""
        self.is_abandoned = True
        self._describing, self._writing = threading.RLock(), threading.RLock()
        self._stream.abandon()

    def ends(self) -> None:
        """Records which wrappers the program has kept to its end, and no cycle of references."""
        gc.collect()
        kept = [wrapped.ref for wrapped in self._wrappers.known()]
        if kept:
            self._write({"aside": None, "after": self._begun, "kept": kept})

    def evicted(self, wrapper: Any) -> None:
        """Records that the caches of one function were cleared, if it was called before."""
        wrapped = self._wrappers.by_id.get(id(wrapper))
        if wrapped is not None:
            self.cleared({"wrapper": wrapped.ref})
        else:
            # Another wrapper of its function has lost the same.
            self._known.forget_all()

    def cleared(self, scope: Any) -> None:
        """Records that caches were cleared."""
        self._known.forget_all()
        self._objects.forget_what_changes()
        self._stages.clear()
        for wrapped in self._wrappers.known():
            if scope in ("jax", "equinox", {"wrapper": wrapped.ref}):
                wrapped.entries.forget()
        self._write({"clear": scope, "after": self._begun})

    def _watched(self, call: _Call, runs: Callable[[], Any], function: Any = None) -> Any:
        """Describes the call before it runs, since it may donate or change what it is given; one like an earlier call, by that. Where it
        is known which function is handed to Python if the call misses, it misses nothing until that is."""
        local.inside = True
        try:
            self._begin(call)
        except BaseException:
            # As above.
            local.inside = False
            raise
        local.watch(call.codes)
        if function is not None:
            local.begins = function, _has_begun
        try:
            return runs()
        except BaseException as error:
            call.line["error"] = describe(error)
            raise
        finally:
            local.begins = None
            self._end_of(call)

    def _served(
        self, wrapped: Wrapper, path: FastPath, function: Any, again: int, described: Callable[[], _Call], runs: Callable[[], Any]
    ) -> Any:
        """What `runs` returns, a call that is like that one if the fast path serves it; it is described once that hands the function to
        Python."""
        begun: list[_Call] = []

        def begins() -> None:
            local.begins = local.missed = None
            begun.append(described())
            try:
                self._begin(begun[0])
            except BaseException:
                # The program was interrupted.
                begun[0].line["unrecorded"] = "recording what was interrupted"
                raise
            finally:
                local.watch(begun[0].codes)

        def begins_late() -> None:
            begins()
            if wrapped.donates and begun[0].line.pop("call", begun[0].line.pop("again", None)) is not None:
                begun[0].line["unrecorded"] = "recording what has the buffers of its arguments"

        local.missed, local.begins = set(), (function, begins)
        try:
            return runs()
        except BaseException as error:
            if not begun:
                begins_late()
            begun[0].line["error"] = describe(error)
            raise
        finally:
            local.begins = None
            if not begun and path.has_grown():
                # Another thread has made an entry meanwhile, which may have served it.
                begins_late()
            if begun:
                self._end_of(begun[0])
            else:
                local.missed, local.inside = None, False
                try:
                    said = f'"from": {json_text(caller())}, "number": {self._next()}, "again": {again}, "missed": []'
                    self.calls += 1
                    self._stream.write(f"{wrapped.written}, {said}}}\n")
                except Exception as error:  # As in `call`.
                    self.overlooked[type(error).__name__] += 1

    def _begin(self, call: _Call) -> None:
        line = call.line
        line["number"] = local.number = self._next()
        try:
            line["from"] = caller()
            call.signature = call.signs()
            if self._describing.acquire(timeout=PATIENCE):
                try:
                    self._describe(call)
                finally:
                    self._describing.release()
            else:
                line["unrecorded"] = "recording it while what another thread passes was looked at"
        except Exception as error:  # A defect of the recorder is none of the program's.
            _is_unrecorded(line, f"{type(error).__name__} while it was described")

    def _end_of(self, call: _Call) -> None:
        """Writes down what the call did."""
        missed = local.missed or set()
        try:
            self._write_down(call, missed)
        except Exception as error:  # As above.
            _is_unrecorded(call.line, f"{type(error).__name__} once it had run")
            call.line["missed"] = [layer for layer in LAYERS if layer in missed]
            try:
                self._write(call.line, call.written)
            except Exception:
                self.overlooked[type(error).__name__] += 1
        finally:
            local.missed, local.inside = None, False

    def _write_down(self, call: _Call, missed: set[str]) -> None:
        """What it reads from outside is said as its trace leaves it, which can count or note what is traced."""
        line = call.line
        is_of_it = "dispatch" in missed and "trace" not in missed
        if call.via == "transformed" and "error" in line and is_of_it and not line.keys().isdisjoint(("call", "again")):
            # What is raised by what the transformation makes of it, nothing here can foresee.
            _is_unrecorded(line, "recording what a program under a transformation raises")
        if call.via == "transformed":
            line["transformed"] = "compiled" if "compile" in missed else "found"
            if "compile" in missed:
                line["under"] = transformed_by()
        # What else is made meanwhile is made for an operation outside of the program.
        missed &= GOES_TO.get(call.via, missed)
        if local.effect is not None:
            line["effect"] = local.effect
        if "loaded" in missed:
            line["loaded"] = True
        if "trace" in missed and not local.codes:
            line["any_jaxpr"] = True
        if "error" in line and local.traced is not None:
            line["traced"] = True
        if left_out := hooks.unused():
            line["unused"] = left_out
        local.missed = None
        line["missed"] = [layer for layer in LAYERS if layer in missed]
        if "trace" in missed and "call" in line:
            line["call"].pop("reads", None)
            line["call"] |= call.reads()
        if local.spent:
            line["seconds"] = round(sum(seconds for _, seconds in local.spent), 4)
        if call.was_called and "call" in line and not missed and "error" not in line:
            # What it has found was left before the recording perhaps, by a call that was given the same.
            self._write({"aside": {"api": line["api"], "again": line["number"]}, "after": line["number"] - 1})
        is_whole = self._write(line, call.written)
        if is_whole and not line.keys().isdisjoint(("call", "again")) and self._describing.acquire(timeout=PATIENCE):
            try:
                with contextlib.suppress(Exception):  # It is written already.
                    if call.signature is not None and "call" in line:
                        self._known.remember(call.signature, line["number"], call.used)
                    if "error" not in line:
                        call.learns(line, call.used)
            finally:
                self._describing.release()

    def _describe(self, call: _Call) -> None:
        """Adds to the line what the call is given, or the number of the call that was given the same."""
        line = call.line
        self._known.forget(self._objects.dropped)
        earlier = self._known.call(call.signature)
        self._objects.begin()
        if earlier is not None:
            line["again"], call.used = earlier
        else:
            try:
                line["call"] = call.describes()
            except Unsupported as error:
                line["unrecorded"] = str(error)
            except Exception as error:  # What a program passes can raise whatever it likes when it is looked at.
                line["unrecorded"] = f"{type(error).__name__} while the arguments were looked at"
            call.used = frozenset(self._objects.used)
        line |= self._objects.news()
        self._known.forget(line.get("dropped", []))
        ended = taken(self._wrappers.ended)
        if ended:
            line["ended"] = ended

    def _next(self) -> int:
        """The number of a call: lines are written as calls end, which threads do in another order."""
        number = self._begun = next(self._numbers)
        return number

    def _call_like(self, path: FastPath, wrapped: Wrapper, args: Any, kwargs: Any, reads: Said) -> int | None:
        """The number of a call that is like this one, if the fast path serves it."""
        if self._objects.dropped:
            return None
        try:
            if wrapped.donates and any([leaf.is_deleted() for leaf in (*path.leaves(), *wrapped.own_arrays()) if type(leaf) is ArrayImpl]):
                return None
            entry = path.entry()
            earlier = None if entry is None else self._known.calls.get(self._signatures.of_entry(path, entry, wrapped, args, kwargs, reads))
        except Exception:  # Flattening, comparing and hashing run the program's own code.
            return None
        return None if earlier is None else earlier[0]

    def _learn(
        self, path: FastPath, wrapped: Wrapper, args: Any, kwargs: Any, reads: Said, line: dict[str, Any], used: frozenset[str]
    ) -> None:
        """That the call of that line was served by an entry of the fast path, or made it."""
        with contextlib.suppress(Exception):  # As above.
            entry = path.entry_after(is_served="dispatch" not in line["missed"])
            if entry is not None:
                signature = self._signatures.of_entry(path, entry, wrapped, args, kwargs, reads)
                self._known.remember(signature, line.get("again", line["number"]), used)

    def _call_of(self, api: str, wrapped: Wrapper, args: Any, kwargs: Any) -> dict[str, Any]:
        if wrapped.unknown is not None:
            raise Unsupported(wrapped.unknown)
        numbers, names = wrapped.statics(args)
        if not all(map(NAME.match, kwargs)):
            raise Unsupported("recording a keyword that is no name, or one that isn't ASCII")
        value, static = self._objects.value, self._objects.static
        function = self._objects.as_called(wrapped.function(), is_whole=not wrapped.is_partition)
        dynamic = [arg for i, arg in enumerate(args) if i not in numbers]
        with contextlib.suppress(Exception):  # What is looked at raises.
            self._reads.look_into(wrapped, args, kwargs)
        self._objects.donates |= wrapped.donates
        self._objects.converts = self._objects.asks = api == "jax.jit"
        if wrapped.donates:
            self._objects.twice = twice([*wrapped.own_arrays(), *jax.tree_util.tree_leaves((args, kwargs))])
        self._objects.given = args, kwargs
        if api == "equinox.filter_jit" and not wrapped.options and is_module(function):
            args, kwargs = _by_name(function, args, kwargs)
        try:
            return {
                # A method of a Module is made anew each time that it is asked for.
                "function": self._objects.one(function) if function is wrapped.function() else value(function),
                "args": [static(arg) if i in numbers else value(arg) for i, arg in enumerate(args)],
                "kwargs": {name: static(arg) if name in names else value(arg) for name, arg in kwargs.items()},
                "options": wrapped.options if wrapped.of_call is None else wrapped.of_call(dynamic),
                "context": self._surroundings.of_call(),
            }
        finally:
            # What the program lets go of is gone.
            self._objects.given = None

    def _write(self, line: dict[str, Any], written: tuple[str, int] = ("{", 0)) -> bool:
        """Writes a line, of which that is written already, and says whether all of it could be written."""
        text, whole = line_text(line, written)
        if text is None:
            return False
        with self._writing:
            self.calls += "api" in line
            self._stream.write(text + "\n")
            if "again" not in line and "beside" not in line:
                # A program that is killed loses no more than the hits after its last miss.
                self._stream.flush()
            return whole and self._stream.failure is None


def _by_name(module: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """What a Module is called with by name, if all of it has one: `filter_jit` binds it so, and cases have no parameters of Modules."""
    try:
        signature = inspect.signature(module)
        named = signature.bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return args, kwargs
    kinds = {signature.parameters[name].kind for name in named}
    has_names = kinds <= {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    return ((), named) if has_names and all(map(NAME.match, named)) else (args, kwargs)


def _is_unrecorded(line: dict[str, Any], why: str) -> None:
    """Of a call that nothing is to be said of, but that it was made."""
    line.pop("call", None)
    line.pop("again", None)
    line["unrecorded"] = why


def _said(reads: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    return {"reads": dict(reads)} if reads else {}


def _stage(stage: Any) -> Any:
    """What is the same of a stage in whatever it is wrapped: equinox wraps what jax's `lower` makes, and jax what does it."""
    stage = getattr(stage, "lowered", stage)
    return getattr(stage, "_lowering", stage)
