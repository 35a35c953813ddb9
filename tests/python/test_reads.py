"""What functions read beside their arguments, as their bytecode says it, which is another one in each Python."""

from __future__ import annotations

import collections
import dataclasses
import gc
import json
import logging
import tracemalloc
import warnings
import weakref
from types import SimpleNamespace
from typing import Any

import attrs
import jax
import jax.numpy as jnp
import jitkey
import ml_collections
import numpy as np
from jax import debug, pure_callback
from jax.experimental import io_callback
from jitkey.equality import overlooks
from jitkey.instructions import IS_TRUE, instructions
from jitkey.likeness import is_made, likeness
from jitkey.taken import OBJECTS, attributes, is_held_read, is_only_asked, items, read_by
from jitkey.texts import TEXT, value_text

config: dict[str, Any] = {}
logger = logging.getLogger(__name__)


def taken(body: Any) -> tuple[str, ...] | None:
    return items(frozenset([body.__code__]), "config")


def test_what_code_takes_of_a_name():
    def set_alone(x):
        config["count"] += 1
        config["seen"] = x
        config["log"]["n"] -= 1
        config.update(a=1)

    assert taken(lambda x: x * config["a"]["b"] + config[0] + config.get("c", 1)) == ("['a']['b']", "['c']", "[0]")
    assert taken(lambda x: [y * config["w"] for y in x]) == ("['w']",)
    assert taken(lambda x: config["w"].shape) == ("['w'].shape",)
    assert taken(set_alone) == ()
    assert taken(lambda x: config[x]) is taken(lambda x: config.items()) is taken(lambda x: sum(config)) is None
    assert taken(lambda x: config.get(x)) is taken(lambda x: len(config)) is None
    # What is asked of all of it is no more of it.
    assert taken(lambda x: config["a"] + len(config)) == ("['a']", "__len__")
    assert taken(lambda x: config["a"] if config is not None else x) == (" is None", "['a']")

    def body(it, x):
        it.total = it.total + 1
        return x * it.rate * it.net.gain * it.config["deep"]["n"] + getattr(it, "shift", 0)

    of_body = attributes(frozenset([body.__code__]), object, "it")
    # What it sets itself isn't read.
    assert of_body == {"rate", "net.gain", "config['deep']['n']", "shift"}

    def named(it, x):
        own = it
        inner = it.net.config
        twice = it.gain
        twice = twice * 2
        return x * own.rate * inner["n"] * inner.deep.m * twice

    inside = {"net.config['n']", "net.config.deep.m"}
    assert attributes(frozenset([named.__code__]), object, "it") == {"rate", "gain", *inside}


def test_what_is_handed_to_a_function_is_what_that_takes_of_it():
    def first(it, x):
        return it.rate * x

    def second(x, *, it, other=None):
        return first(it.net, x) + it["key"] + other

    def nested(it):
        return jax.tree_util.tree_map(lambda leaf: leaf * it.gain, 1)

    def recursive(it, n):
        return it.depth if n == 0 else recursive(it, n - 1)

    named = {function.__name__: function.__code__ for function in (first, second, nested, recursive)}

    def taken_by(body: Any) -> frozenset[str]:
        codes = [body.__code__, *named.values()]
        return attributes(frozenset([body.__code__]), object, "it", dict.fromkeys(codes, named))

    assert taken_by(lambda it, x: first(it, x)) == {"rate"}
    assert taken_by(lambda it, x: first(it.deep, second(x, it=it, other=x + 1))) == {"deep.rate", "net.rate", "['key']"}
    assert taken_by(lambda it, x: x + first(x=x, it=it) * nested(it)) == {"rate", "gain"}
    assert taken_by(lambda it, x: recursive(it, x)) == {"depth"}
    # What is made of it is another thing, and what is called by no name isn't known.
    assert taken_by(lambda it, x: first(it.a + x, it.b)) == {"a", "b"}
    assert taken_by(lambda it, x: x.first(it.c, x)) == {"c"}


