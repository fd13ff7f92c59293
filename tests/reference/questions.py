"""The questions that every client is asked for the golden files: keys, each with a name, and numbers of partitions.

Nothing here is random: bytes that look random are a hash of their name, the same on every machine and every Python.
"""

from __future__ import annotations

import hashlib
import uuid

PARTITIONS = [1, 2, 3, 6, 7, 10, 12, 16, 17, 50, 100, 1000]
LONGEST = 64
PER_LENGTH = 10
UUIDS = 50

# The keys of the clients' own tests: Java, librdkafka, sarama, kafka-go, kafka-python, kafkajs, ruby-kafka, kafka_ex.
CLIENTS = """
21 foobar a-little-bit-long-string a-little-bit-longer-string lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8 abc
kafka giberish123456789 1234 234 34 4 PreAmbleWillBeRemoved,ThePrePartThatIs reAmbleWillBeRemoved,ThePrePartThatIs
eAmbleWillBeRemoved,ThePrePartThatIs AmbleWillBeRemoved,ThePrePartThatIs a ab 123456789 foo bar baz sarama blah boop
castle yolo hey 23456 hejsan abc123def456 SheetJS 9e8c7f4cf45857cfff7645d6 3900446192ff85a5f67da10c
0f4407b7a67d6d27de372198 30142322.022108_2000 joeirimpan rule monkey hover guest necklace storm paint agony strategic
redundancy 0 1 20 128 2187 16384 78125 279936 823543 2097152 4782969 10000000 19487171 35831808 62748517 105413504
170859375
""".split()  # noqa: SIM905 - a key a line would be long

# The keys quoted in public bug reports, by repository and thread.
REPORTS = {
    "tulios/kafkajs#1154": "TT0124",
    "confluentinc/confluent-kafka-python#1481": 'Struct{documentKey={"_id": "638d1b94ce8def06be68b439"}}',
    "Blizzard/node-rdkafka#616-a": "354afe16-939a-4ea8-8e17-8bb0840b6886",
    "Blizzard/node-rdkafka#616-b": "f562ac3b-2224-4e25-a0ab-56094e10c239",
    "Blizzard/node-rdkafka#817": "fd7af248-ce5c-46a5-93d7-1c0c9005b99d",
    "tulios/kafkajs#357": "100:48069",
    "nodefluent/node-sinek#39": "wu",
    "twmb/franz-go#669": "test",
    "confluentinc/kafka-rest#610-quoted": '"A"',
    "confluentinc/kafka-rest#610-bare": "A",
}

# Keys whose hash is exactly a number at which a sign, a mask or an absolute value goes wrong. The name says which hash
# and which number; they were found by running each hash backwards.
SIGNS = {
    "crc32/00000000": bytes.fromhex("9d0ad96d"),
    "crc32/00000001": bytes.fromhex("dc0ca8b6"),
    "crc32/7fffffff": bytes.fromhex("2c70caa4"),
    "crc32/80000000": bytes.fromhex("4e85ec36"),
    "crc32/80000001": bytes.fromhex("0f839ded"),
    "crc32/ffffffff": bytes.fromhex("ffffffff"),
    "murmur2/00000000": bytes.fromhex("e3871844"),
    "murmur2/00000001": bytes.fromhex("039d77d8"),
    "murmur2/7fffffff": bytes.fromhex("027d5343"),
    "murmur2/80000000": bytes.fromhex("a7d6506c"),
    "murmur2/80000001": bytes.fromhex("3334f6a5"),
    "murmur2/ffffffff": bytes.fromhex("a5d4305c"),
    "fnv1a/00000000": b"um910x1",
    "fnv1a/00000001": b"df4a01h",
    "fnv1a/7fffffff": b"1h5t358",
    "fnv1a/80000000": b"upld1pi",
    "fnv1a/80000000-sarama": b"1468509572224",
    "fnv1a/80000001": b"0fx4afg",
    "fnv1a/ffffffff": b"kdmw2hi",
    "string-hash/00000000": b"xwhiaoyk",
    "string-hash/00000001": b"xwhiaoyl",
    "string-hash/7fffffff": b"hwgeaqac",
    "string-hash/80000000": b"hwgeaqad",
    "string-hash/80000000-polygenelubricants": b"polygenelubricants",
    "string-hash/80000001": b"hwgeaqae",
    "string-hash/ffffffff": b"xwhiaoyj",
}

