"""The paper's figures are those that it prints."""

from metalda.experiments.paper import MODELS, VARIANTS, figures, topics_of
from metalda.experiments.training import TrainingRun


def test_tables_have_all_their_cells() -> None:
    # Ten models with ten numbers of topics in each of two tables, PLLDA likewise, and LLDA on six corpora.
    assert len(figures("perplexity")) == 10 * 20 + 20 + 6
    assert len(figures("coherence")) == len(figures("coherence of the best")) == 7 * 3
    assert len(figures("speed")) == 7 * 10 + 2 * 8  # PTM and GPU-DMM were not run on the New York Times


def test_figures_are_found_where_the_paper_has_them() -> None:
    assert figures("perplexity")["ws", "MetaLDA", 50] == (774, 9)
    assert figures("perplexity")["20ng", "LF-LDA", 200] == (2326, 8)
    assert figures("perplexity")["nyt", "DMR", 500] == (2013, 6)
    assert figures("perplexity")["ws", "PLLDA", 20] == (735, None)
    assert figures("perplexity")["tmn", "LLDA", None] == (2958, None)
    assert figures("coherence")["tmn", "GPU-DMM", 100] == (-0.0970, 0.0034)
    assert figures("coherence of the best")["ws", "MetaLDA", 100] == (0.1511, 0.0093)
    assert figures("speed")["ws", "MetaLDA-dl-0.01", 200] == (0.1121, None)
    assert figures("speed")["reuters", "PTM", 50] == (4.9232, None)


def test_every_cell_is_of_a_model_that_we_have() -> None:
    for table in ("perplexity", "coherence", "coherence of the best", "speed"):
        assert {model for _, model, _ in figures(table)} <= set(MODELS)
    assert len(VARIANTS) == 6


def test_every_model_can_be_made_with_the_settings_of_the_paper() -> None:
    made = {}
    for name in MODELS:
        topics = topics_of(name, "ws")[0]
        model = TrainingRun("ws", name, topics, seed=3, iterations=2000).make_model(
            {"word_features": None, "embeddings": None}
        )
        made[name] = model.get_params()
        assert (made[name]["n_iter"], made[name]["random_state"]) == (2000, 3)
    assert (made["MetaLDA-0.1-wf"]["doc_prior"], made["MetaLDA-0.1-wf"]["word_prior"]) == (0.1, "features")
    assert made["LF-LDA"]["initial_iterations"] == 1500
    assert made["LF-LDA"]["weight"] == 0.6
    assert made["PLLDA"]["topics_per_label"] == 5
    assert made["PTM"]["n_pseudo_documents"] == 1000
    assert (made["GPU-DMM"]["similarity"], made["GPU-DMM"]["promotion"]) == (0.7, 0.1)
    assert (made["DMR"]["variance"], made["DMR"]["default_variance"]) == (1, 100)