def test_what_stands_for_what_is_behind_it():
    """A method of what a dict holds reads that; what is asked for by a key alone is that alone."""
    config = {"net": {"a": 1}, "w": np.ones(3)}
    assert read_by(config, ("['net'].items",), {}) == {"['net']": {"a": 1}}
    assert read_by(config, ("['net'].get", "['net']['a']"), {}) == {"['net']['a']": 1}
    assert read_by(config, ("['w'].shape",), {}) == {"['w'].shape": "(3,)"}


def test_a_class_that_is_static_is_read(tmp_path):
    """What a body takes of it is in no key, as of an object."""

    class Settings:
        rate = 2.0
        __name__ = "what it calls itself"

    scaled = jax.jit(lambda settings, x: x * settings.rate, static_argnums=0)
    file = tmp_path / "recording.jsonl"
    with jitkey.recording(file):
        for Settings.rate in (2.0, 7.0):
            scaled(Settings, jnp.ones(2))
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["call"]["reads"] for line in lines if "call" in line] == [{"Settings.rate": "2.0"}, {"Settings.rate": "7.0"}]


def test_a_config_object_is_asked_for_what_it_has(tmp_path):
    """That of ml_collections has it in a place of its own, and one that is frozen is compared by it."""
    config = ml_collections.ConfigDict({"rate": 1.0, "net": {"width": 2}})
    step = jax.jit(lambda x: x * config.rate * config["net"].width)
    sized = jax.jit(lambda x, config: x * config.net.width, static_argnames="config")
    file = tmp_path / "recording.jsonl"
    with jitkey.recording(file):
        for width in (2, 3):
            config.net.width = width
            step(1.0)
            sized(1.0, ml_collections.FrozenConfigDict(config))
    calls = [line for line in map(json.loads, file.read_text().splitlines()) if "missed" in line]
    said = [call.get("call", {}).get("reads") for call in calls]
    expected = {"config.rate": "1.0"}
    assert said[::2] == [{**expected, "config['net'].width": str(width)} for width in (2, 3)]
    assert next(object["new"]["fields"] for object in calls[3]["objects"].values()) == {"width": 3}


def test_what_code_sets_itself_is_not_taken():
    def of(written, parameter="it"):
        return attributes(frozenset([written.__code__]), object, parameter)

    def in_place(it, x):
        it.times += 1
        it.seen[x.shape] += 1
        it.inner.count += 1
        it.memory[x.shape] = x
        return x * it.times * it.rate * it.inner.rate

    def compared(it, x):
        return it.low < x < it.high, max(it.table, "add", x)

    def of_two(carry, config):
        carry.rate = 1
        return config.rate

    assert of(in_place) == {"rate", "inner", "inner.rate"}
    assert of(compared) == {"low", "high", "table"}
    assert of(of_two, None) == {"rate"}


def test_what_is_only_printed_is_not_taken():
    def said(it, x):
        print("traced", it.times, f"{it.name!r} of {config['net']}")
        logger.debug("at %s", it.level)
        logging.getLogger(it.name).info(it.place)
        it.logger.info("at %s", it.place)
        print("before" if it.early else "late")
        said = print(it.rate)
        return x, said

    assert attributes(frozenset([said.__code__]), object, "it") == {f"early.{IS_TRUE}", "rate"}
    assert items(frozenset([said.__code__]), "config") == ()

    def raised(it, x):
        if x.shape[0] > it.most:
            warnings.warn(f"{it.name} is large", stacklevel=2)
            raise ValueError(f"more than {it.limit}") from it.error
        return x

    assert attributes(frozenset([raised.__code__]), object, "it") == {"most"}

    def used(it, x):
        print(y := it.rate)
        try:
            raise ValueError(it.found)
        except ValueError as error:
            return x * y * error.args[0]

    assert attributes(frozenset([used.__code__]), object, "it") == {"rate", "found"}
    # pytest writes asserts otherwise.
    asserted = compile("assert x.ndim == it.ndim, f'at {it.step}'", "asserts.py", "exec")
    assert [step.argval for step in instructions(asserted) if step.opname == "LOAD_ATTR"] == ["ndim", "ndim"]


