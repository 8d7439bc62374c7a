"""What turns problems away: one file a family of reasons.

Filters of the screen stage read text alone and never run it; those of the judge stage look at
stored measurements. Text that cannot be read is `syntax_error`, whichever filter meets it.
"""
