"""Run something in a forked child, and learn what came of it."""

import errno
import json
import os
import warnings


def in_child(work):
    """Call *work* in a child; `returned: value`, or the name of the system's error it met."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # From Python 3.12 on, forking beside threads warns.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        outcome = "the child failed"
        try:
            outcome = f"returned: {json.dumps(work())}"
        except OSError as error:
            outcome = errno.errorcode.get(error.errno, str(error))
        except BaseException as error:
            outcome = f"{type(error).__name__}: {error}"
        finally:
            os.write(writer, outcome.encode())
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        outcome = pipe.read()
    os.waitpid(pid, 0)
    return outcome
