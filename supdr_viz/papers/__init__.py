"""The tables and figures of the papers, measured anew, and the experiments behind them."""
