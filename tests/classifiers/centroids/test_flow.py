"""The gradient flow: its equation, its invariants, and that it ends where the closed form says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from benchmark.classifiers.centroids import flow
from benchmark.classifiers.centroids.divergence import ClassStatistics, class_statistics, mean_skl, mean_skl_gradient
from benchmark.classifiers.centroids.exact import skl_centroid
from benchmark.classifiers.centroids.flow import energy_gap, flow_velocity, gradient_flow, path_edges
from benchmark.classifiers.centroids.graph_solvers import connected_graph
from tests.classifiers.centroids.drawn import draw_documents

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Edges = NDArray[np.int64]


def star(v: int) -> Edges:
    return np.stack([np.zeros(v - 1, dtype=np.int64), np.arange(1, v)], axis=1)


def random_tree(v: int) -> Edges:
    rng = np.random.default_rng([1, v])
    names = rng.permutation(v)
    return np.array([[names[i], names[rng.integers(i)]] for i in range(1, v)])


def ladder(v: int) -> Edges:
    """A path with edges to the word after next: not a tree."""
    return np.concatenate([path_edges(np.arange(v)), np.stack([np.arange(v - 2), np.arange(2, v)], axis=1)])


def complete(v: int) -> Edges:
    return np.stack(np.triu_indices(v, 1), axis=1)


def shuffled_path(v: int) -> Edges:
    return path_edges(np.random.default_rng([2, v]).permutation(v))


GRAPHS = [shuffled_path, star, random_tree, ladder, complete]


def as_the_paper_writes(statistics: ClassStatistics, rho: NDArray[np.float64], edges: Edges) -> list[float]:
    """-Σ_{j∈N(i)} g_ij (F_i - F_j), word by word."""
    f = mean_skl_gradient(statistics, rho)
    neighbours: list[list[int]] = [[] for _ in rho]
    for i, j in edges.tolist():
        neighbours[i].append(j)
        neighbours[j].append(i)
    return [-sum((rho[i] if f[i] > f[j] else rho[j]) * (f[i] - f[j]) for j in neighbours[i]) for i in range(len(rho))]


@pytest.mark.parametrize("graph", GRAPHS)
def test_velocity_is_the_papers(graph: Callable[[int], Edges]) -> None:
    statistics = class_statistics(draw_documents(5, 14), 0.1)
    rho = np.random.default_rng([3, 14]).dirichlet(np.ones(14))
    edges = graph(14)
    speed = flow_velocity(statistics, rho, edges)
    assert speed == pytest.approx(as_the_paper_writes(statistics, rho, edges), rel=1e-12, abs=1e-13)
    assert abs(speed.sum()) < 1e-12 * np.abs(speed).sum()
    assert speed @ mean_skl_gradient(statistics, rho) < 0
    assert np.abs(flow_velocity(statistics, skl_centroid(statistics), edges)).max() < 1e-13


@pytest.mark.parametrize("graph", [shuffled_path, ladder])
def test_steps_follow_the_differential_equation(graph: Callable[[int], Edges]) -> None:
    """Against a method of order up to 12; ours is of order 1, and a local error of size ε comes of steps of size √ε."""
    statistics = class_statistics(draw_documents(5, 8, length=20), 0.3)
    edges, start = graph(8), np.full(8, 1 / 8)
    end = gradient_flow(statistics, edges, start=start).times[-1]

    def speed(_: float, rho: NDArray[np.float64]) -> NDArray[np.float64]:
        return flow_velocity(statistics, rho, edges)

    oracle = solve_ivp(speed, (0, end), start, method="LSODA", rtol=1e-8, atol=1e-11, dense_output=True)
    errors = []
    for accuracy in (1e-3, 1e-5):
        ours = gradient_flow(statistics, edges, start=start, accuracy=accuracy, max_steps=20_000)
        inside = ours.times <= end
        energies = [mean_skl(statistics, oracle.sol(t)) for t in ours.times[inside]]
        errors.append(np.abs(ours.energies[inside] - energies).max())
    fall = mean_skl(statistics, start) - mean_skl(statistics, skl_centroid(statistics))
    assert errors[0] < 0.02 * fall
    assert 4 < errors[0] / errors[1] < 25


@pytest.mark.parametrize("smoothing", [1e-10, 3e-5, 0.1, 10.0])
@pytest.mark.parametrize("graph", GRAPHS)
def test_it_ends_at_the_exact_centroid(graph: Callable[[int], Edges], smoothing: float) -> None:
    statistics = class_statistics(draw_documents(12, 40), smoothing)
    exact = skl_centroid(statistics)
    lowest = mean_skl(statistics, exact)
    for start in (None, np.full(40, 1 / 40), np.random.default_rng([4, 40]).dirichlet(np.ones(40))):
        end = gradient_flow(statistics, graph(40), start=start, tolerance=1e-11)
        assert end.energies[-1] == pytest.approx(lowest, abs=1e-13)
        assert end.centroid == pytest.approx(exact, abs=1e-10)


def assert_invariants(end: Any) -> None:
    """Mass is conserved, and the energy falls but for rounding."""
    assert (end.centroid > 0).all()
    assert np.abs(end.masses - 1).max() < 1e-12
    assert (np.diff(end.energies) <= 1e-14 * max(1.0, end.energies[0])).all()
    assert (np.diff(end.times) > 0).all()


@pytest.mark.parametrize("smoothing", [1e-8, 3e-5, 1e-2])
def test_two_thousand_words(smoothing: float) -> None:
    """On the paper's graph: to 1e-9 nats of an energy of 2 to 5, by less than 300 steps."""
    statistics = class_statistics(draw_documents(60, 2000), smoothing)
    exact = skl_centroid(statistics)
    end = gradient_flow(statistics)
    assert_invariants(end)
    assert end.gap <= 1e-9
    assert end.energies[-1] - mean_skl(statistics, exact) < 1e-12
    assert np.abs(end.centroid - exact).sum() < 1e-8
    assert len(end.times) < 300


