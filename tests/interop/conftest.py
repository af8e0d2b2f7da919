import pytest

from tests.interop.samples import restart


@pytest.fixture(autouse=True)
def _same_numbers_whichever_tests_run():
    restart()
