"""The server: processes, admission, headers, cookies, log."""