def test_what_is_asked_of_a_thing_is_all_that_is_taken():
    def asked(it, x):
        if it.best is not None:
            x = x * len(it.losses)
        early = it.first is None or it.table["ema"] is None
        if isinstance(it.kind, int) and type(it.act) is str:
            x = x + (it.best is None)
        named = {"type": it.gain, "len": it.shift}
        return x, early, it.rate if it.rate is not None else 0.0, named, (len, it.scale)

    def of_itself(it, x):
        return x if it is None or isinstance(it, dict) else x * len(it)

    assert attributes(frozenset([of_itself.__code__]), object, "it") == frozenset()
    asks = {"best. is None", "losses.__len__", "first. is None", "table['ema']. is None", "kind.__class__", "act.__class__"}
    assert attributes(frozenset([asked.__code__]), object, "it") == {*asks, "rate", "gain", "shift", "scale"}
    held = SimpleNamespace(best=None, losses=[1, 2], first=1, table={"ema": 3}, kind=True, act="tanh")
    says = {"best. is None": True, "losses.__len__": 2, "first. is None": False, "table['ema']. is None": False}
    assert read_by(held, tuple(asks), {}) == {**says, "kind.__class__": "bool", "act.__class__": "str"}


def test_what_a_method_of_a_base_takes_is_taken():
    class Base:
        def forward(self, x):
            return x * self.scale

    class Between(Base):
        pass

    class Child(Between):
        def forward(self, x):
            return super().forward(x) * self.rate

    class Other(Between):
        def forward(self, x):
            return super(Other, self).forward(x) * self.rate  # noqa: UP008

    for made in (Child, Other):
        assert attributes(frozenset([made.forward.__code__]), made) == {"rate", "scale"}
    assert attributes(frozenset([Base.forward.__code__]), Base) == {"scale"}


def test_a_base_is_asked_without_arguments():
    class Base:
        def gain(self):
            return 1.0

    class Net(Base):
        def gain(self):
            return super().gain() * self.rate

    # Its object is no argument of what is called there.
    assert attributes(frozenset([Net.gain.__code__]), Net, "self") == {"rate"}


def test_what_runs_later_is_not_taken():
    def step(it, x):
        def noted(v):
            it.seen.append(it.epoch)

        def used(v):
            return v * it.rate

        jax.debug.callback(noted, x * it.scale)
        made = jax.checkpoint(lambda v: v * it.width)
        jax.debug.callback(made, x)
        jax.debug.callback(it.log, x)
        pure_callback(it.noted(), x, x)
        debug.callback(lambda v: it.seen.append((it.time, v)), used(x), ordered=True)
        return io_callback(lambda v: it.later, x, x) + pure_callback(used, x, x)

    class Trainer:
        def log(self, x):
            self.seen.append(self.epoch)

    # Another function than a method is what was there.
    assert attributes(frozenset([step.__code__]), object, "it") == {"scale", "rate", "width", "log", "noted", "noted.__call__"}
    assert attributes(frozenset([step.__code__]), Trainer, "it") == {"scale", "rate", "width", "noted", "noted.__call__"}


def test_what_has_the_form_of_another_takes_that_alone():
    def zeros(it, x):
        return jnp.zeros_like(it.weights), jax.tree.map(jnp.ones_like, it.params), jnp.dot(x, it.bias), jnp.zeros_like(config["w"])

    forms = {f"{path}.{form}" for path in ("weights", "params") for form in ("shape", "dtype")}
    assert attributes(frozenset([zeros.__code__]), object, "it") == {"bias", *forms}
    assert items(frozenset([zeros.__code__]), "config") == ("['w'].dtype", "['w'].shape")

    def others(it, x):
        given = jax.lax.cond(x > 0, jnp.zeros_like, it.scale, x)
        return jnp.zeros_like(x, it.dtype), jnp.ones_like(it.embed(x)), given

    assert attributes(frozenset([others.__code__]), object, "it") == {"scale", "dtype", "embed", "embed.__call__"}


