"""Train on a local Dask cluster with two processes, and compare the model with that of one thread.

On several machines, start `dask scheduler` on one and `dask worker tcp://…:8786 --nthreads 1 --nworkers 8` on the
others, and pass the address of the scheduler to `Client`. Requires metalda[dask].
"""

import argparse

import numpy as np
from distributed import Client, LocalCluster

from metalda import MetaLDA, datasets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--limit", type=int, help="maximum number of docstrings")
    given = parser.parse_args()
    corpus = datasets.load_python_docs(limit=given.limit)
    model = MetaLDA(given.topics, n_iter=given.iterations, n_shards=4, random_state=0)
    single = model.fit(corpus).components_
    where = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}  # this machine only
    with LocalCluster(**where) as cluster, Client(cluster) as client:
        print(f"Dashboard: {client.dashboard_link}")
        distributed = model.fit(corpus, client=client).components_
        proportions = model.transform(corpus, client=client)
    print("Identical topics:", np.array_equal(single, distributed))
    print("Identical proportions:", np.array_equal(model.transform(corpus), proportions))


if __name__ == "__main__":  # the worker processes import this file
    main()