# Escapes keep the source, like the files, in ASCII: keys that look alike in an editor may differ.
UNICODE = {
    "latin-precomposed": "caf\u00e9",
    "latin-combining": "cafe\u0301",
    "latin-combining-stack": "Z\u0351\u036b\u0343a\u0328\u0322l\u0334g\u0321o\u0322",
    "angstrom-sign": "\u212b",
    "angstrom-letter": "\u00c5",
    "german": "stra\u00dfe",
    "turkish-dotless": "\u0131I\u0130i",
    "greek": "\u03ba\u03cc\u03c3\u03bc\u03b5",
    "cyrillic": "\u043a\u043b\u044e\u0447",
    "mixed": "na\u00efve-\u043a\u043b\u044e\u0447-\U0001f511",
    "hebrew": "\u05e9\u05dc\u05d5\u05dd",
    "arabic": "\u0645\u0641\u062a\u0627\u062d",
    "right-to-left-mark": "abc\u200f123\u200e",
    "devanagari": "\u0915\u0941\u0902\u091c\u0940",
    "thai": "\u0e01\u0e38\u0e0d\u0e41\u0e08",
    "han": "\u9375\u6f22\u5b57",
    "kana": "\u30ad\u30fc\u304b\u304e",
    "hangul-syllables": "\uc5f4\uc1e0",
    "hangul-jamo": "\u110b\u1167\u11af\u1109\u116c",
    "fullwidth": "\uff46\uff4f\uff4f\uff5e",
    "no-break-space": "a\u00a0b",
    "emoji": "\U0001f600",
    "emoji-family": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "emoji-skin-tone": "\U0001f44d\U0001f3fd",
    "emoji-flag": "\U0001f1f3\U0001f1f1",
    "mathematical-bold": "\U0001d400\U0001d401",
    "first-supplementary": "\U00010000",
    "last-code-point": "\U0010ffff",
    "last-of-2-bytes": "\u07ff",
    "first-of-2-bytes": "\u0080",
    "first-of-3-bytes": "\u0800",
    "before-surrogates": "\ud7ff",
    "after-surrogates": "\ue000",
    "replacement-character": "\ufffd",
    "non-character": "\uffff",
    "byte-order-mark": "\ufeffkey",
    "nul-inside": "a\0b",
    "control": "\t\r\n\x1b\x7f",
    "spaces-around": " key ",
    "long": "\u00fc\u6f22\U0001f511" * 37,
}

# Bytes that are nearly UTF-8: a Java String is none of them.
NO_TEXT = [
    "c080",
    "eda080",
    "edbfbf",
    "f4908080",
    "f08080af",
    "c3",
    "e282",
    "f09f98",
    "61ff62",
    "0020ff",
    "fffefd",
]


def keys() -> dict[str, bytes]:
    """The keys by name, which starts with its group: none is empty, and none is there twice."""
    named: dict[str, bytes] = {f"clients/{text}": text.encode() for text in CLIENTS}
    named["clients/sentence"] = b"this is another string with more length to it perhaps"
    named |= {f"clients/0x{written}": bytes.fromhex(written) for written in ["0020", "fffefd"]}
    named |= {f"reports/{thread}": text.encode() for thread, text in REPORTS.items()}
    named |= {f"sign/{name}": key for name, key in SIGNS.items()}
    named |= {f"byte/{value:02x}": bytes([value]) for value in range(256)}
    for filler in ["00", "7f", "80", "ff", "80ff", "ff00"]:
        repeated = bytes.fromhex(filler) * LONGEST
        named |= {f"fill/{filler}-{length}": repeated[:length] for length in [*range(2, 18), 31, 32, 33, 64]}
    named |= {f"unicode/{name}": text.encode() for name, text in UNICODE.items()}
    named |= {f"no-text/{written}": bytes.fromhex(written) for written in NO_TEXT}
    named |= {f"digits/{number}": str(number).encode() for number in range(1000)}
    for number in range(UUIDS):
        text = str(uuid.UUID(bytes=_bytes(f"uuid/{number}", 16), version=4))
        named[f"uuid/{text}"] = text.encode()
    # Every single byte is already there.
    for length in range(2, LONGEST + 1):
        for number in range(PER_LENGTH):
            name = f"random/{length}-{number}"
            named[name] = _bytes(name, length)
    # A key stays under its first name.
    first = {key: name for name, key in reversed(named.items())}
    return {name: key for name, key in named.items() if first[key] == name}


def _bytes(name: str, length: int) -> bytes:
    return hashlib.shake_128(name.encode()).digest(length)
