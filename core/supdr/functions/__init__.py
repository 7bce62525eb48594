"""Losses, kernels and exponential families: value, derivative, curvature."""
