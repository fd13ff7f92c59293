"""No secret is shown: one is planted in every setting that holds one, and in the errors of wrong settings."""

from __future__ import annotations

import copy
import pickle
import traceback

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from partwright.errors import PartwrightError
from partwright.kafka.connection import KafkaConfig, names
from partwright.kafka.connection.secret import HIDDEN, without

SPELLED = {
    **{name: name for name in names.SECRETS},
    **{other: name for other, name in names.ALIASES.items() if name in names.SECRETS},
}
# Each test reads many configurations.
FEW = settings(max_examples=15, deadline=None)
OTHERS = ["schema.registry.basic.auth.user.info", "basic.auth.user.info", "bearer.auth.token"]
OTHERS += ["schema.registry.ssl.key.password", "confluent.license.token", "basic.auth.credentials.source"]
CONTEXTS: list[dict[str, str]] = [
    {},
    {"security.protocol": "SSL"},
    {"security.protocol": "SSL", "ssl.truststore.location": "/nowhere", "ssl.keystore.location": "/nowhere"},
    *(
        {"security.protocol": "SASL_SSL", "sasl.mechanism": mechanism, "sasl.username": "alice"}
        for mechanism in ("PLAIN", "SCRAM-SHA-512", "OAUTHBEARER", "AWS_MSK_IAM")
    ),
    {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": "https://example.com/token",
        "sasl.oauthbearer.client.id": "alice",
    },
    {"security.protocol": "SASL_SSL", "sasl.mechanism": "wrong"},
]
# Without line ends, without blanks at the ends, and unlike any of our words.
SECRETS = st.text(st.characters(min_codepoint=33, exclude_categories=["Cs", "Cc", "Z"]), min_size=1).map(
    "§{}§".format
)


def said(name: str, secret: str, context: dict[str, str]) -> str:
    """Everything that anybody may see of a configuration, or of the error instead of it."""
    try:
        config = KafkaConfig.read({**context, name: secret}, settings={"client.id": "a"})
    except PartwrightError as error:
        lines = traceback.format_exception(error)
        return "\n".join([lines[-1], str(error), repr(vars(error)), repr(error), repr(error.__cause__)])
    seen = [
        repr(config),
        str(config),
        f"{config}",
        *config.notes,
        repr(config.layers),
    ]
    seen += [repr(part) for part in (config.sasl, config.tls, copy.deepcopy(config), vars(config))]
    with pytest.raises(PartwrightError, match="is not pickled"):
        pickle.dumps(config)
    for ask in (config.librdkafka, config.java):
        try:
            ask()
        except PartwrightError as error:
            seen.append(str(error))
    return "\n".join(seen)


@FEW
@pytest.mark.parametrize("name", sorted({*SPELLED, *OTHERS}))
@given(secret=SECRETS)
@example("§hunter2§")
@example("§a b=c;\"'\\§")
def test_a_secret_is_in_nothing_that_is_shown(name: str, secret: str) -> None:
    for context in CONTEXTS:
        shown = said(name, secret, context)
        assert secret not in shown
        assert "§" not in shown


@FEW
@pytest.mark.parametrize("name", sorted(set(SPELLED) - {"sasl.jaas.config", "sasl.oauthbearer.config"}))
@given(secret=st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1))
@example("a")
@example("alice")
@example("[hidden]")
@example("hidden")
def test_what_is_shown_is_the_same_whatever_the_secret_is(name: str, secret: str) -> None:
    for context in CONTEXTS:
        # The secret is removed wherever it appears, even inside another word: such words are left out.
        if secret not in said(name, "§", context):
            assert said(name, secret, context) == said(name, "§", context)


@FEW
@given(secret=SECRETS)
def test_a_password_within_jaas_is_in_nothing_that_is_shown(secret: str) -> None:
    package = "org.apache.kafka.common.security"
    quoted = secret.replace("\\", "\\\\").replace('"', '\\"')
    modules = [("PLAIN", "plain.PlainLoginModule"), ("SCRAM-SHA-256", "scram.ScramLoginModule")]
    for mechanism, module in [*modules, ("OAUTHBEARER", "oauthbearer.OAuthBearerLoginModule")]:
        for text in (
            f'password="{quoted}"',
            f'clientId=a clientSecret="{quoted}"',
            f'x="{quoted}"',
            f"password={secret}",
        ):
            for end in (";", "", "; x"):
                given = {"security.protocol": "SASL_SSL", "sasl.mechanism": mechanism}
                shown = said("sasl.jaas.config", f"{package}.{module} required username=a {text}{end}", given)
                assert "§" not in shown


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)), st.text(max_size=30)
)
@example(["e", "hidden", "[", "d]"], "hidden [hidden] e")
@example(['a"b'], 'a\\"b a%22b a"b')
@example(["\\"], "\\\\ \\")
def test_what_is_redacted_has_no_secret_left(secrets: list[str], text: str) -> None:
    left = without(f"{text}{''.join(secrets)}", secrets)
    for part in left.split(HIDDEN):
        # Two ends may meet where one stood between them, but not within a part.
        assert not any(secret in part for secret in secrets)


@pytest.mark.parametrize("name", sorted(SPELLED))
def test_every_secret_is_redacted(name: str) -> None:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    of_jaas = f'{module} required username=a password="hunter2";'
    config = KafkaConfig.read({name: of_jaas if name == "sasl.jaas.config" else "hunter2"})
    assert config.redacted("so hunter2 is wrong") == f"so {HIDDEN} is wrong"


def test_a_key_is_redacted_line_by_line() -> None:
    key = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIMwxYz\nabcdefghijklmnopqrst\n-----END PRIVATE KEY-----\n"
    for name in ("ssl.key.pem", "ssl.ca.pem", "https.ca.pem", "schema.registry.ssl.keystore.key"):
        config = KafkaConfig.read({name: key})
        assert "abcdef" not in config.redacted("at abcdefghijklmnopqrst")