def test_what_a_loop_goes_through_is_asked_of_each():
    def body(net, x):
        for layer in net.layers:
            x = layer(len(x), net.gain(x, 1))
        for i, head in enumerate(net.heads):
            x = x * head.scale + i
        for weight in reversed(net.weights):
            x = x @ weight
        for _, other in zip(net.heads, x, strict=False):
            x = x + other.gain
        for _, gate in zip(x, net.gates[1:], strict=True):
            x = x * gate.open
        for stage in net.stages[:-1]:
            x = x + stage.width
        for _, (_, unknown) in enumerate(zip(x, net.unknown, strict=False)):
            x = x + unknown.depth
        inner = net.inner
        return inner(x)

    of_each = {"layers[*].__call__", "heads[*].scale", "gates[1:][*].open", "stages[:-1][*].width"}
    whole = {"layers", "gain", "gain.__call__", "heads", "weights", "gates", "stages", "unknown", "inner", "inner.__call__"}
    assert attributes(frozenset([body.__code__]), object, "net") == whole | of_each

    def of_variable(x):
        for it in config:
            x = it(x)
        return x

    assert taken(of_variable) == ("", "[*].__call__")
    assert taken(lambda x: [it for it in config]) is None
    for comprehension in (
        lambda x: sum(it.scale * x for it in config),
        lambda x: sum([it.scale * x for it in config]),
        lambda x: {n: it.scale * x for n, it in enumerate(config, 1)},
        lambda x: [it.scale * y for y, it in zip(x, config, strict=True)],
        lambda x: [jax.checkpoint(lambda y: it.scale * y)(x) for it in config],  # noqa: B023
    ):
        assert taken(comprehension) == ("", "[*].scale")

    assert taken(lambda x: [it.scale * x for it in config[::2]]) == ("", "[::2][*].scale")
    assert taken(lambda x: [it.scale * x for it in config[: len(x)]]) is None

    def of_dict(it, x):
        for layer in it.layers.values():
            x = layer(x)
        for i, (_, head) in enumerate(it.heads.items()):
            x = x * head.scale + i
        for i in range(2):
            x = it.blocks[i](x)
        first, last = it.ends
        return last(first.forward(x))

    of_parts = {"layers[*].__call__", "heads[*].scale", "blocks[:][*].__call__", "ends[0].forward", "ends[0].forward.__call__"}
    whole = {"layers.values", "layers.values.__call__", "heads.items", "heads.items.__call__", "blocks", "ends"}
    assert attributes(frozenset([of_dict.__code__]), object, "it") == whole | of_parts | {"ends[1]", "ends[1].__call__"}

    def of_functions(x):
        for it in config:
            x = jax.checkpoint(lambda y: it.scale * y)(x)  # noqa: B023
        return x

    assert taken(of_functions) == ("", "[*].scale")

    class Layer:
        def __init__(self, scale):
            self.scale = scale

    layers = [Layer(1.0), 3, Layer(2.0)]
    assert read_by(layers, ("", "[*].scale"), {}) == {"": layers, "[0].scale": 1.0, "[2].scale": 2.0}
    assert read_by(layers, ("[1:][*].scale", "[:-1][*].scale"), {}) == {"[2].scale": 2.0, "[0].scale": 1.0}
    assert read_by({"a": Layer(1.0), (): Layer(2.0)}, ("[*].scale",), {}) == {"['a'].scale": 1.0}
    of_two = read_by([layers, [Layer(3.0)]], ("[*][*].scale",), {})
    assert of_two == {"[0][0].scale": 1.0, "[0][2].scale": 2.0, "[1][0].scale": 3.0}
    # However often loops come to them, none is looked at twice, and so many in all.
    node = Layer(1.0)
    node.kids = [node] * 32
    assert read_by(node, ("kids[*].kids[*].kids[*].scale",), {}) == {"kids[0].kids[0].kids[0].scale": 1.0}
    rows = [[Layer(1.0) for _ in range(30)] for _ in range(30)]
    assert len(read_by(rows, ("[*][*].scale",), {})) < OBJECTS


def test_a_name_of_a_loop_is_what_it_was_given_last():
    def body(net, x):
        for layer in net.layers:
            x = layer(x)
        for layer in net.heads:
            layer.calls += 1
            x = x * layer.scale * layer.calls
        for layer in x:
            x = x + layer.other
        return x

    taken_of_it = {"layers", "layers[*].__call__", "heads", "heads[*].scale"}
    assert attributes(frozenset([body.__code__]), object, "net") == taken_of_it

    def of_variable(x):
        for it in config:
            it.n = 3.0
            x = it(x) * it.n
        return x + config[0].b

    assert taken(of_variable) == ("", "[*].__call__", "[0].b")


