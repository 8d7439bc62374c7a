"""Raw lines as a part of a benchmark leaves them."""

from outcome import Outcome


def verdict(key, at_s=1.0, *, times_ms=(2.0, 1.0), reason=None, spent_s=None, **told):
    if reason:
        found = {"rejection": {"reason": reason}}
    else:
        timings = {
            name: {"median_ms": ms, "repetitions": 10}
            for name, ms in zip(("eager", "compiled"), times_ms, strict=True)
        }
        found = {"measurement": timings | told}
    spent = {"spent_s": spent_s} if spent_s is not None else {}
    return {"key": key, "at_s": at_s, **found, **spent}


def outcome(verdicts, *, workers=1, drift=()):
    about = {
        "device": {"name": "Device 1", "torch": "2.13.0"},
        "boot_s": 5.0,
        "workers": workers,
    }
    return Outcome(about, list(verdicts), list(drift))