def test_a_thousand_words_on_a_graph_with_cycles() -> None:
    """The factorization loses digits there, which Newton's iteration corrects, and mass, which is put back."""
    statistics = class_statistics(draw_documents(60, 1000), 3e-5)
    end = gradient_flow(statistics, ladder(1000))
    assert_invariants(end)
    assert end.energies[-1] - mean_skl(statistics, skl_centroid(statistics)) < 1e-12


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("accuracy", [1e-3, 1e-1, 10.0])
def test_mass_stays_and_the_energy_falls_whatever_the_step(graph: Callable[[int], Edges], accuracy: float) -> None:
    statistics = class_statistics(draw_documents(10, 50), 1e-3)
    start = np.random.default_rng([5, 50]).dirichlet(np.full(50, 0.3)) + 1e-9
    assert_invariants(gradient_flow(statistics, graph(50), start=start / start.sum(), accuracy=accuracy))


def test_the_gap_bounds_the_energy() -> None:
    statistics = class_statistics(draw_documents(10, 30), 0.01)
    lowest = mean_skl(statistics, skl_centroid(statistics))
    rng = np.random.default_rng([6, 30])
    for rho in rng.dirichlet(np.ones(30), size=20):
        assert energy_gap(statistics, rho) >= mean_skl(statistics, rho) - lowest > 0
    assert gradient_flow(statistics, tolerance=0.05).gap <= 0.05


def test_a_looser_tolerance_stops_earlier() -> None:
    statistics = class_statistics(draw_documents(10, 30), 0.01)
    loose, tight = gradient_flow(statistics, tolerance=1e-3), gradient_flow(statistics, tolerance=1e-9)
    steps = len(loose.times)
    assert 1 < steps < len(tight.times)
    np.testing.assert_array_equal(loose.energies, tight.energies[:steps])


@pytest.mark.parametrize("graph", GRAPHS)
def test_names_of_words_and_directions_of_edges_do_not_matter(graph: Callable[[int], Edges]) -> None:
    counts, edges = draw_documents(10, 30).toarray(), graph(30)
    order = np.random.default_rng([7, 30]).permutation(30)
    place = np.argsort(order)
    plain = gradient_flow(class_statistics(counts, 0.01), edges)
    renamed = gradient_flow(class_statistics(counts[:, order], 0.01), place[edges][::-1, ::-1])
    assert renamed.centroid == pytest.approx(plain.centroid[order], rel=1e-8)
    assert len(renamed.times) == len(plain.times)


def test_a_flow_that_starts_at_the_centroid_stays() -> None:
    statistics = class_statistics([[9, 1], [1, 9]], 0.0)
    end = gradient_flow(statistics)
    assert len(end.times) == 1
    assert end.centroid == pytest.approx([0.5, 0.5])
    alone = gradient_flow(class_statistics([[3], [4]], 0.1))
    assert alone.centroid.tolist() == [1.0]


