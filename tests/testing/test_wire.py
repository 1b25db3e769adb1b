"""HTTP/1.1 parsing, on bytes."""

from __future__ import annotations

import pytest

from factcheck.testing.wire import HttpResponse, MalformedRequest, parse_request, render

LENGTH = b"POST /v1/x?y=1 HTTP/1.1\r\nContent-Length: 5\r\nX-A:  b \r\n\r\nhello"
CHUNKED = (
    b"POST /v1/x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5;ext=1\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: t\r\n\r\n"
)
CHUNKED_PLAIN = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n\r\n\r\n0\r\n\r\n"


@pytest.mark.parametrize(
    ("data", "body"), [(LENGTH, b"hello"), (CHUNKED, b"hello world"), (CHUNKED_PLAIN, b"\r\n")]
)
def test_every_prefix_is_incomplete(data: bytes, body: bytes) -> None:
    """A request is there with its last byte, not before, and what follows it is left alone."""
    assert all(parse_request(data[:end]) is None for end in range(len(data)))
    parsed = parse_request(data + b"GET / HTTP/1.1\r\n\r\n")
    assert parsed is not None
    assert (parsed.request.body, parsed.length) == (body, len(data))


def test_head() -> None:
    """Header names come in lower case, values without outer blanks, the path without the query."""
    parsed = parse_request(LENGTH)
    assert parsed is not None
    assert (parsed.request.method, parsed.request.path) == ("POST", "/v1/x")
    assert parsed.request.headers == {"content-length": "5", "x-a": "b"}


@pytest.mark.parametrize(
    ("head", "keep"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", True),
        (b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\n\r\n", False),
    ],
)
def test_keep_alive(head: bytes, keep: bool) -> None:  # noqa: FBT001 - a parameter of the table
    """A connection is kept unless the client says otherwise or is too old to know."""
    parsed = parse_request(head)
    assert parsed is not None
    assert parsed.request.keep_alive is keep


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: many\r\n\r\n",
        b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n",
    ],
)
def test_malformed(data: bytes) -> None:
    """Bytes that can never become a request are an error, not something to wait for."""
    with pytest.raises(MalformedRequest):
        parse_request(data)


def test_render() -> None:
    """A response carries its length; a status without a name is sent all the same."""
    response = HttpResponse(529, {"retry-after": "2"}, b"{}")
    assert render(response, keep_alive=False) == (
        b"HTTP/1.1 529 Unknown\r\nretry-after: 2\r\n"
        b"content-length: 2\r\nconnection: close\r\n\r\n{}"
    )
