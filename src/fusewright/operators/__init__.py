"""Operator sources, and the miner that asks them: every operator is tested in a child process.

`functions` and `modules` read torch itself; `mine` starts one child a source (`probe`), which
self-tests each operator from its record alone; aliases go by signature.
"""
