"""BLAS has one thread until the last block ends."""

from threadpoolctl import ThreadpoolController

from metalda.utils.blas import one_blas_thread


def n_threads() -> list[int]:
    return [library["num_threads"] for library in ThreadpoolController().info() if library["user_api"] == "blas"]


def test_the_last_block_that_ends_restores_the_number_of_threads():
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        before = n_threads()
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        assert set(n_threads()) == {1}
        first.__exit__(None, None, None)
        assert set(n_threads()) == {1}
        second.__exit__(None, None, None)
        assert n_threads() == before
