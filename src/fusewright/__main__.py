"""`python -m fusewright`, for where the script is not on the path."""

from fusewright.cli import main

main()
