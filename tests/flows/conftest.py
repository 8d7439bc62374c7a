import pytest

from fusewright.flows.pipeline import Pipeline
from fusewright.runfolder import RunFolder

from .runs import small_config


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """Config of the small run."""
    return small_config(tmp_path_factory.mktemp("plugins"))


@pytest.fixture(scope="session")
def mined(tmp_path_factory, small):
    """A run folder in which operators were mined, to be copied."""
    folder = tmp_path_factory.mktemp("mined") / "run"
    with RunFolder(folder, small) as run, Pipeline(run) as pipeline:
        pipeline.mine()
    return folder
