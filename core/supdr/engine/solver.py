"""Solver and problem apart: a solver works on every problem that offers what it needs, a problem on all its solvers."""

from __future__ import annotations

from typing import Any

from supdr.engine.iterate import Problem


class Solver:
    """A way to take the steps of a problem.  It holds settings of its own at most: no data, no state."""

    def begin(self, problem: Any, state: Any) -> Any:
        """Return `state`, at which a run begins or goes on, with what this solver keeps from step to step."""
        return state._replace(search=None)

    def step(self, problem: Any, state: Any) -> Any:
        """Return the state one step later; the problem counts the step."""
        raise NotImplementedError

    def may_converge(self, problem: Any, previous: Any, state: Any) -> bool:
        """Tell whether an unchanged objective after this step means convergence."""
        return True

    def advice(self, problem: Any) -> str:
        """Return what to do when a run with this solver diverges."""
        return str(problem.general_advice)


class SolvedProblem(Problem):
    """A problem with a choice of solvers: `solver`, a field of the subclass, takes the steps."""

    solver: Solver
    general_advice: str = Problem.advice

    @property
    def advice(self) -> str:  # type: ignore[override]
        """What to do when the run diverges."""
        return self.solver.advice(self)

    def step(self, state: Any) -> Any:
        """Return the state one step of the solver later."""
        return self.solver.step(self, state)._replace(iteration=state.iteration + 1)

    def may_converge(self, previous: Any, state: Any) -> bool:
        """Tell whether an unchanged objective after this step means convergence."""
        return self.solver.may_converge(self, previous, state)

    def may_rest(self, previous: Any, state: Any) -> bool:
        """Tell whether a step of L-BFGS that lowers the objective little means convergence."""
        return True
