"""Which partitioners and settings each released kafka-clients has, read from its jar."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

pytestmark = pytest.mark.reference

DEFAULT = "org/apache/kafka/clients/producer/internals/DefaultPartitioner.class"
CONSUMER_CONFIG = "org/apache/kafka/clients/consumer/ConsumerConfig.class"


@pytest.mark.parametrize(
    ("profile", "has_default", "has_static"),
    [
        ("0.10", True, False),
        ("2.3", True, True),
        ("2.8", True, True),
        ("3.9", True, True),
        ("4.0", False, True),
        ("", False, True),
    ],
)
def test_default_partitioner_goes_with_4_0_and_static_membership_comes_with_2_3(
    reference: Callable[[str], ModuleType],
    tmp_path: Path,
    profile: str,
    has_default: bool,
    has_static: bool,
) -> None:
    *_, classpath = reference("builds").build_java(tmp_path, profile)
    (jar,) = Path(classpath.rpartition(os.pathsep)[2].removesuffix("*")).glob("kafka-clients-*.jar")
    with zipfile.ZipFile(jar) as classes:
        assert (DEFAULT in classes.namelist()) == has_default
        assert (b"group.instance.id" in classes.read(CONSUMER_CONFIG)) == has_static
