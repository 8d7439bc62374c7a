import pytest

from fusewright.identity import class_shingles, jaccard, shingles, text_hash
from fusewright.testing import RELU_MEAN


def test_sizes_names_docstrings_and_dead_lines_do_not_count():
    disguised = (
        RELU_MEAN.replace("256", "4096")
        .replace("proj", "lin")
        .replace("x = torch.relu", "unused = x * 2.0 + 1.0\n        y = torch.relu")
        .replace("torch.mean(x", "torch.mean(y")
        .replace("Rectify", "Do something to")
    )

    assert disguised != RELU_MEAN
    assert shingles(disguised) == shingles(RELU_MEAN)


@pytest.mark.parametrize(
    ("old", "new"), [("torch.relu", "torch.tanh"), ("nn.Linear", "nn.Bilinear"), ("dim=1", "1")]
)
def test_operators_and_the_form_of_a_call_count(old, new):
    assert shingles(RELU_MEAN.replace(old, new)) != shingles(RELU_MEAN)


def test_each_class_has_its_own_and_helpers_of_the_file_do_not_matter_to_it():
    helper = "\n\nclass Other:\n    def forward(self, x):\n        return x.tanh().exp()\n"
    found = class_shingles(RELU_MEAN + helper)

    assert set(found) == {"Model", "Other"}
    assert found["Model"] == shingles(RELU_MEAN)
    assert found["Model"] | found["Other"] == shingles(RELU_MEAN + helper)


def test_hashes_never_change_or_every_shipped_fingerprint_must_be_made_anew():
    found = shingles(RELU_MEAN)

    assert text_hash(str(sorted(found))) == "7fc9fb9fae67212d"
    assert all(0 <= piece < 2**32 for piece in found)


def test_a_class_shorter_than_a_shingle_has_one():
    assert len(shingles("class A: pass")) == 1


def test_f_strings_are_one_token_whatever_they_hold():
    one, other = ('class A:\n    x = f"{a!r:>{b}} and {c}"', 'class A:\n    x = f"{d}"')

    assert shingles(one) == shingles(other)


@pytest.mark.parametrize(
    ("a", "b", "share"),
    [({1, 2, 3}, {2, 3, 4}, 0.5), ({1}, {2}, 0.0), ({1}, {1}, 1.0), ((), (), 1)],
)
def test_jaccard_is_the_shared_part_of_both(a, b, share):
    assert jaccard(frozenset(a), frozenset(b)) == share
