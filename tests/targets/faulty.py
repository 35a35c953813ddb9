"""A target that misbehaves, for the tests of the protocol; it needs nothing but Python.

Its argument says how: it misbehaves at each case whose text contains `poison`, and answers all others with `trace`.
One that dies once leaves the file that its second argument names, by which the next one knows that it has died.
"""

import json
import os
import sys
import time

fault = sys.argv[1]
if fault == "mute":
    time.sleep(60)
if fault == "chatty":
    print("Hello, I am a library that prints to stdout.", flush=True)
if fault == "dies-at-start":
    sys.exit("no accelerator found")
for line in sys.stdin:
    request = json.loads(line)
    if "hello" in request:
        protocol = 99 if fault == "other-protocol" else 1
        version = "0.0.1" if fault == "unknown-version" else "0.12.0.1"
        hello = {"protocol": protocol, "implementation": "jax.jit", "version": version, "layers": ["trace"]}
        print(json.dumps({"hello": hello}), flush=True)
        continue
    reply = {"id": request["id"], "result": {"calls": [{"missed": ["trace"]} for _ in request["case"]["steps"]]}}
    if fault == "dies-once" and not os.path.exists(sys.argv[2]):
        open(sys.argv[2], "w").close()
        os._exit(1)
    if "poison" in line or fault.startswith("always-"):
        if fault in ("dies", "always-dies"):
            sys.stderr.write("Segmentation fault (not really)\n")
            sys.stderr.flush()
            sys.exit(139)
        if fault == "closes":
            os.close(1)
        if fault in ("hangs", "closes"):
            time.sleep(60)
        if fault in ("babbles", "always-babbles"):
            print("}{ no JSON", flush=True)
        while fault == "floods":
            os.write(1, b"{}" * 32768)
        if fault == "wrong-id":
            reply["id"] = 12345
        if fault == "refuses":
            reply = {"id": request["id"], "unsupported": "poison"}
        if fault == "fails":
            reply = {"id": request["id"], "failed": "Traceback: it went wrong"}
    print(json.dumps(reply), flush=True)
