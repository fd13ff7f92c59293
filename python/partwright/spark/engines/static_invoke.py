"""Kafka's murmur2 of bytes as a Catalyst expression that calls a static method on Spark's class path.

None of this is public in Python: it reaches Spark's own Scala through py4j, which only classic sessions have.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as sf

from partwright._check import first_line
from partwright.errors import PartwrightError
from partwright.spark.engines.jvm_proof import differs, session_id
from partwright.spark.requirements import pyspark_version

_IS_BEFORE_4 = pyspark_version() < (4, 0)


class _Hasher(NamedTuple):
    """A static Java method that is Kafka's murmur2; some also take the number of bytes."""

    class_name: str
    method: str
    takes_length: bool


_KAFKA = "org.apache.kafka.common.utils.Utils"
_HASHERS = (
    # Among Spark's own jars.
    _Hasher("org.apache.commons.codec.digest.MurmurHash2", "hash32", True),
    # Spark's Kafka connector brings it.
    _Hasher(_KAFKA, "murmur2", False),
    # Databricks' name for it.
    _Hasher(f"kafkashaded.{_KAFKA}", "murmur2", False),
)


def murmur2_called(spark: SparkSession, key: Column) -> Column:
    """The hash of strings and binaries as a signed int; null for a null key.

    Raises:
        PartwrightError: No method on the class path hashes as Kafka does, or the session gives Python no access to
            Java.
    """
    try:
        return _hash(spark, _hasher(spark), key)
    except Py4JError as error:
        raise PartwrightError(
            f"engine jvm cannot reach Spark's Java process in this session ({_reason(error)}): use "
            "engine='arrow'"
        ) from error


def _reason(error: Py4JError) -> str:
    if isinstance(error, Py4JJavaError):
        return str(error.java_exception)
    return first_line(error)


# By a Spark application's ID, the method that was found on its driver.
_FOUND: dict[str, _Hasher] = {}


def _hasher(spark: SparkSession) -> _Hasher:
    """The first Java method that exists and hashes some keys as Kafka does.

    Raises:
        PartwrightError: There is none; the error says why each one was not taken.
    """
    application = session_id(spark)
    if application not in _FOUND:
        reasons = []
        for hasher in _HASHERS:
            if _class(spark, hasher.class_name) is None:
                reasons.append(f"{hasher.class_name} is not there")
                continue
            try:
                wrong = differs(spark, "murmur2", partial(_hash, spark, hasher))
            except Py4JJavaError as error:
                wrong = f"fails ({_reason(error)})"
            if wrong is None:
                _FOUND[application] = hasher
                break
            reasons.append(f"{hasher.class_name}.{hasher.method} {wrong}")
        else:
            raise PartwrightError(
                f"engine jvm finds no murmur2 on Spark's class path that hashes as Kafka does ({'; '.join(reasons)}): "
                "use engine='arrow'"
            )
    return _FOUND[application]


def _hash(spark: SparkSession, hasher: _Hasher, key: Column) -> Column:
    """The expression that hashes each key that is not null."""
    columns, types = [key, sf.octet_length(key)], ["BinaryType", "IntegerType"]
    if not hasher.takes_length:
        del columns[1], types[1]
    return called(spark, hasher.class_name, hasher.method, columns, types)


def called(
    spark: SparkSession, class_name: str, method: str, columns: Sequence[Column], types: Sequence[str] = ()
) -> Column:
    """A call of a static Java method that returns an int, or null if an argument is null.

    Args:
        spark: A classic session.
        class_name: The method's class.
        method: Its name.
        columns: Its arguments.
        types: The Spark types that they are cast to, by name; a string cast to `BinaryType` keeps its bytes.
    """
    jvm: Any = spark._jvm
    sequence = jvm.org.apache.spark.api.python.PythonUtils.toSeq
    arguments = [
        _class(spark, class_name),
        _scala_object(jvm, "org.apache.spark.sql.types.IntegerType"),
        method,
        sequence([as_expression(jvm, each) for each in columns]),
        sequence([_scala_object(jvm, f"org.apache.spark.sql.types.{name}") for name in types]),
        # It is not called for a null; the result may be null, and the method is deterministic.
        *(True, True, True),
    ]
    if not _IS_BEFORE_4:
        # The catalogue function that it would be.
        arguments.append(_scala_object(jvm, "scala.None"))
    invoked = jvm.org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke(*arguments)
    return from_expression(jvm, invoked)


def _class(spark: SparkSession, name: str) -> Any:
    """A Java class as Spark's tasks find it; None if it does not exist."""
    jvm: Any = spark._jvm
    loader = jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader()
    try:
        return jvm.java.lang.Class.forName(name, True, loader)
    except Py4JJavaError:
        return None


def _scala_object(jvm: Any, name: str) -> Any:
    """A Scala object."""
    package, _, last = name.rpartition(".")
    for part in package.split("."):
        jvm = getattr(jvm, part)
    return getattr(getattr(jvm, f"{last}$"), "MODULE$")


def as_expression(jvm: Any, column: Any) -> Any:
    """The Catalyst expression of a classic column."""
    if _IS_BEFORE_4:
        return column._jc.expr()
    # Not `ExpressionUtils.expression`, which wraps it: a query is resolved when SQL asks for one.
    return _scala_object(jvm, "org.apache.spark.sql.classic.ColumnNodeToExpressionConverter").apply(
        column._jc.node()
    )


def from_expression(jvm: Any, expression: Any) -> Column:
    """A classic column from a Catalyst expression."""
    java = (
        jvm.org.apache.spark.sql.Column(expression)
        if _IS_BEFORE_4
        else _scala_object(jvm, "org.apache.spark.sql.classic.ExpressionUtils").column(expression)
    )
    # Each version has the class of classic columns in another place.
    column: Column = type(sf.lit(0))(java)
    return column
