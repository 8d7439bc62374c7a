"""Reasons of the measure stage by real processes on the CPU, beside what is sound."""

import time
from pathlib import Path

import pytest

from fusewright.errors import MeasureError
from fusewright.measure.isolation import PROMISES
from fusewright.measure.meter import Supervised
from fusewright.records import Measurement, Rejection
from fusewright.testing import RELU_MEAN, make_problem

from .conftest import SETTINGS
from .programs import program

TWO_INPUTS = "torch.randn(8, 16), torch.randn(8, 16)"
FAULTS = {
    "syntax": (program("return ("), "init_error"),
    "init raises": (program("return x", init="self.a = undefined"), "init_error"),
    "inputs raise": (program("return x + 1", inputs="torch.randn(-1)"), "init_error"),
    "forward raises": (program("return x @ x"), "forward_error"),
    "forward returns nothing": (program("x + 1"), "forward_error"),
    "recursion": (program("return self.forward(x)"), "forward_error"),
    "exit": (program("raise SystemExit(0)"), "forward_error"),
    "not a number": (program("return torch.log(x)"), "nonfinite_output"),
    "writes its input": (program("return x.mul_(2).relu()"), "mutates_input"),
    "writes its buffer": (
        program(
            "self.seen += 1\nreturn torch.relu(x) * self.seen",
            init="self.register_buffer('seen', torch.ones(1))",
        ),
        "mutates_input",
    ),
    "draws in forward": (program("return x + torch.rand_like(x)"), "nondeterministic"),
    "sums a softmax": (program("return torch.softmax(x, 1).sum(1)"), "constant_output"),
    "is below the tolerance": (program("return torch.sin(x) * 1e-4"), "constant_output"),
    "passes by a mean": (
        program("return x.mean(1, keepdim=True) + 1e-5 * torch.sin(x)"),
        "trivial_output",
    ),
    "passes its input on": (program("return x + 0.0001 * torch.tanh(x)"), "trivial_output"),
    "ignores an argument": (
        program("return torch.relu(x) + 1e-6 * y", arguments="x, y", inputs=TWO_INPUTS),
        "insensitive_argument",
    ),
    "ignores a parameter": (
        program(
            "return torch.softmax(self.fc(x) + self.shift, 1)",
            init="self.fc = nn.Linear(16, 16)\nself.shift = nn.Parameter(torch.randn(1))",
        ),
        "insensitive_parameter",
    ),
    "drops out in training": (
        program("return self.drop(torch.relu(x))", init="self.drop = nn.Dropout(0.5)"),
        "mode_dependent",
    ),
    "writes into a nested input": (
        program("return x[0].mul_(2).relu()", inputs="[torch.randn(8, 16)]"),
        "mutates_input",
    ),
    "has no graph": (
        program(
            "for _ in range(3):\n"
            "    try:\n"
            "        x = torch.sin(x) + 1\n"
            "        print('seen')\n"
            "    finally:\n"
            "        x = x * 2\n"
            "return x"
        ),
        "compile_error",
    ),
    "allocates 1 TB": (program("return x.new_empty(2**38).sum() + x"), "out_of_memory"),
    "allocates 1 TB of bytes": (program("b = bytearray(10**12)\nreturn x"), "out_of_memory"),
    "exits the process": (program("import os; os._exit(3)"), "crash"),
    "dereferences null": (program("import ctypes; ctypes.string_at(0)"), "crash"),
    "kills its group": (program("import os; os.killpg(0, 9)"), "crash"),
    "sends itself a signal": (program("import os; os.kill(os.getpid(), 40)"), "crash"),
}  # fmt: skip

SOUND = {
    "linear": RELU_MEAN,
    "norm with statistics of the batch": program(
        "return self.norm(x) * torch.sigmoid(y)",
        init="self.norm = nn.BatchNorm1d(16, track_running_stats=False)",
        arguments="x, y",
        inputs=TWO_INPUTS,
    ),
    "two outputs": program("return torch.relu(x), x.sum(1)"),
    "integer input": program(
        "return self.table(x).sum(1)",
        init="self.table = nn.Embedding(10, 16)",
        inputs="torch.randint(0, 10, (8, 4))",
    ),
    "bfloat16": program("return torch.relu(x) * 2", inputs="torch.randn(8, 16).bfloat16()"),
    "graph break": program("y = torch.relu(x)\nprint('side effect')\nreturn y.sin() + x"),
    "complex": program("return x.to(torch.complex64) * 1j"),
    "constant mask and number": program(
        "return torch.relu(x @ mask) * scale",
        arguments="x, mask, scale",
        inputs="torch.randn(8, 16), torch.ones(16, 16).tril(), 2.5",
    ),
    "nested input": program(
        "return torch.relu(pair[0]) + pair[1]",
        arguments="pair",
        inputs="(torch.randn(8, 16), torch.randn(8, 16))",
    ),
    "control flow": program("return torch.relu(x) if x.sum() > -1e9 else x"),
}


