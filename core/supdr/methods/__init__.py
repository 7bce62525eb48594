"""One method, one file; parts that would make a file too long stand beside it, with a leading underscore."""
