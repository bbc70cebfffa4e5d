"""What bench also speaks: "ready", then one run a line on standard input, answered with seconds and a result."""

import json
import resource
import sys
import time


def serve(name, work):
    print(json.dumps({"ready": name}), flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        result = work()
        print(json.dumps({"seconds": time.perf_counter() - start, "result": result,
                          "peak_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}), flush=True)
