"""Run the code blocks of the documents: Python is executed, commands are parsed."""

import shlex

from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser

from fusewright.cli import app


def parse_commands(example: Example) -> None:
    """Check that every `fusewright` command of a block names commands and options that exist."""
    for line in str(example.parsed).replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["fusewright"]:
            app.parse_args(words[1:], exit_on_error=False, print_error=False)


pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), CodeBlockParser("bash", parse_commands)],
    patterns=["README.md", "CONTRIBUTING.md", "docs/*.md"],
).pytest()
