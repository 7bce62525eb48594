"""Numerical parts that several methods use, and that stand on their own."""
