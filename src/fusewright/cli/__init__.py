"""The command line: parses, calls, prints.

Exit codes: 0 done, 1 the work failed, 2 the call or config is wrong.
"""

import sys

from cyclopts import App, CycloptsError

import fusewright
from fusewright.errors import FusewrightError, UsageError

app = App(
    name="fusewright",
    help="Mine PyTorch operators, compose fused problems, measure them, publish the honest ones.",
    version=fusewright.__version__,
    result_action="return_value",
)
# Commands by path, with their sentence here: nothing is imported until one is called.
COMMANDS = {
    "run": ("stages", "Make a release, end to end; a run that was stopped goes on."),
    "mine": ("stages", "Find operators and test each of them."),
    "compose": ("stages", "Write candidates."),
    "screen": ("stages", "Turn away by text alone what is broken, copied or contaminated."),
    "measure": ("stages", "Run the candidates on the device."),
    "judge": ("stages", "Apply the thresholds to stored measurements."),
    "select": ("stages", "Choose the rows of the release, diverse first."),
    "release": ("stages", "Write the release folder."),
    "operators": ("looking", "List operators, as a source yields them, self-tested."),
    "explain": ("looking", "Say why a candidate was kept or rejected."),
    "dashboard": ("looking", "Build the page of statistics from a run."),
    "config": ("looking", "Print the resolved settings, each with its sentence."),
    "doctor": ("looking", "Say what this machine can do."),
    "audit": ("outward", "Judge anyone's dataset by our filters and measurements."),
    "benchmark": ("outward", "Make fingerprints of benchmarks, to keep away from."),
    "publish": ("outward", "Send a release to the Hugging Face Hub."),
    "serve": ("outward", "Regenerate on a schedule."),
}
for _name, (_module, _sentence) in COMMANDS.items():
    app.command(f"fusewright.cli.{_module}:{_name}", name=_name, help=_sentence)


def main() -> None:
    """Run the command line."""
    try:
        app(exit_on_error=False, print_error=False)
    except CycloptsError as error:
        _fail(str(error), UsageError.exit_code)
    except FusewrightError as error:
        _fail(str(error), error.exit_code)
    except OSError as error:
        _fail(f"{type(error).__name__}: {error}", FusewrightError.exit_code)
    except KeyboardInterrupt:
        _fail("interrupted: the same command goes on from here", FusewrightError.exit_code)


def _fail(message: str, code: int) -> None:
    sys.stderr.write(f"fusewright: {' '.join(message.split())}\n")
    sys.exit(code)
