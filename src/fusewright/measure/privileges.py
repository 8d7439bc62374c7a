"""What root may do beyond reading and writing files, given up for good."""

import ctypes
import struct

PR_SET_NO_NEW_PRIVS = 38
CAPABILITY_VERSION_3 = 0x20080522
DAC_OVERRIDE, DAC_READ_SEARCH = 1, 2
KEPT = 1 << DAC_OVERRIDE | 1 << DAC_READ_SEARCH
"""Root in a container reads folders of other owners by them; Landlock bounds them all the same."""


def drop() -> bool:
    """Give up every capability but those for files, and all that a set-uid program could give."""
    libc = ctypes.CDLL(None)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    header = ctypes.create_string_buffer(struct.pack("Ii", CAPABILITY_VERSION_3, 0))
    # Effective, permitted, inheritable: the lower halves of the three sets, then the upper.
    sets = ctypes.create_string_buffer(struct.calcsize("6I"))
    if libc.capget(header, sets) != 0:
        return False
    effective, permitted = struct.unpack("6I", sets)[:2]
    kept = struct.pack("6I", effective & KEPT, permitted & KEPT, 0, 0, 0, 0)
    return bool(libc.capset(header, ctypes.create_string_buffer(kept, len(kept))) == 0)
