"""The known setting names of Java's clients and of librdkafka, and the meaning of each here.

Those of every client apart from SASL and TLS, names and timeouts, have their limits here too.

>>> for_librdkafka("request.timeout.ms", "45000")
('socket.timeout.ms', '45000', None)
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from partwright._check import meant, shown
from partwright.errors import PartwrightError

_INT = 2**31 - 1
_LONG = 2**63 - 1


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


_BOTH = words(
    """
    acks allow.auto.create.topics auto.commit.interval.ms auto.offset.reset batch.size bootstrap.servers check.crcs
    client.dns.lookup client.id client.rack compression.type connections.max.idle.ms delivery.timeout.ms
    enable.auto.commit enable.idempotence enable.metrics.push fetch.max.bytes fetch.min.bytes group.id
    group.instance.id group.protocol group.remote.assignor heartbeat.interval.ms isolation.level linger.ms
    max.in.flight.requests.per.connection max.partition.fetch.bytes max.poll.interval.ms max.poll.records
    metadata.max.age.ms metadata.recovery.rebootstrap.trigger.ms metadata.recovery.strategy
    partition.assignment.strategy reconnect.backoff.max.ms reconnect.backoff.ms request.timeout.ms retries
    retry.backoff.max.ms retry.backoff.ms sasl.kerberos.kinit.cmd sasl.kerberos.min.time.before.relogin
    sasl.kerberos.service.name sasl.mechanism sasl.oauthbearer.assertion.algorithm
    sasl.oauthbearer.assertion.claim.aud sasl.oauthbearer.assertion.claim.exp.seconds
    sasl.oauthbearer.assertion.claim.iss sasl.oauthbearer.assertion.claim.jti.include
    sasl.oauthbearer.assertion.claim.nbf.seconds sasl.oauthbearer.assertion.claim.sub
    sasl.oauthbearer.assertion.file sasl.oauthbearer.assertion.private.key.file
    sasl.oauthbearer.assertion.private.key.passphrase sasl.oauthbearer.client.credentials.client.id
    sasl.oauthbearer.client.credentials.client.secret sasl.oauthbearer.scope sasl.oauthbearer.sub.claim.name
    sasl.oauthbearer.token.endpoint.url security.protocol session.timeout.ms share.acknowledgement.mode
    socket.connection.setup.timeout.ms ssl.cipher.suites ssl.endpoint.identification.algorithm ssl.key.password
    ssl.keystore.location ssl.keystore.password transaction.timeout.ms transactional.id
    """
)
JAVA = _BOTH | words(
    """
    bootstrap.controllers bootstrap.resolve.timeout.ms buffer.memory buffer.memory.allocation.strategy
    compression.gzip.level compression.lz4.level compression.zstd.level config.providers default.api.timeout.ms
    exclude.internal.topics fetch.max.wait.ms interceptor.classes internal.throw.on.fetch.stable.offset.unsupported
    key.deserializer key.serializer max.block.ms max.request.size metadata.cluster.check.enable metadata.max.idle.ms
    metric.reporters metrics.num.samples metrics.recording.level metrics.sample.window.ms
    partitioner.adaptive.partitioning.enable partitioner.availability.timeout.ms partitioner.class
    partitioner.ignore.keys partitioner.rack.aware receive.buffer.bytes sasl.client.callback.handler.class
    sasl.jaas.config sasl.kerberos.ticket.renew.jitter sasl.kerberos.ticket.renew.window.factor
    sasl.login.callback.handler.class sasl.login.class sasl.login.connect.timeout.ms sasl.login.read.timeout.ms
    sasl.login.refresh.buffer.seconds sasl.login.refresh.min.period.seconds sasl.login.refresh.window.factor
    sasl.login.refresh.window.jitter sasl.login.retry.backoff.max.ms sasl.login.retry.backoff.ms
    sasl.oauthbearer.allow.unverified.audience sasl.oauthbearer.allow.unverified.issuer
    sasl.oauthbearer.assertion.template.file sasl.oauthbearer.clock.skew.seconds sasl.oauthbearer.expected.audience
    sasl.oauthbearer.expected.issuer sasl.oauthbearer.header.urlencode sasl.oauthbearer.jwks.endpoint.refresh.ms
    sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms sasl.oauthbearer.jwks.endpoint.retry.backoff.ms
    sasl.oauthbearer.jwks.endpoint.url sasl.oauthbearer.jwt.retriever.class sasl.oauthbearer.jwt.validator.class
    sasl.oauthbearer.scope.claim.name security.providers send.buffer.bytes share.acquire.mode
    socket.connection.setup.timeout.max.ms ssl.enabled.protocols ssl.engine.factory.class ssl.keymanager.algorithm
    ssl.keystore.certificate.chain ssl.keystore.key ssl.keystore.type ssl.protocol ssl.provider
    ssl.secure.random.implementation ssl.trustmanager.algorithm ssl.truststore.certificates ssl.truststore.location
    ssl.truststore.password ssl.truststore.type transaction.two.phase.commit.enable value.deserializer
    value.serializer
    """
)
"""All settings of AdminClientConfig, ConsumerConfig and ProducerConfig in kafka-clients 4.4.0."""

LIBRDKAFKA = _BOTH | words(
    """
    api.version.fallback.ms api.version.request api.version.request.timeout.ms auto.commit.enable batch.num.messages
    broker.address.family broker.address.ttl broker.version.fallback builtin.features compression.codec
    compression.level consume.callback.max.messages coordinator.query.interval.ms debug delivery.report.only.error
    enable.auto.offset.store enable.gapless.guarantee enable.partition.eof enable.random.seed
    enable.sasl.oauthbearer.unsecure.jwt enable.ssl.certificate.verification enabled_events fetch.error.backoff.ms
    fetch.message.max.bytes fetch.queue.backoff.ms fetch.wait.max.ms group.protocol.type https.ca.location
    https.ca.pem internal.termination.signal log.connection.close log.queue log.thread.name log_level max.in.flight
    message.copy.max.bytes message.max.bytes message.send.max.retries message.timeout.ms metadata.broker.list
    offset.store.method offset.store.path offset.store.sync.interval.ms partitioner plugin.library.paths
    produce.offset.report queue.buffering.backpressure.threshold queue.buffering.max.kbytes
    queue.buffering.max.messages queue.buffering.max.ms queued.max.messages.kbytes queued.min.messages
    queuing.strategy receive.message.max.bytes reconnect.backoff.jitter.ms request.required.acks
    sasl.kerberos.keytab sasl.kerberos.principal sasl.mechanisms sasl.oauthbearer.assertion.jwt.template.file
    sasl.oauthbearer.assertion.private.key.pem sasl.oauthbearer.client.id sasl.oauthbearer.client.secret
    sasl.oauthbearer.config sasl.oauthbearer.extensions sasl.oauthbearer.grant.type
    sasl.oauthbearer.metadata.authentication.type sasl.oauthbearer.method sasl.password sasl.username
    socket.blocking.max.ms socket.keepalive.enable socket.max.fails socket.nagle.disable socket.receive.buffer.bytes
    socket.send.buffer.bytes socket.timeout.ms ssl.ca.certificate.stores ssl.ca.location ssl.ca.pem
    ssl.certificate.location ssl.certificate.pem ssl.crl.location ssl.curves.list ssl.engine.id ssl.engine.location
    ssl.key.location ssl.key.pem ssl.providers ssl.sigalgs.list statistics.interval.ms sticky.partitioning.linger.ms
    topic.blacklist topic.metadata.propagation.max.ms topic.metadata.refresh.fast.cnt
    topic.metadata.refresh.fast.interval.ms topic.metadata.refresh.interval.ms topic.metadata.refresh.sparse
    """
)
"""All settings in CONFIGURATION.md of librdkafka 2.16 that a text can set, including those of topics."""

CALLBACKS = words("error_cb oauth_cb on_commit on_delivery stats_cb throttle_cb")
"""The settings for which confluent-kafka takes a function."""
_PYTHON = CALLBACKS | {"default.topic.config", "logger"}
"""Further settings that confluent-kafka takes in a dict."""
_OLD = frozenset(["auto.include.jmx.reporter"])
"""Names of Kafka 3 that Kafka 4 has removed but that files still contain."""
_OF_OTHERS = ("basic.auth.", "bearer.auth.", "config.providers.", "confluent.", "schema.registry.")
"""Prefixes of other programs' settings in the same files: Confluent Cloud's files have those of its schema registry."""
_NAME = re.compile(r"[\w.-]+", re.ASCII)
_NEAR = 0.8


@dataclass(frozen=True, slots=True)
class _Common:
    """One setting: its name on each side (None if that side has none), and the bounds of a number on each side."""

    java: str | None
    librdkafka: str | None
    least: int | None = None
    most: int = _INT
    own_least: int = 0
    own_most: int = _INT
    words: tuple[str, ...] = ()


_FLAG = ("true", "false")
_TABLE = (
    _Common("client.id", "client.id"),
    _Common(
        "client.dns.lookup",
        "client.dns.lookup",
        words=("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"),
    ),
    _Common("connections.max.idle.ms", "connections.max.idle.ms", -1, _LONG),
    _Common("enable.metrics.push", "enable.metrics.push", words=_FLAG),
    _Common("metadata.max.age.ms", "metadata.max.age.ms", 0, _LONG, 1, 86_400_000),
    _Common("metadata.recovery.strategy", "metadata.recovery.strategy", words=("none", "rebootstrap")),
    _Common("metadata.recovery.rebootstrap.trigger.ms", "metadata.recovery.rebootstrap.trigger.ms", 0, _LONG),
    _Common("receive.buffer.bytes", "socket.receive.buffer.bytes", -1, _INT, 0, 100_000_000),
    _Common("reconnect.backoff.max.ms", "reconnect.backoff.max.ms", 0, _LONG, 0, 3_600_000),
    _Common("reconnect.backoff.ms", "reconnect.backoff.ms", 0, _LONG, 0, 3_600_000),
    _Common("request.timeout.ms", "socket.timeout.ms", 0, _INT, 10, 300_000),
    _Common("retry.backoff.max.ms", "retry.backoff.max.ms", 0, _LONG, 1, 300_000),
    _Common("retry.backoff.ms", "retry.backoff.ms", 0, _LONG, 1, 300_000),
    _Common("send.buffer.bytes", "socket.send.buffer.bytes", -1, _INT, 0, 100_000_000),
    _Common("socket.connection.setup.timeout.ms", "socket.connection.setup.timeout.ms", 0, _LONG, 1000, _INT),
    *(
        _Common(None, name, least, most, least, most)
        for name, least, most in [
            ("api.version.request.timeout.ms", 1, 300_000),
            ("broker.address.ttl", 0, 86_400_000),
            ("max.in.flight.requests.per.connection", 1, 1_000_000),
            ("socket.max.fails", 0, 1_000_000),
            ("topic.metadata.propagation.max.ms", 0, 3_600_000),
            ("topic.metadata.refresh.fast.interval.ms", 1, 60_000),
            ("topic.metadata.refresh.interval.ms", -1, 3_600_000),
        ]
    ),
    *(
        _Common(None, name, words=words)
        for name, words in [
            ("broker.address.family", ("any", "v4", "v6")),
            ("socket.keepalive.enable", _FLAG),
            ("socket.nagle.disable", _FLAG),
            ("topic.metadata.refresh.sparse", _FLAG),
            ("ssl.ca.certificate.stores", ()),
            ("ssl.curves.list", ()),
            ("ssl.engine.id", ()),
            ("ssl.engine.location", ()),
            ("ssl.providers", ()),
            ("ssl.sigalgs.list", ()),
        ]
    ),
    # A consumer's settings for reading, with librdkafka's bounds.
    _Common("check.crcs", "check.crcs", words=_FLAG),
    _Common("client.rack", "client.rack"),
    _Common(None, "fetch.error.backoff.ms", 0, 300_000, 0, 300_000),
    # librdkafka requires at least message.max.bytes.
    _Common("fetch.max.bytes", "fetch.max.bytes", 0, _INT, 1_000_000, 2_147_483_135),
    _Common("fetch.max.wait.ms", "fetch.wait.max.ms", 0, _INT, 0, 300_000),
    _Common("fetch.min.bytes", "fetch.min.bytes", 0, _INT, 1, 100_000_000),
    _Common(None, "fetch.queue.backoff.ms", 0, 300_000, 0, 300_000),
    _Common("isolation.level", "isolation.level", words=("read_uncommitted", "read_committed")),
    _Common("max.partition.fetch.bytes", "fetch.message.max.bytes", 0, _INT, 1, 1_000_000_000),
    _Common(None, "queued.max.messages.kbytes", 1, 2_097_151, 1, 2_097_151),
    _Common(None, "queued.min.messages", 1, 10_000_000, 1, 10_000_000),
)
RECONNECT = {"reconnect.backoff.ms": 100, "reconnect.backoff.max.ms": 10_000}
"""The first and the longest wait before a reconnect, in milliseconds, with librdkafka's defaults."""
COMMON = {each.java or each.librdkafka or "": each for each in _TABLE}
"""The settings by the name under which they are kept."""