@pytest.fixture(scope="module")
def verdicts(meter):
    """All candidates in one go, as a run would do it: faults must not spoil their neighbours."""
    texts = {name: code for name, (code, _) in FAULTS.items()} | SOUND
    problems = {make_problem(code).key: name for name, code in texts.items()}
    found = {}
    for verdict in meter.measure([make_problem(code) for code in texts.values()]):
        key = verdict.subject if isinstance(verdict, Rejection) else verdict.problem
        assert problems[key] not in found, "two verdicts for one candidate"
        found[problems[key]] = verdict
    return found


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_costs_one_rejection_with_its_reason(verdicts, name):
    verdict = verdicts[name]

    assert isinstance(verdict, Rejection), verdict
    assert (verdict.stage, verdict.reason) == ("measure", FAULTS[name][1]), verdict.detail
    assert verdict.detail


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_problem_is_measured_beside_them(verdicts, name):
    verdict = verdicts[name]

    assert isinstance(verdict, Measurement), verdict
    assert verdict.eager.median_ms > 0
    assert verdict.compiled.median_ms > 0
    assert verdict.eager.repetitions >= SETTINGS.min_repetitions


def test_a_crash_says_how_the_worker_ended(verdicts):
    assert "status 3" in verdicts["exits the process"].detail
    assert "SIGSEGV" in verdicts["dereferences null"].detail
    assert "SIGKILL" in verdicts["kills its group"].detail


def test_a_graph_break_is_counted_and_not_turned_away(verdicts):
    assert verdicts["graph break"].graph_breaks >= 1
    assert verdicts["linear"].graph_breaks == 0


def test_a_measurement_says_what_was_run(verdicts):
    linear = verdicts["linear"]

    assert linear.ops == ("nn.Linear", "torch.relu", "torch.mean")
    assert linear.input_shapes == ((64, 128),)
    assert linear.output_shapes == ((64,),)
    assert linear.params == 128 * 256 + 256
    assert linear.flops == 2 * 64 * 128 * 256
    assert linear.io_bytes == 4 * (64 * 128 + 128 * 256 + 256 + 64)
    assert linear.dtype == "float32"
    assert linear.tolerance == 1e-3
    assert linear.torch.startswith("2.")
    assert verdicts["bfloat16"].tolerance == 1e-2


def test_two_inputs_and_a_branch_are_seen_in_the_graph(verdicts):
    graph = verdicts["norm with statistics of the batch"].graph

    assert [(node.op, node.inputs) for node in graph] == [
        ("nn.BatchNorm1d", (-1,)),
        ("torch.sigmoid", (-2,)),
        ("torch.mul", (0, 1)),
    ]


def test_measuring_again_gives_a_second_verdict_of_each(meter):
    sound, broken = make_problem(RELU_MEAN), make_problem(program("return x @ x"))
    (first,) = meter.measure([sound])
    again, turned = meter.remeasure([sound, broken])

    assert (again.problem, again.graph) == (first.problem, first.graph)
    assert again.eager != first.eager
    assert (turned.subject, turned.reason) == (broken.key, "forward_error")


def test_a_hang_is_tried_again_alone_and_is_then_a_time_out():
    deadlines = SETTINGS.deadlines.model_copy(update={"eager_s": 0.7})
    settings = SETTINGS.model_copy(update={"deadlines": deadlines, "workers": 1})
    hang = make_problem(program("while True: pass"))
    with Supervised(settings) as meter:
        begin = time.monotonic()
        verdicts = list(meter.measure([hang, make_problem(program("return x @ x"))]))
        elapsed_s = time.monotonic() - begin

    assert [v.reason for v in verdicts] == ["forward_error", "timeout"]
    assert verdicts[1].detail == "eager took over 0.7 s"
    assert verdicts[1].limit == 0.7
    assert elapsed_s > 2 * 0.7


