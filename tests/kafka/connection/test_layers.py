"""Which of several places wins, which ones contradict, and what is not a setting: files, dicts, -X and the variable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from partwright.errors import PartwrightError
from partwright.kafka.connection import KafkaConfig, configured
from partwright.kafka.connection.config import VARIABLE

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE = "org.apache.kafka.common.security"
SCRAM = f'{PACKAGE}.scram.ScramLoginModule required username="carol" password="of-jaas";'
LOGIN = {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"}
ALICE = LOGIN | {"sasl.username": "alice", "sasl.password": "hunter2"}


def refusal(given: Any, **more: Any) -> str:
    with pytest.raises(PartwrightError) as refused:
        KafkaConfig.read(given, **more)
    assert "\n" not in str(refused.value)
    assert "\x1b" not in str(refused.value)
    return str(refused.value)


def file(folder: Path, text: str | bytes, mode: int = 0o600) -> str:
    path = folder / "client.properties"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(mode)
    return str(path)


@pytest.mark.parametrize(
    ("lower", "upper", "name", "said"),
    [
        ({"sasl.mechanisms": "PLAIN"}, {"sasl.mechanism": "SCRAM-SHA-256"}, "sasl.mechanism", "SCRAM-SHA-256"),
        ({}, {"sasl.password": "new"}, "sasl.password", "new"),
        ({}, {"sasl.jaas.config": f'{PACKAGE}.plain.PlainLoginModule required username="b" password="c";'},
         "sasl.password", "c"),
        ({"socket.timeout.ms": 5000}, {"request.timeout.ms": "6000"}, "socket.timeout.ms", "6000"),
        ({"request.timeout.ms": 5000}, {"socket.timeout.ms": "6000"}, "socket.timeout.ms", "6000"),
        ({"send.buffer.bytes": 5000}, {"socket.send.buffer.bytes": "6000"}, "socket.send.buffer.bytes", "6000"),
        ({"metadata.broker.list": "a:1"}, {"bootstrap.servers": "b:2"}, "bootstrap.servers", "b:2"),
        ({"ssl.endpoint.identification.algorithm": "https"}, {"ssl.endpoint.identification.algorithm": ""},
         "ssl.endpoint.identification.algorithm", "none"),
    ],
)  # fmt: skip
def test_a_single_setting_wins_by_what_it_means(
    lower: dict[str, object], upper: dict[str, str], name: str, said: str
) -> None:
    assert KafkaConfig.read(ALICE | lower, settings=upper).librdkafka()[name] == said


def test_a_ca_wins_over_the_trust_store_of_a_file(tmp_path: Path) -> None:
    store = {"ssl.truststore.location": str(tmp_path / "nowhere.jks"), "ssl.truststore.password": "x"}
    given = {"security.protocol": "SSL", **store}
    assert KafkaConfig.read(given, settings={"ssl.ca.location": "probe"}).tls is not None


def test_servers_win_over_all() -> None:
    config = KafkaConfig.read(
        {"bootstrap.servers": "a:1"}, settings={"bootstrap.servers": "b:2"}, servers="c:3"
    )
    assert (config.servers, KafkaConfig.read(config, servers="d:4").servers) == ("c:3", "d:4")
    assert KafkaConfig.read(config) is config
    assert KafkaConfig.read(config, servers="e:5").servers == "e:5"


def test_an_address_and_a_configuration_of_another_kafka_contradict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file(tmp_path, "bootstrap.servers=b:2\n")
    for other in ("b:2", path, {"metadata.broker.list": "b:2"}, KafkaConfig.read("b:2")):
        with pytest.raises(PartwrightError) as refused:
            configured(other, "a:1")
        assert str(refused.value) == (
            "the address names the Kafka at a:1, and kafka_config= the one at b:2: leave one of them out"
        )
        assert (refused.value.field, refused.value.value) == ("bootstrap.servers", "b:2")
    for same in ("b:2,a:1", {"bootstrap.servers": "a:1, b:2"}, {"client.id": "x"}):
        assert configured(same, "a:1,b:2").servers == "a:1,b:2"
    # The variable names a usual Kafka, not this one.
    monkeypatch.setenv(VARIABLE, path)
    assert configured(None, "a:1").servers == "a:1"


@pytest.mark.parametrize(
    ("given", "first", "second"),
    [
        ({"sasl.mechanism": "PLAIN", "sasl.mechanisms": "SCRAM-SHA-256"}, "sasl.mechanisms", "sasl.mechanism"),
        ({"bootstrap.servers": "a:1", "metadata.broker.list": "b:1"}, "metadata.broker.list", "bootstrap.servers"),
        ({"socket.timeout.ms": 50, "request.timeout.ms": 60}, "request.timeout.ms", "socket.timeout.ms"),
        ({"ssl.ca.pem": "a", "ssl.truststore.certificates": "b"}, "ssl.truststore.certificates", "ssl.ca.pem"),
        ({"ssl.key.pem": "a", "ssl.keystore.key": "b"}, "ssl.keystore.key", "ssl.key.pem"),
        ({"sasl.jaas.config": SCRAM, "sasl.password": "other"}, "sasl.password", r"sasl.jaas.config (password)"),
        ({"sasl.jaas.config": SCRAM, "sasl.username": "other"}, "sasl.username", r"sasl.jaas.config (username)"),
    ],
)  # fmt: skip
def test_two_spellings_with_two_values_are_refused_by_both_names(
    given: dict[str, object], first: str, second: str
) -> None:
    said = refusal(given)
    assert said == f"kafka_config: {first} and {second} are one setting with two values: leave one out"


def test_two_spellings_with_one_value_are_one() -> None:
    config = KafkaConfig.read(ALICE | {"sasl.mechanisms": "plain", "security.protocol": "sasl_ssl"})
    assert config == KafkaConfig.read(ALICE)
    assert hash(config) == hash(KafkaConfig.read(ALICE))


def test_a_login_module_has_to_fit_the_mechanism_of_the_file() -> None:
    said = refusal(ALICE, settings={"sasl.jaas.config": SCRAM})
    assert said == (
        "kafka_config: sasl.mechanism is 'PLAIN', and the ScramLoginModule of -X: sasl.jaas.config is for "
        "SCRAM-SHA-256 and SCRAM-SHA-512: they have to fit"
    )
    upper = {"sasl.jaas.config": SCRAM, "sasl.mechanism": "SCRAM-SHA-512"}
    assert KafkaConfig.read(ALICE, settings=upper).librdkafka()["sasl.username"] == "carol"


def test_a_mechanism_wins_over_the_login_module_of_the_file() -> None:
    lower = LOGIN | {"sasl.mechanism": "SCRAM-SHA-256", "sasl.jaas.config": SCRAM}
    config = KafkaConfig.read(lower, settings={"sasl.mechanism": "PLAIN"})
    assert (config.mechanism, config.librdkafka()["sasl.username"]) == ("PLAIN", "carol")


def test_an_option_that_is_not_used_is_told_by_a_name_that_is_one() -> None:
    module = f"{PACKAGE}.plain.PlainLoginModule required username=a password=b"
    config = KafkaConfig.read(LOGIN | {"sasl.jaas.config": f'{module} other.one=c "hunter2 "=d;'})
    assert config.notes == (
        "not used with sasl.mechanism PLAIN: sasl.jaas.config (an option), sasl.jaas.config (other.one)",
    )


def test_of_a_key_that_is_there_twice_the_last_one_counts(tmp_path: Path) -> None:
    path = file(tmp_path, "client.id=a\n\nclient.id=b\nacks=1\nacks=1\n")
    config = KafkaConfig.read(path)
    assert config.librdkafka()["client.id"] == "b"
    assert config.notes[0].startswith(f"{path} sets client.id in line 1 and in line 3: the last one counts")
    assert not any("acks in line" in note for note in config.notes)


def test_the_variable_names_the_file_where_none_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, file(tmp_path, "bootstrap.servers=a:1\nclient.id=x\n"))
    assert KafkaConfig.read().servers == "a:1"
    assert KafkaConfig.read(None, settings={"client.id": "y"}).librdkafka()["client.id"] == "y"
    assert KafkaConfig.read({}).servers is None
    assert KafkaConfig.read({"client.id": "z"}).servers is None
    monkeypatch.setenv(VARIABLE, str(tmp_path / "nowhere"))
    assert refusal(None).startswith(f"the configuration file of {VARIABLE} '")
    assert refusal(None).endswith("nowhere' cannot be read: no such file or directory")
    monkeypatch.setenv(VARIABLE, "")
    assert KafkaConfig.read().servers is None


@pytest.mark.parametrize(("mode", "told"), [(0o600, 0), (0o640, 1), (0o604, 1), (0o622, 1)])
def test_a_file_of_secrets_that_others_may_read_is_told(mode: int, told: int, tmp_path: Path) -> None:
    path = file(tmp_path, "".join(f"{name}={value}\n" for name, value in ALICE.items()), mode)
    assert (
        list(KafkaConfig.read(path).notes)
        == [f"others may read the secrets in {path}: chmod 600 {path}"] * told
    )
    assert KafkaConfig.read(file(tmp_path, "client.id=a\n", 0o644)).notes == ()


def test_a_secret_of_the_command_line_is_told_whatever_the_file_has() -> None:
    told = "a secret given by -X is in the process list: use --command-config FILE"
    for upper in ({"sasl.password": "x"}, {"ssl.truststore.password": "x"}, {"sasl.jaas.config": SCRAM}):
        lower = ALICE | {"security.protocol": "PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-256"}
        assert told in KafkaConfig.read(lower, settings=upper).notes
    assert told not in KafkaConfig.read(ALICE, settings={"security.protocol": "SASL_PLAINTEXT"}).notes


@pytest.mark.parametrize("value", ["${env:X}", "${file:/a:b}", "a${vault:x}b", "${secretManager:x}"])
@pytest.mark.parametrize("name", ["sasl.password", "client.id", "sasl.jaas.config"])
def test_what_a_config_provider_would_put_in_is_refused(name: str, value: str) -> None:
    said = refusal({name: value})
    assert said.startswith(f"kafka_config: {name} is for Kafka's config.providers, which run in Java alone")
    assert value not in said
    assert "config.providers" in refusal({"config.providers": "env"})


@pytest.mark.parametrize("value", [b"hunter2", ["hunter2"], {"a": "hunter2"}, ("hunter2",), object(), 1j])
@pytest.mark.parametrize("name", ["sasl.password", "client.id", "acks"])
def test_a_value_of_another_kind_is_refused_without_showing_it(name: str, value: object) -> None:
    said = refusal({name: value})
    assert said == f"kafka_config: {name} is text, not {type(value).__name__}"


@pytest.mark.parametrize("name", [1, None, b"acks", ("a",), 1.5])
def test_a_name_of_another_kind_is_refused(name: object) -> None:
    assert refusal({name: "x"}).startswith("kafka_config: the name of a setting is text, not ")


def test_numbers_and_flags_are_text_and_none_is_not_given() -> None:
    config = KafkaConfig.read(
        {"request.timeout.ms": 7000, "enable.metrics.push": False, "sasl.password": None}
    )
    assert config.java()["request.timeout.ms"] == "7000"
    assert config.librdkafka()["enable.metrics.push"] == "false"
    assert config.secrets() == frozenset()


@pytest.mark.parametrize("value", ["\0", "a\0b", "\ud800", "a\udcffb"])
@pytest.mark.parametrize("name", ["sasl.password", "client.id", "ssl.ca.location", "bootstrap.servers"])
def test_what_no_library_could_take_is_refused(name: str, value: str) -> None:
    said = refusal({name: value})
    assert said.startswith(f"kafka_config: {name} ")
    assert "a\\" not in said


@pytest.mark.parametrize("value", ["", " ", "\t"])
def test_an_empty_value_is_refused_where_it_means_nothing(value: str) -> None:
    for name in ("sasl.password", "sasl.mechanism", "security.protocol", "ssl.ca.location"):
        assert refusal({name: value}) == f"kafka_config: {name} is empty: give it a value, or leave it out"
    assert refusal({"bootstrap.servers": value}).startswith("kafka_config: bootstrap.servers is empty")
    assert KafkaConfig.read({"acks": value}).servers is None


@pytest.mark.parametrize("value", ["", " "])
def test_an_empty_value_is_none_where_java_takes_it_for_none(value: str) -> None:
    names = ["client.id", "sasl.jaas.config", "ssl.cipher.suites", "ssl.keystore.type", "ssl.truststore.type"]
    given = ALICE | dict.fromkeys(names, value)
    assert KafkaConfig.read(given) == KafkaConfig.read(ALICE)
    assert KafkaConfig.read(given).notes == ()
    upper = KafkaConfig.read({"client.id": "a"}, settings={"client.id": value})
    assert "client.id" not in upper.librdkafka()


def test_the_type_of_a_trust_store_alone_says_nothing() -> None:
    given = {"security.protocol": "SSL"}
    assert KafkaConfig.read(given | {"ssl.truststore.type": "PKCS12"}) == KafkaConfig.read(given)


@pytest.mark.parametrize("value", ["{{ CLUSTER_API_KEY }}", "{{X}}", "a {{ the.key }} b", "{{ <YOUR KEY> }}"])
def test_a_placeholder_that_is_left_is_refused(value: str, tmp_path: Path) -> None:
    plain = f"{PACKAGE}.plain.PlainLoginModule required username"
    for name, text, spoken in (
        ("sasl.username", value, "sasl.username"),
        ("bootstrap.servers", value, "bootstrap.servers"),
        ("client.id", value, "client.id"),
        ("sasl.jaas.config", f'{plain}="{value}" password=x;', "sasl.jaas.config (username)"),
        ("sasl.jaas.config", f"{plain}={value} password=x;", "sasl.jaas.config"),
    ):
        path = file(tmp_path, f"security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\n{name}={text}\n")
        told = "still has the placeholder {{ … }}: put the value there"
        assert refusal(path) == f"{path}, line 3: {spoken} {told}"


def test_a_placeholder_that_does_not_count_is_let_be() -> None:
    given = ALICE | {"schema.registry.url": "{{ URL }}", "sasl.username": "{{ KEY }}"}
    config = KafkaConfig.read(given, settings={"sasl.username": "alice"})
    assert config.librdkafka()["sasl.username"] == "alice"
    assert KafkaConfig.read(ALICE | {"sasl.password": "a{{b"}).secrets() == {"a{{b"}


@pytest.mark.parametrize(
    ("value", "told"), [(r"a\\b", 0), (r"\\\\", 0), (r"a\b", 1), (r"a\\\b", 1), ("ab", 0)]
)
def test_a_backslash_is_told_unless_two_stand_for_one(value: str, told: int, tmp_path: Path) -> None:
    notes = KafkaConfig.read(file(tmp_path, f"sasl.username={value}\nsecurity.protocol=PLAINTEXT\n")).notes
    assert sum("a backslash begins an escape here" in note for note in notes) == told


def test_a_path_is_text(tmp_path: Path) -> None:
    given = {"security.protocol": "SSL", "ssl.ca.location": tmp_path / "nowhere.pem"}
    assert refusal(given).endswith("nowhere.pem' cannot be read: no such file or directory")


@pytest.mark.parametrize("name", ["client.id", "sasl.password", "bootstrap.servers"])
def test_a_function_is_for_the_librarys_callbacks_alone(name: str) -> None:
    assert refusal({name: print}) == f"kafka_config: {name} is text, not a function"
    assert KafkaConfig.read({"error_cb": print, "stats_cb": print}).servers is None


def test_very_long_values_give_short_sentences() -> None:
    for name in ("bootstrap.servers", "security.protocol", "request.timeout.ms", "isolation.level"):
        assert len(refusal({name: "a" * 1_000_000})) < 300
    assert len(refusal(LOGIN | {"sasl.mechanism": "a" * 1_000_000})) < 300
    config = KafkaConfig.read(ALICE | {"sasl.password": "p" * 1_000_000})
    assert config.librdkafka()["sasl.password"] == "p" * 1_000_000
    assert config.redacted("p" * 1_000_000) == "[hidden]"


def test_blanks_of_java_are_taken_away_and_no_others(tmp_path: Path) -> None:
    path = file(tmp_path, "client.id= a \\t\nsasl.password=\\ p\\u00a0 \n")
    config = KafkaConfig.read(path)
    assert config.librdkafka()["client.id"] == "a"
    assert config.secrets() == {"p\u00a0"}


@pytest.mark.parametrize("given", [b"x", 5, [], ("a", "b"), 1.5, True, object()])
def test_what_is_not_a_configuration_is_refused(given: object) -> None:
    assert refusal(given).startswith(
        "a configuration is host:port, a dict of settings or the path of a file, not a "
    )


@pytest.mark.parametrize("name", ["nowhere", "", "a\0b", "x" * 5000])
def test_a_file_that_cannot_be_read_is_one_sentence(name: str, tmp_path: Path) -> None:
    said = refusal(f"{tmp_path}/{name}")
    assert said.startswith("the configuration file '")
    assert "' cannot be read: " in said


def test_an_empty_path_is_told() -> None:
    assert refusal("") == "the path of the configuration file is empty: name a file"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xff\xfea\x00=\x00b\x00", "is in UTF-16: save it as UTF-8"),
        (b"\xfe\xff\x00a\x00=\x00b", "is in UTF-16: save it as UTF-8"),
        (b"\x1f\x8b\x08\x00", "is not a file of settings: it has a NUL"),
        (b"a=b\n", "line 1 does not begin with a setting's name"),
        (b"{\n", "line 1 does not begin with a setting's name"),
        (b"client.id=\\u12\n", r"line 1: \u is not followed by four hex digits"),
        (b"client.id=\\ud83d\n", r"line 1: \u makes half a character: its other half is missing"),
        (
            b"sasl.jaas.config=x required\npassword=hunter2\n",
            "an option within sasl.jaas.config: end each line of its text but the last with a backslash and",
        ),
        (
            b"ssl.key.pem=-----BEGIN PRIVATE KEY-----\nhunter2hunter2==\n",
            "line 2 does not begin with a setting's name",
        ),
        (b"#\nbootstrap.servers=a\n", "line 2: bootstrap.servers 'a' has no port: write 'a:9092'"),
        (
            b"bootstrap.servers=a:99999\n",
            "line 1: bootstrap.servers 'a:99999' has a port that is not 1 to 65535: ",
        ),
        (
            b"metadata.broker.list=a:0\n",
            "line 1: metadata.broker.list 'a:0' has a port that is not 1 to 65535: ",
        ),
        (b"request.timeout.ms=soon\n", "line 1: request.timeout.ms is a whole number from 0 to "),
        (b"socket.timeout.ms=-5\n", "line 1: socket.timeout.ms is a whole number from 0 to "),
        (b"client.dns.lookup=x\n", "line 1: client.dns.lookup is use_all_dns_ips or "),
        (b"sasl.mechanics=x\n", "did you mean 'sasl.mechanism'?"),
        (b"x" * (4 * 2**20 + 1), "is larger than 4 MiB: name another file"),
    ],
)
def test_a_file_that_is_not_one_of_settings_is_refused(data: bytes, said: str, tmp_path: Path) -> None:
    path = file(tmp_path, data)
    sentence = refusal(path)
    assert said in sentence
    assert path in sentence
    assert "hunter2" not in sentence


@pytest.mark.parametrize(
    "module", ["hunter2", "hunter2 required", "hunter2.x required", "'hunter2 b' required"]
)
def test_what_is_not_a_login_module_is_not_shown(module: str) -> None:
    said = refusal(LOGIN | {"sasl.jaas.config": f"{module};"})
    assert "hunter2" not in said
    known = refusal(LOGIN | {"sasl.jaas.config": "com.example.MyLoginModule required;"})
    assert "'com.example.MyLoginModule', and partwright knows PlainLoginModule, " in known
