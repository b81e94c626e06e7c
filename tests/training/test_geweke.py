"""Geweke's joint test of the whole sweep, and that it sees the slips it is there for."""

from dataclasses import fields, replace

import numpy as np
import pytest
from scipy import sparse

from geweke import joint_test, smallest_p_value
from metalda.corpus import NamedMatrix
from metalda.meta.design import Design
from metalda.meta.terms import Terms
from metalda.priors import Fixed, Gamma, Normal, SeedWeights
from metalda.samplers import Problem, Tokens
from metalda.samplers.shards import shard_bounds


def _design(rows):
    return Design.build(NamedMatrix(sparse.csr_array(np.array(rows, float)), tuple("abc"[: len(rows[0])])), len(rows))


LABELS = [[1, 0], [1, 1], [0, 0], [0, 1], [1, 0]]  # the third document has no label
LENGTHS = [3, 2, 4, 0, 5]  # the fourth has no word
FEATURES = [[1, 0], [1, 1], [0, 0], [0, 1]]  # the third word has no feature


def _problem(doc_prior, word_prior, n_topics=2):
    offsets = np.concatenate([[0], np.cumsum(LENGTHS)]).astype(np.int64)
    words = np.zeros(offsets[-1], np.int32)
    return Problem(words, offsets, len(FEATURES), n_topics, doc_prior, word_prior, Tokens(), shard_bounds(offsets, 1))


def test_metalda_keeps_the_joint_distribution_for_a_while():
    """The short form of the tests below."""
    problem = _problem(Gamma(_design(LABELS), 0.1, 1.0), Gamma(_design(FEATURES), 0.01, 1.0))
    assert smallest_p_value(joint_test(problem, n_sweeps=2000, seed=1)) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("shape", [0.1, 1.0, 2.5])
def test_metalda_keeps_the_joint_distribution(shape):
    problem = _problem(Gamma(_design(LABELS), 0.1, shape), Gamma(_design(FEATURES), 0.01, shape))
    heavy_tails = shape < 1  # then a chain is stuck for hundreds of sweeps
    z = joint_test(problem, n_sweeps=5_000, seed=1, restart=heavy_tails)
    assert smallest_p_value(z) > 1e-3


def _normal(rows, start, groups, prior=Normal, shape=1.0, **settings):
    """A normal prior whose variance has moderate tails; with those of the default, weights of e^500 are common."""
    return prior(_design(rows).group(groups), start, shape, 3.0, 2.0, **settings)


def test_normal_weights_keep_the_joint_distribution_for_a_while():
    problem = _problem(_normal(LABELS, 0.1, "cc"), _normal(FEATURES, 0.01, "cd"))
    assert smallest_p_value(joint_test(problem, n_sweeps=2000, seed=1)) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("groups", ["cc", "cd"])
def test_normal_weights_keep_the_joint_distribution(groups):
    """Labels of one column share a variance, and those of two columns do not."""
    problem = _problem(_normal(LABELS, 0.1, groups, default_precision=0.3), _normal(FEATURES, 0.01, groups))
    assert smallest_p_value(joint_test(problem, n_sweeps=5_000, seed=1)) > 1e-3


@pytest.mark.slow
def test_weights_that_are_drawn_in_every_fourth_iteration_keep_the_joint_distribution():
    problem = _problem(_normal(LABELS, 0.1, "cc"), _normal(FEATURES, 0.01, "cd", interval=4))
    assert smallest_p_value(joint_test(problem, n_sweeps=10_000, seed=1)) > 1e-3


@pytest.mark.slow
def test_normal_weights_beside_a_spread_default_keep_the_joint_distribution():
    """The default label has a gamma prior with heavy tails, as in the test of a slip of the variance."""
    problem = _problem(_normal(LABELS, 0.1, "cc", shape=0.3), _normal(FEATURES, 0.01, "cc"))
    assert smallest_p_value(joint_test(problem, n_sweeps=5_000, seed=1)) > 1e-3


SEEDED = SeedWeights(("b", "c"), 5.0, 2.0)
WITH_SEEDS = [[1, 1, 0], [1, 1, 1], [0, 0, 0], [0, 0, 1]]  # a feature, and two seed sets with a word in common


