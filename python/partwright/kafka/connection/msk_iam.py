"""Tokens for Amazon MSK's IAM: AWS's own library signs them, and librdkafka takes them under OAUTHBEARER."""

from __future__ import annotations

import base64
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from partwright._check import first_line
from partwright.errors import MissingExtraError, PartwrightError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

__all__ = ["Signer", "region_of", "signer"]

_HOST = re.compile(r"\.kafka(?:-serverless)?\.([a-z]{2}(?:-[a-z]+)+-[0-9]+)\.amazonaws\.com(?:\.cn)?$")
_PROFILE, _ROLE, _SESSION = "awsProfileName", "awsRoleArn", "awsRoleSessionName"
_UNDERSTOOD = {_PROFILE, _ROLE, _SESSION}
_SESSION_NAME = "partwright"


@dataclass(frozen=True)
class Signer:
    """confluent-kafka's `oauth_cb`: it returns a token for a region, and when the token expires.

    Attributes:
        region: The AWS region of the cluster.
        profile: A profile in AWS's configuration files, or None.
        role: The ARN of a role to assume, or None.
        session: The name of the session under this role.
    """

    region: str
    profile: str | None = None
    role: str | None = None
    session: str = _SESSION_NAME

    def __call__(self, config: str) -> tuple[str, float]:
        """A token, and its expiry in seconds since 1970."""
        del config
        provider = _library()
        if self.role is not None:
            token, _ = provider.generate_auth_token_from_role_arn(self.region, self.role, self.session)
        elif self.profile is not None:
            token, _ = provider.generate_auth_token_from_profile(self.region, self.profile)
        else:
            token, _ = provider.generate_auth_token(self.region)
        return token, _end_of(token)


def signer(options: Mapping[str, str], servers: str | None) -> Signer:
    """The signer for these servers, with the options of `IAMLoginModule`.

    Raises:
        MissingExtraError: AWS's library is not installed.
        PartwrightError: The region is not known, an option is not supported, or AWS's credentials are missing.
    """
    for name in options.keys() - _UNDERSTOOD:
        raise PartwrightError(
            f"the option {name} of IAMLoginModule is for Java alone: leave it out", field=name
        )
    _library()
    found = Signer(
        region_of(servers), options.get(_PROFILE), options.get(_ROLE), options.get(_SESSION, _SESSION_NAME)
    )
    try:
        # Sign once here: librdkafka reports a missing token only after ten seconds, and without the reason.
        found("")
    except Exception as error:  # noqa: BLE001 - AWS's libraries raise many, and none has a secret in its first line
        raise PartwrightError(f"AWS's signer makes no token for AWS_MSK_IAM: {first_line(error)}") from None
    return found


def region_of(servers: str | None) -> str:
    """The region in the servers' names, otherwise AWS_REGION or AWS_DEFAULT_REGION.

    Raises:
        PartwrightError: None of them gives a region.

    Examples:
        >>> region_of("b-1.orders.a1b2c3.c2.kafka.eu-central-1.amazonaws.com:9098")
        'eu-central-1'
    """
    for server in (servers or "").split(","):
        if found := _HOST.search(server.rpartition(":")[0].lower()):
            return found[1]
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not region:
        raise PartwrightError(
            "AWS_MSK_IAM signs for a region, which the names of bootstrap.servers do not have: set AWS_REGION"
        )
    return region


def _library() -> ModuleType:
    try:
        from aws_msk_iam_sasl_signer import MSKAuthTokenProvider
    except ImportError:
        raise MissingExtraError(
            "sasl.mechanism AWS_MSK_IAM needs AWS's signer: pip install 'partwright[msk-iam]'"
        ) from None
    signer_module: ModuleType = MSKAuthTokenProvider
    return signer_module


def _end_of(token: str) -> float:
    """When a token expires, in seconds since 1970. The token is a signed URL, whose times are in UTC.

    AWS's library returns milliseconds, and computes them as if the times were in the machine's time zone.
    """
    signed = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
    query = parse_qs(urlsplit(signed).query)
    begun = datetime.strptime(query["X-Amz-Date"][0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    return begun.timestamp() + int(query["X-Amz-Expires"][0])
