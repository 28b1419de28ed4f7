"""A Python process that runs the blocks of a page one after the other, as a reader does at a prompt: a JSON string a
line comes in, a line with the error, or an empty one, goes out."""

import json
import os
import sys
import traceback

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what blocks print is no answer
scope = {"__name__": "__main__"}
for line in sys.stdin:
    error = ""
    try:
        exec(compile(json.loads(line), "block", "exec"), scope)  # pylint: disable=exec-used
    except BaseException:  # pylint: disable=broad-except
        error = traceback.format_exc(limit=-3)
    sys.stdout.flush()
    print(json.dumps(error), file=answers, flush=True)
