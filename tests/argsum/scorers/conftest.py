"""Tiny models that learn the invented dataset in a data folder of their own."""

import pytest


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """“tiny” reads, “tiny-t5” writes."""
    from tests.argsum.scorers.tiny_models import make_tiny_model, make_tiny_writer

    folder = tmp_path_factory.mktemp("models")
    make_tiny_writer(folder / "tiny-t5")
    make_tiny_model(folder / "tiny")
    return folder


@pytest.fixture
def data(settings, tmp_path, models):
    """A data folder in which both are known by their names."""
    settings.DATA_DIR = tmp_path
    (tmp_path / "models").mkdir()
    for model in models.iterdir():
        (tmp_path / "models" / model.name).symlink_to(model, target_is_directory=True)
    return tmp_path


@pytest.fixture
def dataset(study):
    from tests.argsum.made_cells import make_learning_dataset

    return make_learning_dataset(study)


@pytest.fixture(scope="module")
def one_thread():
    """Two threads for so little would wait for each other while other tests run."""
    from cqa_site.judging.training import Training

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Training, "threads", 1)
        yield
