"""``--cluster``: the workers of a Dask cluster, or processes on this machine."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from metalda.errors import ClusterError, missing_extra

SECONDS = 10  # within which a scheduler has to answer

logger = logging.getLogger("metalda")


@contextmanager
def connected(address: str | None, jobs: int) -> Iterator[Any]:
    """A client of the scheduler at this address, or of processes started for the purpose; None without an address."""
    if address is None:
        yield None
        return
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise missing_extra("distributed", "dask", "--cluster") from None
    if address == "local":
        with (
            LocalCluster(n_workers=jobs, threads_per_worker=1, processes=True, dashboard_address=":0") as workers,
            Client(workers) as client,
        ):
            logger.info("Dashboard: %s", client.dashboard_link)
            yield client
        return
    try:
        client = Client(address, timeout=SECONDS)
    except (OSError, ValueError, TimeoutError) as error:
        raise ClusterError(
            f"{address}: no Dask scheduler answers there within {SECONDS} s; give the address that `dask scheduler` "
            "prints, such as tcp://10.0.0.1:8786, or local"
        ) from error
    with client:
        yield client
