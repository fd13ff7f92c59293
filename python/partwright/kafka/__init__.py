"""A real Kafka: the embedded broker, and partitioners and assignors for Python's Kafka clients."""

# Type checkers accept this name too; see `partwright`.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from partwright.kafka.assignors import kafka_python_assignor
    from partwright.kafka.embedded import EmbeddedKafka
    from partwright.kafka.partitioners import (
        CallablePartitioner,
        ConfluentPartitioner,
        KafkaPythonPartitioner,
    )

__all__ = [
    "CallablePartitioner",
    "ConfluentPartitioner",
    "EmbeddedKafka",
    "KafkaPythonPartitioner",
    "kafka_python_assignor",
]

if not TYPE_CHECKING:
    # Who only reads or writes a topic needs none of these, which take half of the time that such a command starts.
    _NAMES = {
        "assignors": ["kafka_python_assignor"],
        "embedded": ["EmbeddedKafka"],
        "partitioners": ["CallablePartitioner", "ConfluentPartitioner", "KafkaPythonPartitioner"],
    }

    def __getattr__(name: str) -> object:
        from importlib import import_module  # noqa: PLC0415 - at the top it would be a name of ours

        module = next((module for module, names in _NAMES.items() if name in names), None)
        if module is None:
            hint = import_module("partwright._check").meant_name(name, __all__)
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
        globals()[name] = getattr(import_module(f"partwright.kafka.{module}"), name)
        return globals()[name]

    def __dir__() -> list[str]:
        return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
