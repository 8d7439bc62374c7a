"""Why a class cannot be vendored."""


class UnfitError(ValueError):
    """A class is no operator, or its text cannot be made to stand alone."""