def test_what_is_only_asked_is_not_taken():
    def asked(x):
        return x if isinstance(config, dict) or config is None else 2 * x

    def of_part(x):
        return x if isinstance(config.mode, str) else 2 * x

    def of_form(x):
        return x * config.size if config is not None else x

    says = [is_only_asked(frozenset([body.__code__]), "config") for body in (asked, of_part, of_form)]
    assert says == [True, False, False]


def test_what_is_called_is_more_than_taken():
    def step(it, x):
        if it.norm:
            x = it.scale(x)
        return it.net.forward(x) if callable(it.last) else it.table["layer"](x)

    called = {"scale.__call__", "net.forward.__call__", "table['layer'].__call__"}
    taken = {f"norm.{IS_TRUE}", "scale", "net.forward", "last.__class__", "table['layer']"}
    assert attributes(frozenset([step.__code__]), object, "it") == taken | called


def test_what_an_array_is_asked_for_is_none_of_what_it_holds():
    noted, table, of_part = np.zeros(1), np.zeros(3), np.zeros(3)

    def asks(x):
        noted[0] = x.shape[0]
        if table is None or not isinstance(table, np.ndarray):
            return x
        return x * len(table) * np.size(table) + jnp.full_like(table, 2.0) + table.shape[0] + of_part[0]

    held = {name: is_held_read(frozenset([asks.__code__]), name) for name in ("noted", "table", "of_part", "elsewhere")}
    assert held == {"noted": False, "table": False, "of_part": True, "elsewhere": True}


def test_what_decides_whether_something_is_said_is_not_taken():
    def asks(it, x):
        if it.verbose:
            print("tracing", x.shape)
        if it.loud and it.level > 2:
            logger.info("at %s", it.place)
        if it.limit < 0 or it.bound is None:
            raise ValueError(it.name)
        if it.real:
            return x * it.rate
        return x

    assert attributes(frozenset([asks.__code__]), object, "it") == {f"real.{IS_TRUE}", "rate", "limit", "bound. is None"}


def test_what_an_eq_looks_at_is_what_its_code_takes():
    class Whole:
        def __eq__(self, other):
            return self is other or (type(self) is type(other) and vars(self) == vars(other))

    class Named(Whole):
        def __eq__(self, other):
            return type(other) is type(self) and self.key() == other.key() and self.w.shape == other.w.shape

        def key(self):
            return self.name

    class Both(Named):
        def __eq__(self, other):
            return super().__eq__(other) and self.rate == other.rate

    @dataclasses.dataclass
    class Fields:
        name: str
        w: Any = dataclasses.field(compare=False)

    def of(made):
        return [name for name in ("name", "rate", "w") if not overlooks(made, name)]

    assert [of(made) for made in (Whole, Named, Both, Fields)] == [["name", "rate", "w"], ["name"], ["name", "rate"], ["name"]]


def test_what_is_long_is_said_to_go_on():
    said = value_text(range(10**250))
    assert said == f"range(0, 1{'0' * (TEXT - 10)}…"
    assert value_text(collections.deque([1, 2])) == "deque([1, 2])"


