"""A clock in the hands of a test."""


class Clock:
    now = 0.0

    def __call__(self):
        return self.now
