"""Properties of the resumable L-BFGS."""

import itertools

import numpy as np
import pytest

from supdr.solvers.lbfgs import lbfgs_adopt, lbfgs_start, lbfgs_step


def rosenbrock(point):
    head, tail = point[:-1], point[1:]
    gradient = np.zeros_like(point)
    gradient[:-1] = -400 * head * (tail - head**2) - 2 * (1 - head)
    gradient[1:] += 200 * (tail - head**2)
    return float((100 * (tail - head**2) ** 2 + (1 - head) ** 2).sum()), gradient, None


def run(state, evaluate, steps):
    states = [state]
    for _ in range(steps):
        states.append(lbfgs_step(states[-1], evaluate))
    return states


def test_reaches_the_minimum_and_never_rises():
    states = run(lbfgs_start(np.full(6, -1.2), rosenbrock), rosenbrock, 200)
    values = [state.value for state in states]
    assert all(after <= before for before, after in itertools.pairwise(values))
    assert values[-1] < 1e-12
    np.testing.assert_allclose(states[-1].point, 1.0, atol=1e-5)


def test_resumes_bit_for_bit_and_leaves_states_alone():
    begin = lbfgs_start(np.full(5, -1.2), rosenbrock)
    whole = run(begin, rosenbrock, 20)
    copies = [state.point.copy() for state in whole]
    resumed = run(lbfgs_adopt(run(begin, rosenbrock, 10)[-1], rosenbrock), rosenbrock, 10)
    np.testing.assert_array_equal(whole[-1].point, resumed[-1].point)
    for state, copy in zip(whole, copies):
        np.testing.assert_array_equal(state.point, copy)


def test_memory_is_bounded_and_dropped_for_another_function():
    def steeper(point):
        value, gradient, _ = rosenbrock(point)
        return 2 * value, 2 * gradient, None

    state = run(lbfgs_start(np.full(4, -1.2), rosenbrock), rosenbrock, 25)[-1]
    assert len(state.pairs) == 10
    assert lbfgs_adopt(state, rosenbrock) is state
    adopted = lbfgs_adopt(state, steeper)
    assert adopted.pairs == ()
    assert adopted.value == 2 * state.value


@pytest.mark.parametrize("refusal", [np.inf, np.nan])
def test_refused_points_are_never_visited(refusal):
    def barrier(point):
        """-log x + x, undefined below 0.01."""
        if point[0] < 0.01:
            return refusal, point, "outside"
        return float(point[0] - np.log(point[0])), 1 - 1 / point, "inside"

    states = run(lbfgs_start(np.array([30.0]), barrier), barrier, 40)
    assert all(state.payload == "inside" for state in states)
    np.testing.assert_allclose(states[-1].point, 1.0, atol=1e-6)


def test_at_a_minimum_nothing_moves():
    state = lbfgs_start(np.ones(3), rosenbrock)
    after = lbfgs_step(state, rosenbrock)
    np.testing.assert_array_equal(after.point, state.point)
    assert after.step == 0.0


def test_a_misleading_memory_is_dropped():
    """Pairs of another function may point uphill; steepest descent takes over and the value still falls."""
    state = run(lbfgs_start(np.full(4, -1.2), rosenbrock), rosenbrock, 15)[-1]
    s, y = state.pairs[-1]
    following = lbfgs_step(state._replace(pairs=((s, -y),)), rosenbrock)
    assert following.value < state.value