def test_what_is_made_alike_is_alike():
    @dataclasses.dataclass(frozen=True)
    class Settings:
        of: object

    def optimizer(rate, depth=3):
        def update(x):
            return x * rate

        return update if depth == 0 else (lambda inner: lambda x: inner(x))(optimizer(rate, depth - 1))

    array = jnp.ones(3)
    alike = [jnp.sin, array, b"a", 1j, (1, 2.0), [optimizer(0.5)], len]
    others = [jnp.cos, jnp.zeros(3), b"b", 2j, (1, 2), [optimizer(0.25)], max]
    for one, other in zip(alike, others, strict=True):
        assert likeness(Settings(one)) == likeness(Settings(one)) != likeness(Settings(other))
    assert likeness(optimizer(0.5)) == likeness(optimizer(0.5)) != likeness(optimizer(0.25))
    # Arrays are, by what they hold, unless that is much.
    assert likeness(Settings(array)) == likeness(Settings(jnp.ones(3))) != likeness(Settings(np.ones(3)))
    assert likeness(Settings(jnp.ones(20_000))) != likeness(Settings(jnp.ones(20_000)))

    def repeated(rate):
        def again(x):
            return again(x) * rate

        return again

    assert likeness(repeated(1.0)) == likeness(repeated(1.0)) != likeness(repeated(2.0))
    # Values of a library's, and what is made of them.
    spec, other = jax.sharding.PartitionSpec("x"), jax.sharding.PartitionSpec("y")
    for made in (lambda spec: spec, lambda spec: (1, spec), lambda spec: [{"a": spec}], lambda spec: (Settings(1), spec)):
        assert likeness(made(spec)) == likeness(made(spec)) != likeness(made(other))
        assert is_made(made(spec)) == (type(made(spec)) is not list)
    assert not is_made((array,)) and not is_made(array) and not is_made(jax.random.key(0))
    # What is too large is itself.
    large = Settings(list(range(10_000)))
    assert likeness(large) == id(large)


def test_what_the_class_of_a_variable_reads_is_said_of_the_variable(tmp_path):
    """Its bases among them, by `super`."""

    class Base:
        def __init__(self, rate):
            self.rate, self.shift = rate, 1.0

        def __call__(self, x):
            return x * self.rate

    class Shifted(Base):
        def __call__(self, x):
            return super().__call__(x) + self.shift

    file = tmp_path / "recording.jsonl"
    with jitkey.recording(file):
        for models in ((Base(1.0), Base(1.0), Base(2.0)), (Shifted(1.0), Shifted(1.0), Shifted(2.0))):
            step = jax.jit(lambda x: model(x))  # noqa: B023
            for each in models:
                model = each
                step(1.0)
    calls = [line for line in map(json.loads, file.read_text().splitlines()) if "api" in line]
    said = [call["call"]["reads"] for call in calls if "call" in call]
    assert [reads.get("model.rate") for reads in said[:2]] == ["1.0", "2.0"]
    assert [(reads["model.rate"], list(reads)) for reads in said[2:]] == [
        (rate, ["model.rate", "model.shift", "type(model)"]) for rate in ("1.0", "2.0")
    ]


def test_what_a_slot_holds_is_read(tmp_path):
    @attrs.define
    class Config:
        rate: float = 1.0

    @attrs.frozen
    class Settings:
        width: int = 2
        of: Any = None

    config = Config()
    step = jax.jit(lambda x: x * config.rate)
    sized = jax.jit(lambda x, settings: x * settings.width, static_argnums=1)
    file = tmp_path / "recording.jsonl"
    with jitkey.recording(file):
        for config.rate in (1.0, 2.0):
            step(1.0)
        for settings in (Settings(), Settings(), Settings(of=Settings(3))):
            sized(1.0, settings)
    calls = [line for line in map(json.loads, file.read_text().splitlines()) if "api" in line]
    assert [call["call"]["reads"] for call in calls[:2]] == [{"config.rate": "1.0"}, {"config.rate": "2.0"}]
    assert [call["missed"] != [] for call in calls[2:]] == [True, False, True]
    objects = {name: form for call in calls for name, form in call.get("objects", {}).items()}
    given = [objects[call["call"]["args"][1]["ref"]]["new"]["fields"] for call in calls[2:] if "call" in call]
    assert [(fields["width"], fields["of"] is None) for fields in given] == [(2, True), (2, True), (2, False)]


def test_a_class_with_slots_is_not_held(tmp_path):
    def made():
        @dataclasses.dataclass(slots=True)
        class Config:
            rate: float = 1.0

        config = Config()
        jax.jit(lambda x: x * config.rate)(1.0)
        return weakref.ref(Config)

    with jitkey.recording(tmp_path / "recording.jsonl"):
        config = made()
        jax.clear_caches()
        gc.collect()
        assert config() is None


def test_what_is_large_is_not_looked_at_in_each_call(tmp_path):
    table = {i: 1.0 for i in range(100_000)}
    step = jax.jit(lambda x: x * len(table))
    with jitkey.recording(tmp_path / "recording.jsonl"):
        step(1.0)
        tracemalloc.start()
        step(1.0)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 100_000
