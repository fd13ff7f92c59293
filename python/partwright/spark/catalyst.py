"""Kafka's murmur2 of bytes as an expression of Catalyst: a call of a static method that is on Spark's class path.

None of this is public to Python: Spark's own Scala is reached through py4j, which classic sessions alone have. What it
gives is asked for some keys before the first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from py4j.protocol import Py4JJavaError
from pyspark.sql import functions as sf

from partwright.errors import PartwrightError
from partwright.keys import hashing
from partwright.spark.requirements import pyspark_version

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

__all__ = ["murmur2_called"]

_UTILITIES = "org.apache.spark.sql.classic.ExpressionUtils"
_IS_BEFORE_4 = pyspark_version() < (4, 0)
_GOLDEN = (b"", b"a", b"TT0124", b"\x00\xff\x80\x7f\x01", bytes(range(256)), "漢字".encode())


class _Hasher(NamedTuple):
    """A static method of Java's that is Kafka's murmur2; some take the number of bytes, too."""

    class_name: str
    method: str
    takes_length: bool


_KAFKA = "org.apache.kafka.common.utils.Utils"
_HASHERS = (
    _Hasher("org.apache.commons.codec.digest.MurmurHash2", "hash32", True),
    _Hasher(_KAFKA, "murmur2", False),
    # As Databricks has it.
    _Hasher(f"kafkashaded.{_KAFKA}", "murmur2", False),
)


def murmur2_called(spark: SparkSession, key: Column) -> Column:
    """The hash of texts and binaries as a signed int; null where the key is null.

    Raises:
        PartwrightError: No method on the class path hashes as Kafka does.
    """
    return _called(spark, _hasher(spark), key)


# By the id of a Spark application, what its driver was found to hash with.
_FOUND: dict[str, _Hasher] = {}


def _hasher(spark: SparkSession) -> _Hasher:
    """The first of Java's methods that is there and hashes some keys as Kafka does.

    Spark works these keys out on the driver as it plans; no task runs.

    Raises:
        PartwrightError: There is none.
    """
    application = spark.sparkContext.applicationId
    if application not in _FOUND:
        golden = spark.createDataFrame([(bytearray(key),) for key in _GOLDEN], "key binary")
        wanted = [hashing.murmur2(key) for key in _GOLDEN]
        for hasher in _HASHERS:
            if _class(spark, hasher.class_name) is None:
                continue
            rows = golden.select(_called(spark, hasher, sf.col("key"))).collect()
            if [row[0] for row in rows] == wanted:
                _FOUND[application] = hasher
                break
        else:
            names = ", ".join(each.class_name for each in _HASHERS)
            raise PartwrightError(
                f"engine jvm finds no murmur2 that hashes as Kafka does on Spark's class path (it looked for {names}): "
                "leave engine out for arrow"
            )
    return _FOUND[application]


def _called(spark: SparkSession, hasher: _Hasher, key: Column) -> Column:
    """The expression that calls a method for each key that is not null."""
    jvm: Any = spark._jvm
    given, types = [key, sf.octet_length(key)], ["BinaryType", "IntegerType"]
    if not hasher.takes_length:
        del given[1], types[1]
    sequence = jvm.org.apache.spark.api.python.PythonUtils.toSeq
    arguments = [
        _class(spark, hasher.class_name),
        _object(jvm, "org.apache.spark.sql.types.IntegerType"),
        hasher.method,
        sequence([_expression(jvm, each) for each in given]),
        sequence([_object(jvm, f"org.apache.spark.sql.types.{name}") for name in types]),
        # A null key is not asked for; the answer may be null, and is always the same.
        *(True, True, True),
    ]
    if not _IS_BEFORE_4:
        # A function of a catalogue, which it is none of.
        arguments.append(_object(jvm, "scala.None"))
    invoked = jvm.org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke(*arguments)
    return _column(jvm, invoked)


def _class(spark: SparkSession, name: str) -> Any:
    """A class of Java's as Spark's tasks find it; None where it is not there."""
    jvm: Any = spark._jvm
    loader = jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader()
    try:
        return jvm.java.lang.Class.forName(name, True, loader)
    except Py4JJavaError:
        return None


def _object(jvm: Any, name: str) -> Any:
    """An object of Scala's."""
    package, _, last = name.rpartition(".")
    for part in package.split("."):
        jvm = getattr(jvm, part)
    return getattr(getattr(jvm, f"{last}$"), "MODULE$")


def _expression(jvm: Any, column: Any) -> Any:
    if _IS_BEFORE_4:
        return column._jc.expr()
    return _object(jvm, _UTILITIES).expression(column._jc)


def _column(jvm: Any, expression: Any) -> Column:
    if _IS_BEFORE_4:
        from pyspark.sql import Column as Classic

        return Classic(jvm.org.apache.spark.sql.Column(expression))
    from pyspark.sql.classic.column import Column

    found: Column = Column(_object(jvm, _UTILITIES).column(expression))
    return found
