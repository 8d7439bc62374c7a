"""Why a class cannot be vendored."""


class UnfitError(ValueError):
    """A class is no operator, or its text cannot be made to stand alone."""

    reason = "invalid_operator"
    """How the mine stage calls that."""


class AliasError(UnfitError):
    """A class computes what another does that is vendored already."""

    reason = "alias"