ALIASES = {
    "metadata.broker.list": "bootstrap.servers",
    "sasl.mechanisms": "sasl.mechanism",
    "sasl.oauthbearer.client.id": "sasl.oauthbearer.client.credentials.client.id",
    "sasl.oauthbearer.client.secret": "sasl.oauthbearer.client.credentials.client.secret",
    "sasl.oauthbearer.assertion.jwt.template.file": "sasl.oauthbearer.assertion.template.file",
    "ssl.ca.pem": "ssl.truststore.certificates",
    "ssl.certificate.pem": "ssl.keystore.certificate.chain",
    "ssl.key.pem": "ssl.keystore.key",
    **{each.librdkafka: name for name, each in COMMON.items() if each.librdkafka not in {name, None}},
}
"""Other names of settings, with the name under which each is kept."""

SECRETS = words(
    """
    sasl.jaas.config sasl.oauthbearer.assertion.private.key.passphrase sasl.oauthbearer.assertion.private.key.pem
    sasl.oauthbearer.client.credentials.client.secret sasl.oauthbearer.config sasl.password ssl.key.password
    ssl.keystore.certificate.chain ssl.keystore.key ssl.keystore.password ssl.truststore.password
    """
)
"""Settings that are never shown. The text of a certificate chain may contain its key too."""

