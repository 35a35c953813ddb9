# What scripts are put together from. Each part begins with a line that names it.

# part: state
traces = 0
events = []
jax.monitoring.register_event_duration_secs_listener(lambda event, *_, **__: events.append(event))
calls = 0
WORDS = {"": "hit", "compile": "compile", "lower compile": "lower", "trace lower compile": "trace"}

# part: hook
try:  # No public interface tells of a miss of the C++ fast path alone; without this one it counts as a hit.
    from jax._src import pjit

    infer_params = pjit._infer_params
except (ImportError, AttributeError):
    pass
else:

    def hook(*args, **kwargs):
        events.append("dispatch")
        return infer_params(*args, **kwargs)

    pjit._infer_params = hook

# part: enable_x64
try:
    from jax import enable_x64
except ImportError:
    from jax.experimental import enable_x64

# part: abstract_mesh
def abstract_mesh(axes):
    # It is public since jax 0.7.
    from jax._src.mesh import use_abstract_mesh
    from jax.sharding import AbstractMesh, AxisType

    return use_abstract_mesh(AbstractMesh(tuple(axes.values()), tuple(axes), axis_types=(AxisType.Auto,) * len(axes)))

# part: within
def within(context, make):
    with context:
        return make()

# part: weak
def weak(x):
    # There is no public way to a weakly typed array of this dtype.
    from jax._src.lax.lax import _convert_element_type

    return _convert_element_type(x, x.dtype, weak_type=True)

# part: with_layout
def with_layout(order, sharding):
    from jax.experimental import layout

    if hasattr(layout, "DeviceLocalLayout"):
        return layout.Layout(layout.DeviceLocalLayout(order), sharding)
    return layout.Format(layout.Layout(order), sharding)

# part: flag
@contextlib.contextmanager
def flag(name, value):
    before = jax.config.values[name]  # Some are no attributes.
    jax.config.update(name, value)
    try:
        yield
    finally:
        jax.config.update(name, before)

# part: local_flag
def local_flag(name):
    # What jax.default_matmul_precision and the like are made of, with the value that there is.
    return jax.config._value_holders[name](jax.config.values[name])

# part: persistent_cache
files = tempfile.TemporaryDirectory(prefix="files-")
LOADED = "/jax/compilation_cache/cache_hits"


def not_compiled(event, *_, **__):
    # This event comes for a program that was loaded from its file, too.
    if "backend_compile" in event and LOADED in events:
        events.remove(LOADED)
        events.remove(event)


jax.monitoring.register_event_listener(lambda event, **_: events.append(event))
jax.monitoring.register_event_duration_secs_listener(not_compiled)


@contextlib.contextmanager
def persistent_cache():
    from jax._src import compilation_cache  # Which has no public way to open another folder.

    with (
        flag("jax_compilation_cache_dir", files.name),
        flag("jax_persistent_cache_min_compile_time_secs", 0),
        flag("jax_persistent_cache_min_entry_size_bytes", -1),
    ):
        compilation_cache.reset_cache()
        try:
            yield
        finally:
            compilation_cache.reset_cache()

# part: user_context
user_context = jax.make_user_context(None)

# part: UserArray
class UserArray(np.ndarray):
    pass

# part: Converted
class Converted:
    def __init__(self, value):
        self.value = value

    def __jax_array__(self):
        return jnp.asarray(self.value)

# part: compiled
def compiled(f):
    return lambda *args, **kwargs: f.lower(*args, **kwargs).compile()

# part: ahead_of_time
def ahead_of_time(f):
    # The fast path takes no part in this, so that it can't be missed.
    def g(*args, **kwargs):
        try:
            return f(*args, **kwargs)
        finally:
            events[:] = [event for event in events if event != "dispatch"]

    return g

# part: in_thread
def in_thread(f):
    def g(*args, **kwargs):
        done = []

        def run():
            try:
                done.append((f(*args, **kwargs), None))
            except Exception as error:
                done.append((None, error))

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        result, error = done[0]
        if error is not None:
            raise error
        return result

    return g

# part: plain_method
def plain_method(of, name):
    # A method of a Module is a Module itself.
    import types

    return types.MethodType(getattr(type(of), name), of)

# part: new_lambda
def new_lambda():
    return lambda *args, **kwargs: body(args, kwargs)

# part: closing_over
def closing_over(over):
    def f(*args, **kwargs):
        _ = over
        return body(args, kwargs)

    return f

# part: body
def body(*values):
    global traces
    traces += 1
    return [leaf for leaf in jax.tree_util.tree_leaves(values) if isinstance(leaf, jax.Array)]

# part: careful_body
def body(*values):
    global traces
    traces += 1
    leaves = []
    for value in values:
        try:
            leaves += jax.tree_util.tree_leaves(value)
        except Exception:  # For instance a dict that can't be sorted.
            pass
    return [leaf for leaf in leaves if isinstance(leaf, jax.Array)]

# part: seeing
    text = re.sub(" at 0x[0-9a-f]+", "", repr(values))
    print(f"    traced from {text}")
    if text not in seen:
        seen.append(text)
    return arrays + [np.int32(seen.index(text))]

# part: call
def call(expected, f, /, *args, **kwargs):
    global calls, traces
    calls, traces = calls + 1, 0
    events.clear()
    result = error = None
    try:
        result = f(*args, **kwargs)
    except Exception as raised:
        error = type(raised).__name__
    happened = {
        "trace": TRACED,
        "lower": "/jax/core/compile/jaxpr_to_mlir_module_duration" in events,
        "compile": "/jax/core/compile/backend_compile_duration" in events,
    }
    missed = " ".join(layer for layer in happened if happened[layer])
    got = error or WORDS.get(missed, f"{missed} only")

# part: fast_path
    if got == "hit" and "dispatch" in events:
        got = "dispatch"

# part: compared
    print(f"call {calls}: {got}")
    if expected not in (None, got):
        differences.append(f"call {calls}: expected {expected}, got {got}")
    return result

# part: returned
    print(f"call {calls}: {got}")
    return error or result

# part: stale
if repr(served) != repr(fresh):
    sys.exit(f"the hit is stale: it returned {served}, and a fresh function returns {fresh}")
print("not reproduced")

# part: differences
if differences:
    sys.exit("\n".join(differences))
print("not reproduced")