def test_two_words_take_the_equations_one_dimension() -> None:
    """The path of two words is the line: ρ_1 = x, dx/dt = -g (F_1 - F_2), solved by a method of order 5."""
    statistics = class_statistics([[8, 1], [2, 2], [1, 1]], 0.1)

    def speed(_: float, x: NDArray[np.float64]) -> list[float]:
        return [flow_velocity(statistics, np.array([x[0], 1 - x[0]]), path_edges([0, 1]))[0]]

    ours = gradient_flow(statistics, start=[0.1, 0.9], accuracy=1e-6, max_steps=20_000)
    oracle = solve_ivp(speed, (0, ours.times[-1]), [0.1], method="LSODA", rtol=1e-10, atol=1e-12)
    assert ours.centroid[0] == pytest.approx(oracle.y[0, -1], abs=1e-8)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([[0, 1], [1, 2]], "connected: from word 3 its edges lead to 1 of 4"),
        ([[0, 1], [2, 3], [0, 1]], "each pair at most once"),
        ([[0, 1], [1, 2], [2, 3], [1, 0]], "each pair at most once"),
        ([[0, 1], [1, 2], [2, 3], [3, 3]], "two different words"),
        ([[0, 1], [1, 2], [2, 4]], "words 0 to 3, but they range from 0 to 4"),
        ([[0, 1], [1, 2], [2, -1]], "range from -1 to 2"),
        ([[0.0, 1.0]], "whole numbers"),
        ([0, 1, 2, 3], "shape"),
        ([], "connected"),
    ],
)
def test_edges_that_make_no_connected_graph_are_refused(edges: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gradient_flow(class_statistics([[1, 2, 3, 4]], 0.1), edges)


@pytest.mark.parametrize("order", [[0, 1, 0], [0.0, 1.0], [[0, 1]]])
def test_a_path_visits_each_word_once(order: Any) -> None:
    assert path_edges(range(4)).tolist() == [[0, 1], [1, 2], [2, 3]]
    with pytest.raises(ValueError, match="each once"):
        path_edges(order)


@pytest.mark.parametrize("start", [[0.5, 0.5], [0.5, 0.5, 0.0], [0.5, 0.2, 0.2], [0.5, np.nan, 0.5]])
def test_a_start_that_is_no_positive_distribution_is_refused(start: list[float]) -> None:
    with pytest.raises(ValueError, match="distribution of 3 positive"):
        gradient_flow(class_statistics([[1, 2, 3]], 0.1), start=start)


@pytest.mark.parametrize("name", ["tolerance", "accuracy", "max_steps"])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_a_parameter_out_of_range_is_refused(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be"):
        gradient_flow(class_statistics([[1, 2, 3]], 0.1), **{name: value})


def test_a_flow_that_does_not_arrive_says_so() -> None:
    statistics = class_statistics(draw_documents(10, 30), 0.01)
    with pytest.raises(RuntimeError, match=r"after 3 steps .* may still be"):
        gradient_flow(statistics, max_steps=3)
    with pytest.raises(RuntimeError, match=r"steps|rounding"):
        gradient_flow(statistics, tolerance=1e-200)


def test_as_many_steps_as_it_needs_are_enough() -> None:
    statistics = class_statistics(draw_documents(10, 30), 0.01)
    needed = len(gradient_flow(statistics).times) - 1
    assert len(gradient_flow(statistics, max_steps=needed).times) == needed + 1
    with pytest.raises(RuntimeError, match=rf"after {needed - 1} steps"):
        gradient_flow(statistics, max_steps=needed - 1)


def test_a_start_whose_sum_is_off_by_rounding_is_divided_by_its_sum() -> None:
    statistics, start = class_statistics([[1, 2, 3]], 0.1), np.array([0.2, 0.3, 0.5])
    plain, off = (gradient_flow(statistics, start=start * factor) for factor in (1.0, 1 + 9e-10))
    assert off.masses[0] == pytest.approx(1, abs=1e-15)
    assert off.energies[0] == pytest.approx(plain.energies[0], abs=1e-15)
    np.testing.assert_array_equal(start, [0.2, 0.3, 0.5])
    with pytest.raises(ValueError, match="distribution of 3 positive"):
        gradient_flow(statistics, start=start * (1 + 2e-9))


@pytest.mark.parametrize("graph", [shuffled_path, ladder])
@pytest.mark.parametrize("wrong", ["no solution", "more energy"])
def test_a_step_that_fails_is_taken_again_and_shorter(
    graph: Callable[[int], Edges], wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    statistics, edges = class_statistics(draw_documents(5, 8, length=20), 0.3), graph(8)
    plain = gradient_flow(statistics, edges)
    solve, asked = flow._implicit_step, list[float]()

    def failing(statistics: ClassStatistics, graph: Any, start: NDArray[np.float64], tau: float) -> Any:
        asked.append(tau)
        if len(asked) in (1, 2, 4):
            return None if wrong == "no solution" else np.full(8, 1 / 8) * 0.5 + 0.5 * np.eye(8)[0]
        return solve(statistics, graph, start, tau)

    monkeypatch.setattr(flow, "_implicit_step", failing)
    found = gradient_flow(statistics, edges)
    np.testing.assert_allclose(found.centroid, plain.centroid, atol=1e-4)
    assert len(found.times) == len(asked) + 1 - 3  # steps that fail are not among those of the result
    assert asked[1] == pytest.approx(0.2 * asked[0])
    assert asked[2] == pytest.approx(0.2 * asked[1])
    assert found.times[1] == asked[2]
    assert (np.diff(found.energies) <= 1e-14).all()
    monkeypatch.setattr(flow, "_implicit_step", lambda *_: None)
    with pytest.raises(RuntimeError, match=r"^rounding errors stop the flow at an energy that may be"):
        gradient_flow(statistics, edges)


@pytest.mark.parametrize("wrong", ["_NEWTON_ITERATIONS", "solve_laplacian"])
def test_a_step_without_a_solution_says_so(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Newton's iteration would need more steps, and where the solver finds the system singular."""
    statistics = class_statistics(draw_documents(5, 8, length=20), 1e-3)
    graph = connected_graph(ladder(8), 8)
    assert flow._implicit_step(statistics, graph, statistics.mean, 1.0) is not None
    monkeypatch.setattr(flow, wrong, 1 if wrong == "_NEWTON_ITERATIONS" else lambda *_: np.append(np.ones(7), np.nan))
    assert flow._implicit_step(statistics, graph, statistics.mean, 1.0) is None