def _seeded(prior=Normal, **settings):
    if prior is Gamma:
        return Gamma(_design(WITH_SEEDS).group(["x", "seeds", "seeds"]), 0.01, 1.0, seeds=SEEDED)
    return _normal(WITH_SEEDS, 0.01, ["x", "seeds", "seeds"], prior, seeds=SEEDED, **settings)


def test_seeds_keep_the_joint_distribution_for_a_while():
    problem = _problem(_normal(LABELS, 0.1, "cc"), _seeded())
    assert smallest_p_value(joint_test(problem, n_sweeps=2000, seed=1)) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("prior", [Normal, Gamma])
def test_seeds_keep_the_joint_distribution(prior):
    problem = _problem(_normal(LABELS, 0.1, "cc"), _seeded(prior), n_topics=3)
    assert smallest_p_value(joint_test(problem, n_sweeps=10_000, seed=1)) > 1e-3


class _RateWithoutMean(Normal):
    """The slip a instead of a / m in the rate of seed weights."""

    @property
    def rates(self):
        return self.shapes


class _PooledSeeds(Normal):
    """The weights of seeds have the variance of their group, as those of other features."""

    @property
    def is_normal(self):
        return np.ones(len(self.design.group_names), bool)


@pytest.mark.slow
@pytest.mark.parametrize("slip", [_RateWithoutMean, _PooledSeeds])
def test_the_joint_test_sees_a_slip_of_seeds(slip):
    problem = _problem(_normal(LABELS, 0.1, "cc"), _seeded(slip))
    assert smallest_p_value(joint_test(problem, n_sweeps=2000, seed=1)) < 1e-6


COMPLETE = [[1, 0], [0, 1], [1, 0], [1, 0], [0, 1]]  # every document has one of the labels


@pytest.mark.slow
def test_a_level_that_moves_keeps_the_joint_distribution():
    problem = _problem(_normal(COMPLETE, 0.1, "cc", default_precision=0.3), _normal(FEATURES, 0.01, "cd"))
    assert smallest_p_value(joint_test(problem, n_sweeps=2000, seed=1)) > 1e-3


class _FreeLevel(Normal):
    """A level that moves as if the default label had no prior."""

    def _move_levels(self, log_weights, precisions, rng):
        moves = rng.standard_normal(log_weights.shape[1]) - log_weights[:-1].mean(axis=0)
        log_weights += np.outer([1, 1, -1], moves)


@pytest.mark.slow
def test_the_joint_test_sees_a_level_that_moves_too_freely():
    problem = _problem(_normal(COMPLETE, 0.1, "cc", _FreeLevel, default_precision=0.3), _normal(FEATURES, 0.01, "cd"))
    assert smallest_p_value(joint_test(problem, n_sweeps=2000, seed=1)) < 1e-6


@pytest.mark.slow
def test_default_label_and_default_feature_keep_the_joint_distribution():
    none = Design.build(None, len(LABELS)), Design.build(None, len(FEATURES))
    problem = _problem(Gamma(none[0], 0.1, 1.0), Gamma(none[1], 0.01, 1.0), n_topics=3)
    z = joint_test(problem, n_sweeps=5_000, seed=1, restart=True)  # three topics swap rarely too
    assert smallest_p_value(z) > 1e-3


@pytest.mark.slow
def test_lda_keeps_the_joint_distribution():
    none = Design.build(None, len(LABELS)), Design.build(None, len(FEATURES))
    problem = _problem(Fixed(none[0], 0.7), Fixed(none[1], 0.4), n_topics=3)
    assert smallest_p_value(joint_test(problem, n_sweeps=5_000, seed=1)) > 1e-3


class _PaperRate(Gamma):
    """The slip of the paper's equation for mu'': a prior rate of 1 / mu."""

    def _draw(self, log_weights, precisions, values, values_are_exact, augmentation, first, last, rng):
        scale = self.shape**2  # rate = 1/mu + sum: draw with rate mu + mu^2 sum, then multiply by mu^2
        slipped = augmentation._replace(topic_scales=augmentation.topic_scales * scale)
        super()._draw(log_weights, precisions, values, values_are_exact, slipped, first, last, rng)
        log_weights += np.log(scale)


