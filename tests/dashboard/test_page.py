import json
import re
from pathlib import Path

import pytest

from fusewright.dashboard import build
from fusewright.ledger import Ledger
from fusewright.publish.fidelity import figures
from fusewright.records import Measurement, Node, Operator, Passed, Problem, Rejection, Screening
from fusewright.testing import RELU_MEAN, make_measurement, make_problem

CHARTS = ["funnel", "reasons", "timings", "speedups", "operators", "similarities"]
HOSTILE = "</script><script>alert(1)</script>"
LIMIT_BYTES = 3_000_000


def test_the_funnel_on_the_page_is_that_of_the_ledger(make_run, parse):
    ledger = make_run()
    rows = parse(build(ledger, "run")).having("data-stage")
    assert len(rows) == 6
    for row in rows:
        tally = ledger.tally(row["data-stage"])
        assert int(row["data-inputs"]) == tally.inputs
        assert int(row["data-kept"]) == tally.kept
        assert int(row["data-rejected"]) == tally.rejected.total()


def test_the_reasons_on_the_page_are_those_of_the_ledger(make_run, parse):
    ledger = make_run()
    shown: dict[str, dict[str, int]] = {}
    for row in parse(build(ledger, "run")).having("data-reason"):
        shown.setdefault(row["data-of"], {})[row["data-reason"]] = int(row["data-count"])
    stages = ("mine", "compose", "screen", "measure", "judge", "select")
    assert shown == {stage: dict(ledger.tally(stage).rejected) for stage in stages}


def test_the_headline_gives_seven_figures(make_run, parse):
    assert parse(build(make_run(), "run")).figures() == {
        "mined operators": "4",
        "candidates": "12",
        "survivors": "7",
        "yield": str(9 / 12 * 8 / 9 * 7 / 8),
        "median eager": "5.0",
        "median speed-up": "2.5",
        "device": "fake",
    }


def test_what_was_timed_again_is_a_line_on_the_page(make_run):
    differences = {"eager": [0.0012], "compiled": [0.034]}
    again = {"fraction": 0.1, "sampled": 2} | figures(differences, {"timeout": 1})
    html = " ".join(build(make_run(), "run", fidelity=again).split())
    assert "Of 2 drawn by hash, 1 were timed again" in html
    assert "eager came within 0.12% for half of them" in html
    assert "compiled came within 3.40% for half of them" in html


def test_a_sample_that_was_turned_away_whole_claims_no_closeness(make_run):
    again = {"sampled": 1} | figures({"eager": [], "compiled": []}, {"timeout": 1})
    html = build(make_run(), "run", fidelity=again)
    assert "0 were timed again" in html
    assert "came within" not in html


def test_a_run_that_was_measured_once_has_no_such_line(make_run, parse):
    assert parse(build(make_run(), "run")).having("data-fidelity") == []


def test_every_chart_of_a_whole_run_has_a_specification(make_run, parse):
    page = parse(build(make_run(), "run"))
    assert [tag["data-chart"] for tag in page.having("data-chart")] == CHARTS
    specs = [json.loads(script) for script in page.scripts[:-1]]
    assert all(spec["$schema"].endswith(".json") for spec in specs)
    assert len(specs) == len(CHARTS)


@pytest.mark.parametrize(
    ("last", "drawn"),
    [
        ("mine", ["reasons"]),
        ("compose", ["funnel", "reasons"]),
        ("screen", ["funnel", "reasons", "similarities"]),
        ("measure", ["funnel", "reasons", "timings", "speedups", "similarities"]),
        ("judge", CHARTS),
    ],
)
def test_a_run_in_progress_draws_what_it_knows(make_run, parse, last, drawn):
    html = build(make_run(last=last), "run")
    assert [tag["data-chart"] for tag in parse(html).having("data-chart")] == drawn


def test_a_run_in_progress_says_what_is_still_to_be_decided(make_run):
    html = " ".join(build(make_run(last="screen"), "run").split())
    assert "Still to be decided: 9 by measure." in html


def test_an_empty_run_renders_without_a_chart(tmp_path, parse):
    page = parse(build(Ledger(tmp_path), "run"))
    assert page.having("data-chart") == []
    assert {row["data-kept"] for row in page.having("data-stage")} == {"0"}


def test_a_run_that_rejected_nothing_says_so(tmp_path, parse):
    ledger = one_problem(tmp_path, make_problem())
    html = build(ledger, "run")
    assert html.count("Nothing was turned away.") == 2
    assert parse(html).having("data-reason") == []


def test_text_of_candidates_cannot_leave_its_place(tmp_path, parse):
    problem = make_problem(code=f'"""{HOSTILE}"""\n{RELU_MEAN}')
    graph = (Node(op=HOSTILE, inputs=(-1,)),)
    ledger = one_problem(tmp_path, problem, graph=graph, device=HOSTILE)
    other = make_problem(seed=1)
    hostile = Rejection.of(other, "judge", HOSTILE, HOSTILE)
    ledger.append("judge", [(other.key, hostile)], Passed)
    html = build(ledger, HOSTILE)
    page = parse(html)
    assert HOSTILE not in html
    *specs, script = page.scripts
    assert [tag["type"] for tag in page.having("data-spec")] == ["application/json"] * len(specs)
    assert HOSTILE in json.dumps(datasets(page, "operators"))
    assert "alert(1)" not in script


