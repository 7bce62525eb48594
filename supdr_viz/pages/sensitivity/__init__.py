"""Sweeps over hyper-parameters, as the page and the command line describe, run and show them."""