JAVA_ALONE = words(
    """
    default.api.timeout.ms sasl.kerberos.ticket.renew.jitter sasl.kerberos.ticket.renew.window.factor
    sasl.login.connect.timeout.ms sasl.login.read.timeout.ms sasl.login.refresh.buffer.seconds
    sasl.login.refresh.min.period.seconds sasl.login.refresh.window.factor sasl.login.refresh.window.jitter
    sasl.login.retry.backoff.max.ms sasl.login.retry.backoff.ms sasl.oauthbearer.header.urlencode
    sasl.oauthbearer.scope.claim.name security.providers socket.connection.setup.timeout.max.ms ssl.enabled.protocols
    ssl.keymanager.algorithm ssl.protocol ssl.provider ssl.secure.random.implementation ssl.trustmanager.algorithm
    """
)
"""Connection settings that librdkafka does not have: Spark's Java client gets them."""


_WAYS = tuple(
    words("sasl. ssl. https. enable.ssl. enable.sasl. bootstrap.servers security.protocol oauth_cb")
)
# What a broker, not a client, does with a token.
_OF_BROKERS = re.compile(r"sasl\.oauthbearer\.(allow|clock|expected|jwks|jwt\.validator)\.")
_KEPT = {ALIASES.get(each, each) for each in JAVA | LIBRDKAFKA | CALLBACKS}
REACHING = frozenset(
    each
    for each in _KEPT - JAVA_ALONE - COMMON.keys()
    if each.startswith(_WAYS) and not _OF_BROKERS.match(each)
)
"""Settings of servers, SASL and TLS; the other modules in this folder translate them."""

