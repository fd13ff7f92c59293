"""Kafka's murmur2 of bytes as an expression of Catalyst: a call of a static method that is on Spark's class path.

None of this is public in Python: Spark's own Scala is reached through py4j, which only classic sessions have.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.sql import functions as sf

from partwright._check import first_line
from partwright.errors import PartwrightError
from partwright.spark.engines.jvm_proof import differs, session_id
from partwright.spark.requirements import pyspark_version

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, SparkSession

__all__ = ["as_expression", "called", "from_expression", "murmur2_called", "scala_object"]

_IS_BEFORE_4 = pyspark_version() < (4, 0)


class _Hasher(NamedTuple):
    """A static method of Java's that is Kafka's murmur2; some take the number of bytes as well."""

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
    """The hash of strings and binaries as a signed int; null where the key is null.

    Raises:
        PartwrightError: No method on the class path hashes as Kafka does, or the session shows Python no Java.
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


# By the id of a Spark application, what its driver was found to hash with.
_FOUND: dict[str, _Hasher] = {}


def _hasher(spark: SparkSession) -> _Hasher:
    """The first of Java's methods that is there and hashes some keys as Kafka does.

    Raises:
        PartwrightError: There is none, and why each was not taken.
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
    given, types = [key, sf.octet_length(key)], ["BinaryType", "IntegerType"]
    if not hasher.takes_length:
        del given[1], types[1]
    return called(spark, hasher.class_name, hasher.method, given, types)


def called(
    spark: SparkSession, class_name: str, method: str, columns: Sequence[Column], types: Sequence[str] = ()
) -> Column:
    """A call of a static method of Java's that gives an int, null where an argument is null.

    Args:
        spark: A classic session.
        class_name: The method's class.
        method: Its name.
        columns: Its arguments.
        types: What Spark casts them to, by the names of its types: a string to `BinaryType` keeps its bytes.
    """
    jvm: Any = spark._jvm
    sequence = jvm.org.apache.spark.api.python.PythonUtils.toSeq
    arguments = [
        _class(spark, class_name),
        scala_object(jvm, "org.apache.spark.sql.types.IntegerType"),
        method,
        sequence([as_expression(jvm, each) for each in columns]),
        sequence([scala_object(jvm, f"org.apache.spark.sql.types.{name}") for name in types]),
        # A null is not asked for; the answer may be null, and is always the same.
        *(True, True, True),
    ]
    if not _IS_BEFORE_4:
        # The function of a catalogue that it would be.
        arguments.append(scala_object(jvm, "scala.None"))
    invoked = jvm.org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke(*arguments)
    return from_expression(jvm, invoked)


def _class(spark: SparkSession, name: str) -> Any:
    """A class of Java's as Spark's tasks find it; None where it is not there."""
    jvm: Any = spark._jvm
    loader = jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader()
    try:
        return jvm.java.lang.Class.forName(name, True, loader)
    except Py4JJavaError:
        return None


def scala_object(jvm: Any, name: str) -> Any:
    """An object of Scala's."""
    package, _, last = name.rpartition(".")
    for part in package.split("."):
        jvm = getattr(jvm, part)
    return getattr(getattr(jvm, f"{last}$"), "MODULE$")


def as_expression(jvm: Any, column: Any) -> Any:
    """A classic column's expression of Catalyst."""
    if _IS_BEFORE_4:
        return column._jc.expr()
    # Not `ExpressionUtils.expression`, which wraps it: a query is resolved when SQL asks for one.
    return scala_object(jvm, "org.apache.spark.sql.classic.ColumnNodeToExpressionConverter").apply(
        column._jc.node()
    )


def from_expression(jvm: Any, expression: Any) -> Column:
    """A classic column of an expression of Catalyst."""
    java = (
        jvm.org.apache.spark.sql.Column(expression)
        if _IS_BEFORE_4
        else scala_object(jvm, "org.apache.spark.sql.classic.ExpressionUtils").column(expression)
    )
    # The class of classic columns has another place in each version.
    found: Column = type(sf.lit(0))(java)
    return found
