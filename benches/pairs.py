"""The pairs that jitkey and the bare loops run: calls with ten leaves on fresh functions, which differ in the last leaf."""

LEAVES = 10
FIRST = ("f32[2]", "float32", (2,))
SECOND = [
    ("f32[3]", "float32", (3,)),
    ("f16[2]", "float16", (2,)),
    ("i32[2]", "int32", (2,)),
    ("f32[2,1]", "float32", (2, 1)),
    ("bf16[2]", "bfloat16", (2,)),
    ("f32[2]", "float32", (2,)),
    ("f32[4]", "float32", (4,)),
    ("u8[2]", "uint8", (2,)),
    ("f32[]", "float32", ()),
    ("bool[2]", "bool", (2,)),
]
"""As a case writes it, and as `jnp.ones` is asked for it."""


def case(number, via):
    """The case of that number."""
    lasts = FIRST[0], SECOND[number % len(SECOND)][0]
    return {"steps": [{"call": {"args": [FIRST[0]] * (LEAVES - 1) + [last], "via": via}} for last in lasts]}
