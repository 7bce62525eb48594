"""What goes wrong with bytes and values, and how much an answer to them may cost."""

from __future__ import annotations

import numpy as np

MOST_SECONDS, MOST_BYTES = 2.0, 1e9

TOKENS = [
    *(
        b"",
        b"0",
        b"-1",
        b"1e9",
        b"1e309",
        b"-1e309",
        b"nan",
        b"inf",
        b"null",
        b"true",
        b"9" * 400,
        b"1_0",
        b"0x1",
        b".5",
    ),
    *(b"\0", b"\xff", b"\xe2\x80\xae", b"<script>", b"'\";--", b"../..", b"%00", b"{", b"[[", b"]]", b"=", b"&", b";"),
    *(b",", b"\n", b"\r", b"\t", b'"', b"#", b":", b"\\", b"\xef\xbb\xbf", b"A" * 5_000, b"[" * 3_000, b"1," * 3_000),
]
WRONG = [
    "",
    None,
    True,
    -1,
    0,
    1e309,
    float("nan"),
    10**400,
    -(10**400),
    "x" * 5_000,
    [],
    [[]],
    {},
    {"a": []},
    "\0",
    "é",
]


def damaged(rng: np.random.Generator, data: bytes, others: list[bytes]) -> bytes:
    """Return a copy in which a few things went wrong."""
    data = data[: 1 << 20]
    for _ in range(rng.integers(1, 5)):
        at, to = sorted(int(end) for end in rng.integers(0, len(data) + 1, 2))
        token = TOKENS[rng.integers(len(TOKENS))]
        match rng.integers(7):
            case 0:
                data = data[:at] + data[to:]
            case 1:
                data = data[:at] + token + data[at:]
            case 2:
                data = data[:at] + token + data[min(len(data), at + len(token)) :]
            case 3:
                data = data[:to] + data[at:to] + data[to:]
            case 4:
                data = data[:at] + bytes([rng.integers(256)]) + data[at + 1 :]
            case 5:
                other = others[rng.integers(len(others))][: 1 << 20]
                data = data[:at] + other[rng.integers(len(other) + 1) :]
            case _:
                data = data[:at]
    return data
