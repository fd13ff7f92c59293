"""The SQL functions of engine jvm: names in a classic session that become expressions when Spark resolves a query.

Spark has no public interface for this in Python: it asks a Scala function for a call's expression, and py4j lets Java
call Python for that. No row comes to Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import Column, SparkSession

from partwright import _core
from partwright._check import counted
from partwright.errors import PartwrightError
from partwright.spark.engines import jvm
from partwright.spark.engines.static_invoke import as_expression, from_expression

# How many arguments may follow the key.
_SETTINGS = range(1, 4)


def register_expressions(spark: SparkSession) -> None:
    """Make the SQL functions of keys, under both of their names, known to a classic session as expressions."""
    classic: Any = spark
    ensure_callback_server_started(classic.sparkContext._gateway)  # type: ignore[no-untyped-call]
    registry = classic._jsparkSession.sessionState().functionRegistry()
    made_by = {"partition_for_key": _partition, "murmur2": _murmur2}
    for name, made in (made_by | {"kafka_partition": _partition, "kafka_murmur2": _murmur2}).items():
        registry.createOrReplaceTempFunction(name, _Builder(classic._jvm, name, made), "scala_udf")


class _Builder:
    """Answers Spark's question for a call's expression, once for each place in a query."""

    def __init__(self, java: Any, name: str, made: Callable[[Column, list[Any]], Column]) -> None:
        self._java, self._name, self._made = java, name, made

    def apply(self, arguments: Any) -> Any:
        """The call's expression, made from a Scala `Seq` of its arguments' expressions."""
        operands = [arguments.apply(at) for at in range(arguments.size())]
        if not operands:
            raise PartwrightError(f"{self._name} takes a key, and it is missing")
        try:
            column = self._made(
                from_expression(self._java, operands[0]), [_constant(each) for each in operands[1:]]
            )
        except PartwrightError as error:
            raise error.within(self._name) from None
        return as_expression(self._java, column.alias(f"{self._name}({', '.join(map(_shown, operands))})"))

    class Java:
        """The interface, for py4j."""

        implements = ("scala.Function1",)


def _partition(key: Column, settings: list[Any]) -> Column:
    if len(settings) not in _SETTINGS:
        raise PartwrightError(
            "it takes a key and n, the topic's number of partitions, and perhaps a client and a key type, "
            f"not {counted(len(settings) + 1, 'argument')}"
        )
    named = dict(zip(("n", "client", "key_type"), settings, strict=False))
    for name, label in (("n", "n, the number of partitions,"), ("client", "client")):
        if named.setdefault(name, "java") is None:
            raise PartwrightError(f"{label} is NULL")
    n, client, key_type = named["n"], named["client"], named.get("key_type")
    return jvm.partition_of(key, n, client, _core.check(n, client, key_type))


def _murmur2(key: Column, settings: list[Any]) -> Column:
    if len(settings) > 1:
        raise PartwrightError(
            f"it takes a key and perhaps a key type, not {counted(len(settings) + 1, 'argument')}"
        )
    key_type = settings[0] if settings else None
    return jvm.murmur2_of(key, _core.check(1, "java", key_type))


def _shown(argument: Any) -> str:
    """An argument as it appears in Spark's name for the column."""
    if argument.getClass().getSimpleName() == "AttributeReference":
        return str(argument.name())
    return str(argument.toString() if argument.foldable() else argument.sql())


def _constant(argument: Any) -> Any:
    """A constant argument's value, because an expression has one n, client and key type."""
    if not argument.foldable():
        raise PartwrightError(
            f"engine jvm takes constants for n, client and key type in SQL, not {argument.sql()}: register the "
            "functions with engine='arrow' where they differ by row"
        )
    value = argument.eval(None)
    return value if value is None or isinstance(value, int) else str(value)
