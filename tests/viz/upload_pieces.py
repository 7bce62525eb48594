"""Pieces of a file that a browser sends."""


class Piece:
    """A piece of a file, as a browser sends it."""

    event_name = "upload_event"

    def __init__(self, name, chunk, data, total=100):
        self.data = {"name": name, "chunk": chunk, "total_chunks": total, "type": "text/csv", "data": data}


def send(field, *piece, **options):
    """Let a browser send a piece of a file to a chooser of files."""
    field._process_event(Piece(*piece, **options))