def test_the_page_asks_the_network_for_nothing(make_run, parse):
    page = parse(build(make_run(), "run"))
    (policy,) = [tag["content"] for tag in page.having("http-equiv")]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    assert page.having("src") == []
    assert all(tag["href"].startswith("#") for tag in page.having("href"))
    styles = re.search(r"<style>(.*?)</style>", page.html, re.DOTALL)
    assert styles
    assert not re.search(r"url\(|@import", styles[1])


def test_vega_stands_on_the_page_once(make_run, parse):
    page = parse(build(make_run(), "run"))
    assert [len(script) > 500_000 for script in page.scripts] == [False] * len(CHARTS) + [True]


def test_the_same_ledger_gives_the_same_bytes(make_run):
    ledger = make_run()
    assert build(ledger, "run") == build(ledger, "run")


def test_building_leaves_the_run_folder_as_it_was(make_run):
    ledger = make_run()
    before = contents(ledger.root)
    build(ledger, "run")
    assert contents(ledger.root) == before


def test_the_window_drawn_is_the_one_given(make_run, parse):
    page = parse(build(make_run(), "run", window_ms=(2.0, 7.0)))
    assert "2 to 7 ms" in page.html
    assert {"at": 2.0} in datasets(page, "timings")


def test_without_a_window_the_limits_of_rejections_are_drawn(tmp_path, parse):
    ledger = one_problem(tmp_path, make_problem())
    slow = make_problem(seed=1)
    verdict = Rejection.of(slow, "judge", "too_slow", value=90.0, limit=8.0)
    ledger.append("judge", [(slow.key, verdict)], Passed)
    assert {"at": 8.0} in datasets(parse(build(ledger, "run")), "timings")


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.041234, "0.0412"), (5.0, "5"), (12345.0, "12,300"), (1e-5, "0.00001")],
)
def test_times_are_shown_to_three_digits_without_an_exponent(tmp_path, value, shown):
    ledger = one_problem(tmp_path, make_problem(), eager_ms=value)
    assert f">{shown} ms<" in build(ledger, "run")


def test_samples_are_capped_and_long_code_is_cut(make_run, parse):
    ledger = make_run(candidates=60, code="#" * 10_000)
    html = build(ledger, "run")
    kept = [tag for tag in parse(html).having("data-sample") if tag["data-sample"] == "kept"]
    assert len(kept) == 20
    assert "#" * 4000 in html
    assert "#" * 4001 not in html
    assert "more characters are in the run" in html


@pytest.mark.parametrize(
    ("subject", "shown"),
    [("0123456789abcdef", "01234567"), ("functions:F.log_softmax", "functions:F.log_softmax")],
)
def test_a_hash_is_shown_by_its_beginning_and_a_name_whole(tmp_path, subject, shown):
    ledger = Ledger(tmp_path)
    alias = Rejection(subject=subject, stage="mine", reason="alias", detail="the same")
    ledger.append("mine", [(subject, alias)], Operator)
    assert f'<code class="key">{shown}</code>' in build(ledger, "run")


def test_a_reason_shows_at_most_five_samples(tmp_path, parse):
    problems = [make_problem(seed=seed) for seed in range(9)]
    ledger = Ledger(tmp_path)
    ledger.append("compose", [(p.key, p) for p in problems], Problem)
    turned = [(p.key, Rejection.of(p, "screen", "syntax_error", "line 1")) for p in problems]
    ledger.append("screen", turned, Screening)
    samples = parse(build(ledger, "run")).having("data-sample")
    assert [tag["data-sample"] for tag in samples] == ["syntax_error"] * 5


def test_a_large_run_stays_under_three_megabytes(tmp_path):
    problems = [make_problem(RELU_MEAN * 10, seed=seed) for seed in range(3500)]
    ledger = Ledger(tmp_path)
    ledger.append("compose", [(p.key, p) for p in problems], Problem)
    measured = [(p.key, make_measurement(p, 1.2345678 + p.seed / 97, 1.0)) for p in problems]
    ledger.append("measure", measured, Measurement)
    judged = [
        (p.key, Rejection.of(p, "judge", f"reason_{p.seed % 50}", "x" * 900))
        if p.seed % 2
        else (p.key, Passed(problem=p.key))
        for p in problems
    ]
    ledger.append("judge", judged, Passed)
    assert len(build(ledger, "run").encode()) < LIMIT_BYTES


def one_problem(root: Path, problem: Problem, eager_ms: float = 5.0, **fields) -> Ledger:
    ledger = Ledger(root)
    ledger.append("compose", [(problem.key, problem)], Problem)
    measured = make_measurement(problem, eager_ms, **fields)
    ledger.append("measure", [(problem.key, measured)], Measurement)
    ledger.append("judge", [(problem.key, Passed(problem=problem.key))], Passed)
    return ledger


def contents(root: Path) -> dict[Path, tuple[int, bytes]]:
    files = (path for path in root.rglob("*") if path.is_file())
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def datasets(page, chart: str) -> list[dict]:
    index = [tag["data-spec"] for tag in page.having("data-spec")].index(chart)
    named = json.loads(page.scripts[index])["datasets"]
    return [row for rows in named.values() for row in rows]