READING = words(
    """
    check.crcs client.rack fetch.error.backoff.ms fetch.max.bytes fetch.max.wait.ms fetch.min.bytes
    fetch.queue.backoff.ms isolation.level max.partition.fetch.bytes queued.max.messages.kbytes queued.min.messages
    """
)
"""A consumer's settings for reading records."""

EMPTY = words(
    "ssl.endpoint.identification.algorithm ssl.key.password ssl.keystore.password ssl.truststore.password"
)
"""Settings whose empty value has a meaning."""

NOT_GIVEN = words("client.id sasl.jaas.config ssl.cipher.suites ssl.keystore.type ssl.truststore.type")
"""Settings whose empty value counts as not given, as in Java's clients."""


def is_known(name: str) -> bool:
    """Whether a setting has this name in some Kafka client, or in a library whose settings are in the same files.

    Examples:
        >>> is_known("sasl.mechanisms"), is_known("schema.registry.url"), is_known("sasl.mechanics")
        (True, True, False)
    """
    topic = name.removeprefix("topic.")
    all_of_them = JAVA | LIBRDKAFKA | _PYTHON | _OLD
    of_others = name.startswith(_OF_OTHERS) and _NAME.fullmatch(name) is not None
    return name in all_of_them or topic in LIBRDKAFKA or of_others


