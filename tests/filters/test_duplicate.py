import pytest

from fusewright.filters.duplicate import ExactDuplicate, NearDuplicate
from fusewright.identity import jaccard, shingles
from fusewright.protocols import ProblemFilter, Remembering
from fusewright.testing import RELU_MEAN, check_filter, make_problem

FIRST = make_problem(RELU_MEAN)
RENAMED = make_problem(RELU_MEAN.replace("proj", "lin").replace("64", "64 # rows"), seed=1)
RESIZED = make_problem(RELU_MEAN.replace("256", "512"), seed=2)
REWIRED = make_problem(RELU_MEAN.replace("dim=1", "dim=1, keepdim=True"), seed=3)
OTHER = make_problem(RELU_MEAN.replace("torch.relu", "torch.tanh"), seed=4)
SHARE = jaccard(shingles(FIRST.code), shingles(REWIRED.code))


@pytest.mark.parametrize("judge", [ExactDuplicate(), NearDuplicate()])
def test_the_filters_satisfy_both_protocols(judge):
    as_filter: ProblemFilter = judge
    as_memory: Remembering = judge
    assert as_filter is as_memory


@pytest.mark.parametrize(
    ("problem", "reason"), [(RENAMED, "exact_duplicate"), (RESIZED, None), (OTHER, None)]
)
def test_the_same_text_under_other_names_is_an_exact_duplicate(problem, reason):
    judge = ExactDuplicate()
    judge.remember(FIRST)
    rejection = check_filter(judge, problem, reason=reason)

    assert rejection is None or FIRST.id in rejection.detail


@pytest.mark.parametrize("judge", [ExactDuplicate(), NearDuplicate()])
def test_only_what_is_remembered_has_duplicates(judge):
    check_filter(judge, FIRST, reason=None)
    check_filter(judge, RENAMED, reason=None)
    judge.remember(FIRST)
    judge.remember(FIRST)
    check_filter(judge, RENAMED, reason=judge.name)


def test_the_first_of_equal_problems_is_the_twin_that_is_named():
    judge = ExactDuplicate()
    judge.remember(FIRST)
    judge.remember(RENAMED)

    assert FIRST.id in judge.judge(make_problem(RELU_MEAN, seed=9)).detail


@pytest.mark.parametrize(
    ("limit", "reason"), [(SHARE, "near_duplicate"), (SHARE + 1e-6, None)], ids=["at", "under"]
)
def test_the_share_at_the_limit_is_a_near_duplicate_and_under_it_is_not(limit, reason):
    judge = NearDuplicate(limit=limit)
    judge.remember(FIRST)
    rejection = check_filter(judge, REWIRED, reason=reason)

    assert 0.8 < SHARE < 1
    assert rejection is None or (rejection.value, rejection.limit) == (SHARE, limit)


def test_with_other_operators_a_near_text_is_kept_and_named():
    judge = NearDuplicate(limit=0.5)
    judge.remember(FIRST)
    facts = judge.judge(OTHER)

    assert facts["nearest_row"] == FIRST.id
    assert facts["row_similarity"] == jaccard(shingles(FIRST.code), shingles(OTHER.code)) > 0.5


def test_a_problem_that_resembles_nothing_has_no_nearest_row():
    judge = NearDuplicate()
    judge.remember(make_problem("class Other:\n    def forward(self, x):\n        return x.exp()"))

    assert judge.judge(FIRST) == {"nearest_row": None, "row_similarity": None}


def test_texts_without_classes_resemble_nothing():
    judge = NearDuplicate()
    judge.remember(make_problem("x = 1"))

    check_filter(judge, make_problem("y = 2"), reason=None)


def test_the_right_one_of_many_rows_is_found():
    calls = ["exp", "sin", "cos", "tan", "erf", "abs", "neg", "ceil", "floor", "round"]
    judge = NearDuplicate()
    for seed in range(300):
        lines = [calls[seed // 10**place % 10] for place in range(3)]
        body = "\n".join(f"        x = x.{call}()" for call in lines * 3)
        judge.remember(
            make_problem(
                f"class Model:\n    def forward(self, x):\n{body}\n        return x", seed=seed
            )
        )
    judge.remember(FIRST)
    rejection = check_filter(judge, RESIZED, reason="near_duplicate")

    assert FIRST.id in rejection.detail


@pytest.mark.parametrize("limit", [0, -0.1, 1.1, float("nan")])
def test_a_limit_that_is_no_share_is_refused(limit):
    with pytest.raises(ValueError, match="expected 0 < limit <= 1"):
        NearDuplicate(limit=limit)


FUNCTIONAL = RELU_MEAN.replace("torch.relu(self.proj(x))", "self.proj(x).relu()")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (FUNCTIONAL, "exact_duplicate"),
        (FUNCTIONAL.replace("256", "512"), None),
        (FUNCTIONAL.replace("relu", "tanh"), None),
    ],
    ids=["spelled", "resized", "other"],
)
def test_the_same_graph_with_the_same_numbers_is_an_exact_duplicate(code, reason):
    judge = ExactDuplicate()
    judge.remember(FIRST)
    rejection = check_filter(judge, make_problem(code, seed=5), reason=reason)

    assert code != RELU_MEAN
    assert rejection is None or "by the same operators and numbers" in rejection.detail
