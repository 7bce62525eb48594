"""The page of lessons: the built-in ones, and one of the user's own."""