class _PaperTables(Gamma):
    """The slip of the paper's equation for t, in effect: even the first customer may open no table."""

    def observe_documents(self, documents, alpha, rng):
        augmentation = super().observe_documents(documents, alpha, rng)
        lost = rng.binomial(augmentation.label_tables.astype(np.int64), 0.3)
        return augmentation._replace(label_tables=augmentation.label_tables - lost)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("doc_prior", "word_prior", "shape"),
    [(_PaperRate, Gamma, 2.5), (_PaperTables, Gamma, 1.0), (Gamma, _PaperRate, 0.3)],
)
def test_the_joint_test_sees_a_slip_put_back(doc_prior, word_prior, shape):
    problem = _problem(doc_prior(_design(LABELS), 0.1, shape), word_prior(_design(FEATURES), 0.01, shape))
    z = joint_test(problem, n_sweeps=2000, seed=1, restart=shape < 1)  # else a chain without a slip fails as well
    assert smallest_p_value(z) < 1e-6


def _numbers(**settings):
    """Two labels and a number, which the second document lacks; a column each."""
    values = np.array([[1, 0, 0.5], [1, 1, 0], [0, 0, -1.3], [0, 1, 0.4], [1, 0, 1.1]])
    design = Design.build(NamedMatrix(sparse.csr_array(values), ("a", "b", "x")), len(values), real=True)
    return Normal(design.group("ccx"), 0.1, 1.0, 3.0, 2.0, default_precision=0.5, **settings)


def test_numbers_keep_the_joint_distribution_for_a_while():
    problem = _problem(_numbers(), _normal(FEATURES, 0.01, "cd"))
    assert smallest_p_value(joint_test(problem, n_sweeps=2000, seed=1)) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("slices", [0.0, 0.1, 1.0])
def test_numbers_keep_the_joint_distribution(slices):
    problem = _problem(_numbers(slices=slices), _normal(FEATURES, 0.01, "cd"))
    assert smallest_p_value(joint_test(problem, n_sweeps=5_000, seed=1)) > 1e-3


REAL = np.array([[1, 0.5], [0, -1.2], [0, 0], [1, 0.8]])  # a feature, and a number that the third word lacks


def _real_features(prior=Normal, **settings):
    design = Design.build(NamedMatrix(sparse.csr_array(REAL), ("a", "x")), len(REAL), real=True)
    return prior(design.group("ax"), 0.01, 1.0, 3.0, 2.0, **settings)


def test_numbers_of_words_keep_the_joint_distribution_for_a_while():
    problem = _problem(_normal(LABELS, 0.1, "cc", default_precision=0.3), _real_features())
    assert smallest_p_value(joint_test(problem, n_sweeps=2000, seed=1)) > 1e-3


def test_seeds_beside_numbers_of_words_keep_the_joint_distribution_for_a_while():
    values = np.array([[1, 0, 0.5], [0, 1, -1.2], [0, 0, 0.3], [1, 0, 0.8]])  # two seed sets and a number
    design = Design.build(NamedMatrix(sparse.csr_array(values), ("b", "c", "x")), len(values), real=True)
    word_prior = Normal(design.group(["seeds", "seeds", "x"]), 0.01, 1.0, 3.0, 2.0, seeds=SEEDED)
    problem = _problem(_normal(LABELS, 0.1, "cc", default_precision=0.3), word_prior)
    assert smallest_p_value(joint_test(problem, n_sweeps=2000, seed=1)) > 1e-3


@pytest.mark.slow
def test_numbers_of_words_keep_the_joint_distribution():
    problem = _problem(_normal(LABELS, 0.1, "cc", default_precision=0.3), _real_features())
    assert smallest_p_value(joint_test(problem, n_sweeps=10_000, seed=1)) > 1e-3


class _TablesOfSigns(Normal):
    """Tables of words that are counted for a feature with its sign, whatever its value."""

    def observe_words(self, beta, counts, stripes):
        signs = replace(counts, design=replace(self.design, row_values=np.sign(self.design.row_values)))
        return super().observe_words(beta, signs, stripes)


@pytest.mark.slow
def test_the_joint_test_sees_tables_without_the_values_of_words():
    problem = _problem(_normal(LABELS, 0.1, "cc", default_precision=0.3), _real_features(_TablesOfSigns))
    assert smallest_p_value(joint_test(problem, n_sweeps=2000, seed=1)) < 1e-6