_PREFIXES = re.compile(
    r"spring\.kafka\.(?:(?:admin|consumer|producer|streams)\.)?(?:properties\.)?|kafkastore\.|kafka\."
    r"|KAFKA_CLUSTERS_[0-9]+_(?:PROPERTIES_)?|(?:SCHEMA_REGISTRY_)?KAFKASTORE_|KAFKA_"
)
"""What other programs put before a client's settings: Spring, a schema registry, Spark, and images of containers."""


def plain_name(name: str) -> str:
    """A setting's own name, without another program's prefix; the same name if it has none, or no setting is behind it.

    Examples:
        >>> plain_name("spring.kafka.properties.sasl.mechanism"), plain_name("KAFKA_BOOTSTRAP_SERVERS")
        ('sasl.mechanism', 'bootstrap.servers')
        >>> plain_name("spring.kafka.bootstrap-servers"), plain_name("kafka.total"), plain_name("acks")
        ('bootstrap.servers', 'kafka.total', 'acks')
    """
    match = _PREFIXES.match(name)
    if match is None:
        return name
    own = name[match.end() :]
    own = own.lower().replace("_", ".") if match[0].isupper() else own
    own = own.replace("bootstrap-servers", "bootstrap.servers").replace(
        "bootstrapservers", "bootstrap.servers"
    )
    return own if own in JAVA | LIBRDKAFKA else name


def has_prefix(name: str) -> bool:
    """Whether a name begins as another program's does.

    Examples:
        >>> has_prefix("spring.kafka.ssl.trust-store-location"), has_prefix("ssl.truststore.location")
        (True, False)
    """
    return _PREFIXES.match(name) is not None


def nearest(name: str) -> str:
    """The end of a sentence that asks whether the nearest name was meant; empty if no name is near.

    Examples:
        >>> nearest("sasl.mechanics")
        ": did you mean 'sasl.mechanism'?"
    """
    return meant(name, sorted(JAVA | LIBRDKAFKA), least=_NEAR)


def checked_value(name: str, value: str, spoken: str | None = None) -> str:
    """A setting's value as both libraries write it.

    Args:
        name: The setting.
        value: The given value.
        spoken: The setting's name in sentences; by default `name`.

    Raises:
        PartwrightError: The value is not valid for this setting.

    Examples:
        >>> checked_value("enable.metrics.push", "False")
        'false'
        >>> checked_value("retry.backoff.ms", "soon")
        Traceback (most recent call last):
        partwright.errors.PartwrightError: retry.backoff.ms is a whole number from 0 to 9223372036854775807, not 'soon'
    """
    setting = COMMON[name]
    if setting.words:
        if value.lower() not in setting.words:
            reason = f"is {' or '.join(setting.words)}, not {shown(value)}"
            raise PartwrightError(f"{spoken or name} {reason}", field=name, value=value, reason=reason)
        return value.lower()
    if setting.least is None:
        return value
    try:
        number = int(value) if value.isascii() and "_" not in value else None
    except ValueError:
        number = None
    if number is None or not setting.least <= number <= setting.most:
        reason = f"is a whole number from {setting.least} to {setting.most}, not {shown(value)}"
        raise PartwrightError(f"{spoken or name} {reason}", field=name, value=value, reason=reason)
    return str(number)


def for_librdkafka(name: str, value: str) -> tuple[str, str, str | None] | None:
    """Name and value for librdkafka, and a sentence if its bounds are narrower; None if it has no such setting."""
    setting = COMMON[name]
    if setting.librdkafka is None:
        return None
    if setting.least is None:
        return setting.librdkafka, value, None
    number = int(value)
    taken = min(max(number, setting.own_least), setting.own_most)
    # Java's -1 is librdkafka's 0: no limit, or the system's limit.
    note = None
    if number not in {taken, -1}:
        note = f"{name} is {number}, and librdkafka takes {setting.own_least} to {setting.own_most}: it gets {taken}"
    return setting.librdkafka, str(taken), note


def for_java(name: str, value: str) -> tuple[str, str] | None:
    """Name and value for Java's clients; None if they have no such setting.

    Examples:
        >>> for_java("socket.max.fails", "1"), for_java("client.id", "a")
        (None, ('client.id', 'a'))
    """
    java = COMMON[name].java
    return None if java is None else (java, value)
