"""The rows of a run: sources, files, rows on disk, their split; and how much of a server they may take."""
