"""Mine PyTorch operators, compose fused problems, measure them, publish the honest ones.

Importing this package loads neither torch nor Prefect nor pydantic, so that the child side of
`fusewright.measure` runs on any machine with the standard library and PyTorch alone.
"""

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    # `fusewright.audit(source)` is public, and must not make the child side load pydantic.
    if name == "audit":
        from fusewright.auditing import audit

        return audit
    raise AttributeError(f"module 'fusewright' has no attribute '{name}'")