def _curves(prior=Normal):
    """A label column, a curve over a number that the second document lacks, and their interaction."""
    labels = np.array([[1, 0, 0.5], [0, 1, 0], [1, 0, -1.3], [1, 0, 0.4], [0, 1, 1.1]])
    matrix = NamedMatrix(sparse.csr_array(labels), ("a", "b", "x"))
    terms = Terms.fit("a + b + s(x, df=3) + a:x + b:s(x, df=3)", matrix, None)
    columns = terms.fit_columns(matrix, None, None)
    design = Design.build(columns, len(labels), real=True)
    return prior(design.group(terms.groups_of(columns.names)), 0.1, 1.0, 3.0, 2.0, default_precision=0.5)


@pytest.mark.slow
def test_curves_and_interactions_keep_the_joint_distribution():
    problem = _problem(_curves(), _normal(FEATURES, 0.01, "cd"))
    assert smallest_p_value(joint_test(problem, n_sweeps=5_000, seed=1)) > 1e-3


class _Centered(Normal):
    """Without the step that moves weights and their scale together, which would hide a slip of the scale."""

    def rescale(self, log_weights, precisions, augmentation, rng):
        pass


class _WrongRank(_Centered):
    """A variance of curvature whose shape counts the coefficients of the spline, and not the rank of its penalty."""

    def draw_group_precisions(self, log_weights, rng):
        groups, n_groups = self.design.groups, len(self.design.group_names)
        squares = np.bincount(groups, (log_weights[:-1] ** 2).sum(axis=1), minlength=n_groups)
        sizes = np.bincount(groups, minlength=n_groups)
        sizes[["s(" in name for name in self.design.group_names]] += 2
        shapes = self.scale_shape + sizes * log_weights.shape[1] / 2
        return rng.standard_gamma(shapes) / (self.scale_rate + squares / 2)


@pytest.mark.slow
def test_the_joint_test_sees_a_wrong_rank_of_the_penalty():
    problem = _problem(_curves(_WrongRank), _normal(FEATURES, 0.01, "cd"))
    assert smallest_p_value(joint_test(problem, n_sweeps=2_000, seed=1)) < 1e-6


class _ScaleOfAnotherPrior(Normal):
    """A scale that moves with its weights as if its prior had another shape."""

    def rescale(self, log_weights, precisions, augmentation, rng):
        other = {field.name: getattr(self, field.name) for field in fields(self)} | {"scale_shape": 1e-9}
        Normal(**other).rescale(log_weights, precisions, augmentation, rng)


class _HalfOfTheTables(Normal):
    """A scale that moves with its weights as if half of the tables were missing."""

    def rescale(self, log_weights, precisions, augmentation, rng):
        fewer = augmentation._replace(label_tables=augmentation.label_tables / 2)
        super().rescale(log_weights, precisions, fewer, rng)


@pytest.mark.slow
@pytest.mark.parametrize("slip", [_ScaleOfAnotherPrior, _HalfOfTheTables])
def test_the_joint_test_sees_a_slip_of_the_joint_move_of_a_scale_and_its_weights(slip):
    problem = _problem(_normal(LABELS, 0.1, "cc", slip), _normal(FEATURES, 0.01, "cd"))
    assert smallest_p_value(joint_test(problem, n_sweeps=15_000, seed=1)) < 1e-6


class _PooledDefault(_Centered):
    """A variance that is learned from the default label too."""

    def draw_precisions(self, log_weights, rng):
        shape, squares = self.scale_shape + log_weights.size / 2, (log_weights**2).sum()
        precision = rng.standard_gamma(shape) / (self.scale_rate + squares / 2)
        return np.append(np.full(len(log_weights) - 1, precision), 0.0)


class _OneTopic(_Centered):
    """A variance whose shape counts labels and forgets topics."""

    def draw_precisions(self, log_weights, rng):
        shape = self.scale_shape + (len(log_weights) - 1) / 2
        precision = rng.standard_gamma(shape) / (self.scale_rate + (log_weights[:-1] ** 2).sum() / 2)
        return np.append(np.full(len(log_weights) - 1, precision), 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("slip", [_PooledDefault, _OneTopic])
def test_the_joint_test_sees_a_slip_of_the_variance(slip):
    """The default label is spread widely. With a shape of 1 the first slip takes 16,000 sweeps to show."""
    problem = _problem(_normal(LABELS, 0.1, "cc", slip, shape=0.3), _normal(FEATURES, 0.01, "cc"))
    assert smallest_p_value(joint_test(problem, n_sweeps=5_000, seed=1)) < 1e-6
