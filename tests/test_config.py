from pathlib import Path

import pytest

from fusewright.config import Config, describe
from fusewright.configfile import load_config, override
from fusewright.errors import ConfigError

CONFIGS = sorted((Path(__file__).parents[1] / "configs").glob("*.yaml"))


def write(tmp_path, text):
    path = tmp_path / "a.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("path", CONFIGS, ids=lambda p: p.name)
def test_every_shipped_config_loads_and_opens_with_its_command(path):
    first = path.read_text().splitlines()[0]

    assert load_config(path).name == path.stem
    assert first.startswith("# fusewright run --config configs/")


def test_without_a_file_the_quickstart_is_taken():
    assert load_config(None) == load_config(CONFIGS[0].with_name("quickstart.yaml"))


def test_an_empty_file_is_all_defaults(tmp_path):
    assert load_config(write(tmp_path, "")) == Config()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("mesure: {}", "no setting 'mesure'; did you mean 'measure'?"),
        ("judge: {min_eagre_ms: 1}", "did you mean 'judge.min_eager_ms'?"),
        ("measure: {deadlines: {bild_s: 1}}", "did you mean 'measure.deadlines.build_s'?"),
        ("compose: {composers: [{nam: graph}]}", "did you mean 'compose.composers.0.name'?"),
        ("judge: {min_eager_ms: -1}", "judge.min_eager_ms: Input should be greater than 0"),
        ("judge: {min_eager_ms: 9, max_eager_ms: 3}", "min_eager_ms 9.0 is above max_eager_ms 3.0"),
        ("measure: {min_repetitions: 60}", "min_repetitions 60 is above max_repetitions 50"),
        ("measure: {window_ms: [9, 3]}", "window_ms begins at 9.0 and ends at 3.0"),
        ("measure: {devices: [0, 1, 0]}", "devices [0, 1, 0] names one twice; expected each once"),
        ("measure: {devices: []}", "measure.devices"),
        ("measure: {devices: [-1]}", "measure.devices.0"),
        ("measure: {isolation: some}", "measure.isolation: Input should be 'best' or 'required'"),
        ("measure: {canary_s: 0}", "measure.canary_s"),
        ("measure: {device: tpu}", "measure.device: Input should be 'cpu' or 'cuda'"),
        ("screen: {near_duplicate: 1.5}", "screen.near_duplicate"),
        ("name: 'a/b'", "name: String should match pattern"),
        ("- a", "holds a list; expected `key: value` lines"),
        ("a: [", "is not YAML"),
    ],
)
def test_a_wrong_setting_is_one_line_that_says_what_was_expected(tmp_path, text, complaint):
    with pytest.raises(ConfigError) as caught:
        load_config(write(tmp_path, text))

    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_names_those_that_are_there(tmp_path):
    write(tmp_path, "")

    with pytest.raises(ConfigError, match=r"nope\.yaml does not exist; there is .*a\.yaml"):
        load_config(tmp_path / "nope.yaml")


def test_set_reads_its_value_as_yaml():
    config = load_config(None, ["judge.min_headroom=1.2", "measure.workers=null", "name=other"])

    assert (config.judge.min_headroom, config.measure.workers, config.name) == (1.2, None, "other")


@pytest.mark.parametrize(
    "wrong", ["judge", "=3", "judge.x=1", "seed.deeper=1", "seed=[", "seed=-1"]
)
def test_a_wrong_set_is_an_error(wrong):
    with pytest.raises(ConfigError):
        load_config(None, [wrong])


def test_override_changes_one_setting_and_leaves_the_rest():
    before = load_config(None)
    after = override(before, ["select.target=3"])

    assert after.select.target == 3
    assert after.model_copy(update={"select": before.select}) == before


def test_the_hash_changes_with_any_setting():
    assert Config().hash != Config(seed=1).hash
    assert Config().hash == Config().hash


def test_every_setting_has_its_sentence():
    for name, _, sentence in describe(Config()):
        assert sentence.endswith((".", ")")), name
