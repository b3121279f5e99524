"""Curl lines: a shell runs them, and what arrives is what was sent."""

import os
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hostproof.conformance.curl import MAX_TYPED, curl_line, needs_file
from hostproof.conformance.profile_parts import Caller
from hostproof.conformance.redaction import Redactor

TOKEN = "t0ken-$(of)'alice"  # noqa: S105 - made up
ALICE = Caller(name="alice", headers=(("Authorization", f"Bearer {TOKEN}"), ("X$`id`", "odd-1")))
REDACTOR = Redactor([ALICE])
JSON = (("content-type", "application/json"), ("accept", "text/event-stream"))


@pytest.fixture(scope="module")
def server():
    received = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self):
            length = int(self.headers.get("content-length", 0))
            body = self.rfile.read(length)
            received.append((self.command, self.path, self.headers.items(), body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_POST = do_GET = do_PUT = do_DELETE = do_HEAD = handle_any  # noqa: N815

        def log_message(self, *args):
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_port}", received
    httpd.shutdown()
    thread.join()
    httpd.server_close()


def run(line, received, **environ):
    """Run a line in a shell, and give what arrived."""
    received.clear()
    subprocess.run(
        ["/bin/sh", "-c", line],
        check=True,
        capture_output=True,
        timeout=20,
        env={"PATH": os.environ["PATH"], "no_proxy": "*", **environ},
    )
    (one,) = received
    return one


needs_curl = pytest.mark.skipif(
    shutil.which("curl") is None or os.name != "posix", reason="there is no curl here"
)

BODIES = [
    b"",
    b"{}",
    b"@/etc/hostname",
    b'it\'s "quoted" $HOME `id` \\ !! %s\n\nend\n',
    '{"text": "\u00e9\u4e16\U0001f600"}'.encode(),
    b"-d x",
    b"a\0b",
    b"\xff\xfe",
    b"tab\tand\rreturn",
    "right\u202eleft".encode(),
    b"x" * (MAX_TYPED + 1),
    b"&a=b&c+d=%20",
]


@needs_curl
@pytest.mark.parametrize("body", BODIES, ids=lambda body: repr(body)[:24])
def test_the_same_bytes_arrive(server, tmp_path, body):
    url, received = server
    file = tmp_path / "it's a body"
    file.write_bytes(body)
    line = curl_line("POST", f"{url}/agui", JSON, body, REDACTOR, body_file=file)
    assert ("@" + str(tmp_path) in line) == needs_file(body)

    method, path, headers, arrived = run(line, received)

    assert (method, path, arrived) == ("POST", "/agui", body)
    names = {name.lower(): value for name, value in headers}
    assert names["content-type"] == "application/json"
    assert names["accept"] == "text/event-stream"
    assert names["content-length"] == str(len(body))


@needs_curl
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(body=st.text(max_size=60).map(lambda text: text.encode("utf-8", "ignore")))
def test_any_body_that_can_be_typed_arrives(server, body):
    if not needs_file(body):
        line = curl_line("POST", f"{server[0]}/", JSON, body, REDACTOR)
        assert run(line, server[1])[3] == body


@needs_curl
def test_a_callers_headers_are_variables(server):
    url, received = server
    line = curl_line("POST", url, (*JSON, *ALICE.headers), b"{}", REDACTOR)
    assert '-H "Authorization: $HOSTPROOF_ALICE_AUTHORIZATION"' in line
    assert TOKEN not in line
    assert "odd-1" not in line

    headers = run(
        line,
        received,
        HOSTPROOF_ALICE_AUTHORIZATION=f"Bearer {TOKEN}",
        HOSTPROOF_ALICE_X_ID_="odd-1",
    )[2]

    assert [value for name, value in headers if name in dict(ALICE.headers)] == [
        value for _, value in ALICE.headers
    ]


@needs_curl
@pytest.mark.parametrize(
    ("method", "body"),
    [(method, body) for method in ("GET", "DELETE", "PUT", "POST") for body in (b"", b"{}")]
    + [("HEAD", b"")],
)
def test_the_method_arrives(server, method, body):
    url, received = server
    found = run(curl_line(method, f"{url}/x", (), body, REDACTOR), received)
    assert (found[0], found[3]) == (method, body)
    assert "content-type" not in {name.lower() for name, _ in found[2]}


@needs_curl
def test_the_path_arrives_as_it_stands(server):
    url, received = server
    for path in ("/a/../b?x=[1-3]{a,b}", "/a/./", "/%2e%2e/$HOME?a='b'&c"):
        assert run(curl_line("GET", url + path, (), b"", REDACTOR), received)[1] == path


@needs_curl
def test_empty_and_quoted_headers_arrive(server):
    url, received = server
    given = (("X-Empty", ""), ("X-Quoted", "it's $HOME"), ("Content-Type", 'text/x; a="b"'))
    headers = run(curl_line("POST", url, given, b"x", REDACTOR), received)[2]
    assert [one for one in headers if one[0] in dict(given)] == list(given)


def test_a_line_is_short_where_it_can_be():
    assert curl_line("POST", "http://h/a", JSON, b"{}", REDACTOR) == (
        "curl -isSN http://h/a -H 'content-type: application/json'"
        " -H 'accept: text/event-stream' --data-raw '{}'"
    )
    assert curl_line("GET", "https://h/a", JSON[1:], b"", REDACTOR) == (
        "curl -isSN --http1.1 https://h/a -H 'accept: text/event-stream'"
    )


def test_no_secret_is_in_a_line():
    line = curl_line(
        "POST",
        f"http://h/?t={TOKEN}",
        (("X-Forwarded", TOKEN),),
        f'{{"t": "{TOKEN}"}}'.encode(),
        REDACTOR,
    )
    assert "alice'" not in line.replace("[caller alice]'", "")
    assert line.count("[caller alice]") == 3


def test_a_body_that_is_nowhere_kept_has_a_file_that_is_not_there():
    assert curl_line("POST", "http://h/", JSON, b"\0", REDACTOR).endswith(
        " --data-binary @body.bin"
    )