def test_a_candidate_that_fills_memory_bit_by_bit_is_stopped():
    settings = SETTINGS.model_copy(update={"memory_gb": 0.6, "workers": 1})
    grow = make_problem(program("kept = []\nwhile True: kept.append(torch.ones(2**20))"))
    with Supervised(settings) as meter:
        (verdict,) = meter.measure([grow])

    assert verdict.reason == "out_of_memory"


def test_a_timing_that_spreads_too_far_is_noisy():
    settings = SETTINGS.model_copy(update={"max_spread": 1e-9, "workers": 1})
    with Supervised(settings) as meter:
        (verdict,) = meter.measure([make_problem(RELU_MEAN)])

    assert (verdict.reason, verdict.limit) == ("noisy_timing", 1e-9)


def test_a_poisoned_worker_spoils_no_neighbour():
    settings = SETTINGS.model_copy(update={"workers": 1})
    poison = program("raise RuntimeError('CUDA error: an illegal memory access')")
    with Supervised(settings) as meter:
        verdicts = list(meter.measure([make_problem(poison), make_problem(RELU_MEAN)]))

    assert verdicts[0].reason == "crash"
    assert isinstance(verdicts[1], Measurement), verdicts[1]


def state_of(pid):
    """State letter of a process; a process that is gone is as good as a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def test_a_child_that_outlives_its_candidate_holds_nothing_up_and_is_ended():
    settings = SETTINGS.model_copy(update={"workers": 1})
    leave = program(
        "import os, time\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os.setsid()\n"
        "    time.sleep(1000)\n"
        "raise ValueError(child)"
    )
    with Supervised(settings) as meter:
        verdicts = list(meter.measure([make_problem(leave), make_problem(RELU_MEAN)]))
        left_behind = int(verdicts[0].detail.removeprefix("ValueError: "))
        alive = "Z" not in state_of(left_behind)

    assert isinstance(verdicts[1], Measurement), verdicts[1]
    assert not alive


def test_a_candidate_that_forks_gets_one_verdict_and_leaves_no_second_worker():
    settings = SETTINGS.model_copy(update={"workers": 1})
    forks = program("import os\nos.fork()\nreturn torch.log(x)")
    codes = [forks, RELU_MEAN, program("return x @ x")]
    with Supervised(settings) as meter:
        verdicts = list(meter.measure([make_problem(code) for code in codes]))

    assert [getattr(v, "reason", "measured") for v in verdicts] == [
        "nonfinite_output",
        "measured",
        "forward_error",
    ]


@pytest.fixture
def lacking(monkeypatch):
    """A machine, made up, that lacks two isolations, and the settings it was started with."""

    class Machine:
        isolation = {name: name not in ("network", "processes") for name in PROMISES}  # noqa: RUF012
        closed = False

        def start(self, plan, workers, *_, **named):
            self.settings = {"plan": plan, "workers": workers, **named}
            return self

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.closed = True

    machine = Machine()
    monkeypatch.setattr("fusewright.measure.meter.Supervisor", machine.start)
    return machine


FORGE = """import os, json, sys
frame = sys._getframe()
while 'request' not in frame.f_locals:
    frame = frame.f_back
token = frame.f_locals['request']['token']
for fd in range(3, 64):
    try:
        os.write(fd, json.dumps({line}).encode() + b"\\n")
    except OSError:
        pass
