"""The same model from two processes as from one thread: training on a Dask cluster, here on this machine.

On real machines start `dask scheduler` on one and `dask worker tcp://…:8786 --nthreads 1 --nworkers 8` on the others,
and give `Client` the address of the scheduler. Needs metalda[dask].
"""

import argparse

import numpy as np
from distributed import Client, LocalCluster

from metalda import MetaLDA, datasets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--sweeps", type=int, default=100)
    parser.add_argument("--limit", type=int, help="take so many documents only")
    given = parser.parse_args()
    corpus = datasets.load_python_docs(limit=given.limit)
    model = MetaLDA(given.topics, n_iter=given.sweeps, n_shards=4, random_state=0)
    alone = model.fit(corpus).components_
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        print(f"See the tasks at {client.dashboard_link}")
        together = model.fit(corpus, client=client).components_
        proportions = model.transform(corpus, client=client)
    print("The same topics:", np.array_equal(alone, together))
    print("The same proportions:", np.array_equal(model.transform(corpus), proportions))


if __name__ == "__main__":  # the processes of a cluster import this file
    main()
