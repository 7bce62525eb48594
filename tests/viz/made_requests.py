"""Requests as a server gets them from browsers."""

from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine


def request_of(path):
    """Return a request for an address of this machine."""
    line = RequestStartLine("GET", path, "HTTP/1.1")
    return HTTPServerRequest(start_line=line, headers=HTTPHeaders({"Host": "localhost"}))