return x @ x"""


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"measurement": {}}', "forward_error"),
        ('{"rejection": {"reason": "weird"}, "token": ""}', "forward_error"),
        ("[1, 2]", "crash"),
        ('{"token": token, "rejection": [1]}', "crash"),
        ('{"token": token, "measurement": {}, "rejection": {}}', "crash"),
        ('{"token": token, "canary": {"matmul_ms": 1.0}}', "crash"),
        ('{"token": token, "measurement": {"eager": 1}}', "crash"),
        ('{"token": token, "measurement": {}, "untried": True}', "crash"),
    ],
)
def test_a_forged_line_decides_nothing(line, reason):
    settings = SETTINGS.model_copy(update={"workers": 1})
    forger = program(FORGE.replace("{line}", line))
    with Supervised(settings) as meter:
        verdicts = list(meter.measure([make_problem(forger), make_problem(RELU_MEAN)]))

    # Garbage that comes with the news that work has begun hides it: then the forger is sent again.
    assert sorted(isinstance(verdict, Measurement) for verdict in verdicts) == [False, True]
    assert [v.reason for v in verdicts if isinstance(v, Rejection)] == [reason]


def test_candidates_see_no_secret_no_home_and_no_network(monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    peek = program(
        "import os, pathlib, socket\n"
        "def outcome(attempt, *words):\n"
        "    try:\n"
        "        return bool(attempt(*words))\n"
        "    except OSError:\n"
        "        return 'refused'\n"
        "environment = pathlib.Path(f'/proc/{os.getppid()}/environ')\n"
        "raise ValueError(os.environ.get('HF_TOKEN'), outcome(socket.socket),"
        f" outcome(os.listdir, {str(Path.home())!r}), outcome(environment.read_bytes))"
    )
    settings = SETTINGS.model_copy(update={"workers": 1})
    with Supervised(settings) as meter:
        (verdict,) = meter.measure([make_problem(peek)])
        isolation = meter._supervisor.isolation
    if not (isolation["network"] and isolation["environment"]):
        pytest.skip("this kernel isolates no candidate")

    assert verdict.detail == "ValueError: (None, 'refused', 'refused', 'refused')"


def test_workers_are_replaced_after_their_share_of_candidates():
    settings = SETTINGS.model_copy(update={"recycle_after": 1, "workers": 1})
    who = [program(f"import os\nraise ValueError(os.getpid(), {i})") for i in range(3)]
    with Supervised(settings) as meter:
        details = {v.detail.split(",")[0] for v in meter.measure([make_problem(c) for c in who])}

    assert len(details) == 3


def test_a_machine_that_lacks_a_required_isolation_is_told_of_in_one_line(lacking):
    settings = SETTINGS.model_copy(update={"isolation": "required", "workers": 1})
    with pytest.raises(MeasureError) as refused, Supervised(settings):
        pytest.fail("it went on")

    assert str(refused.value) == (
        "candidates are not isolated in: network, processes; `measure.isolation` is required: "
        "measure elsewhere, or set it to best"
    )
    assert lacking.closed


def test_a_machine_that_lacks_an_isolation_nobody_requires_is_warned_of(lacking, caplog):
    with Supervised(SETTINGS.model_copy(update={"workers": 1})):
        assert not lacking.closed

    assert caplog.messages == ["candidates are not isolated in: network, processes"]


def test_nothing_is_said_of_a_machine_that_lacks_nothing(lacking, caplog):
    lacking.isolation = dict.fromkeys(PROMISES, True)
    with Supervised(SETTINGS.model_copy(update={"isolation": "required", "workers": 1})):
        pass

    assert caplog.messages == []


@pytest.mark.parametrize(
    ("devices", "workers", "each"),
    [((0,), None, 6), ((0, 1), None, 3), ((3, 5, 7, 9), None, 1), (tuple(range(9)), None, 1),
     ((0, 1), 5, 5)],
)  # fmt: skip
def test_devices_share_the_cores_less_two(lacking, monkeypatch, devices, workers, each):
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    with Supervised(SETTINGS.model_copy(update={"devices": devices, "workers": workers})):
        assert lacking.settings["workers"] == each
        assert lacking.settings["devices"] == devices


@pytest.mark.parametrize(("device", "canary_s"), [("cuda", 60.0), ("cpu", None)])
def test_only_a_gpu_gets_canaries(lacking, device, canary_s):
    with Supervised(SETTINGS.model_copy(update={"device": device})):
        assert lacking.settings["canary_s"] == canary_s


def test_the_plan_is_what_the_settings_say(lacking):
    settings = SETTINGS.model_copy(update={"window_ms": (2.0, 3.0), "max_spread": 0.5})
    with Supervised(settings):
        plan = lacking.settings["plan"]

    assert (plan.device, plan.window_ms, plan.max_spread) == ("cpu", (2.0, 3.0), 0.5)
    assert plan.memory_bytes == 3 * 10**9


def test_settings_that_a_candidate_changes_do_not_reach_the_next_one():
    spoilt = program(
        "torch.set_num_threads(7)\n"
        "torch.set_default_dtype(torch.float64)\n"
        "torch.use_deterministic_algorithms(True)\n"
        "return x.exp()"
    )
    telling = program(
        "if torch.get_num_threads() != 1 or torch.are_deterministic_algorithms_enabled():\n"
        "    raise ValueError('spoilt')\n"
        "return x.exp()"
    )
    settings = SETTINGS.model_copy(update={"workers": 1})
    with Supervised(settings) as meter:
        verdicts = [
            verdict
            for code in (spoilt, telling)
            for verdict in meter.measure([make_problem(code=code)])
        ]

    assert isinstance(verdicts[1], Measurement), verdicts[1]
