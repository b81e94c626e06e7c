"""The clients of Dask that commands use: of a scheduler at an address, or of processes on this machine."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from metalda.cli.options import check_jobs
from metalda.errors import ClusterError, missing_extra

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

logger = logging.getLogger("metalda")

SECONDS = 10  # within which a scheduler has to answer


@contextmanager
def connected(address: str | None, n_jobs: int) -> Iterator[Client | None]:
    """Yield a client of the scheduler at this address, or of processes started here; None without an address."""
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        raise missing_extra("distributed", "dask", "--cluster") from None
    if address == "local":
        from metalda.utils.threads import count_jobs

        with ExitStack() as stack:
            workers = _local_workers(count_jobs(check_jobs(n_jobs)))
            stack.callback(_close, workers)
            client = Client(workers)
            stack.callback(_close, client)
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
    except (TypeError, RuntimeError) as error:  # tls:// without certificates, or certificates without tls://
        raise ClusterError(
            f"{address}: {' '.join(str(error).split())}; an address tls://… needs certificates in Dask's settings, "
            "such as DASK_DISTRIBUTED__COMM__TLS__CA_FILE, and certificates need an address tls://…"
        ) from error
    with client:
        yield client


def _close(part_of_cluster: Client | LocalCluster) -> None:
    """Close a local client or cluster. Processes that do not answer in time, on a busy machine, end with this one."""
    with suppress(Exception):
        part_of_cluster.close()


def _local_workers(n_workers: int) -> LocalCluster:
    """Start processes that only this machine can reach, and that neither Ctrl-C nor a closed terminal ends.

    A terminal sends these signals to all processes of a command, but only this one must react. Processes inherit the
    blocked signals of the thread that starts them, which is a thread of Dask here. It inherits them from this one.
    """
    import signal
    from multiprocessing import resource_tracker

    from distributed import LocalCluster

    settings: dict[str, object] = {"n_workers": n_workers, "threads_per_worker": 1, "processes": True}
    settings |= {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    settings["silence_logs"] = logging.CRITICAL  # Dask logs tracebacks when it closes; metalda reports lost workers
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        return LocalCluster(**settings, preload="import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n")
    resource_tracker.ensure_running()  # the thread that starts it unblocks the signal
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGHUP])
    try:
        return LocalCluster(**settings)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
