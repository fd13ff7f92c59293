"""Each test here has a working folder of its own."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _own_folder(own_folder: None) -> None:
    del own_folder
