"""Several processes that work on pieces of histories; what they give comes in order."""

from __future__ import annotations

import gc
import traceback
from collections import deque
from collections.abc import Callable, Container, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue

from reducer.cli.stop import Stop
from reducer.cli.units import Done, Unit, Work, do
from reducer.cli.workers import Worker, start

_HELD = 8 << 20
"""Bytes for each process that are read ahead: four pieces of JSON lines."""
_MOST_HELD = 96 << 20
_AHEAD = 16
"""Units for each process that are read ahead: many small files are small in bytes, not in number."""


def in_order(
    units: Iterator[Unit], work: Work, files: Sequence[Path], jobs: int, forms: Container[str], workers: Sequence[Worker] = ()
) -> Iterator[tuple[Unit, Done | None]]:
    """Work on the units of such `forms` in `jobs` processes, each of which loads the rules in `files`; the others have None.

    The processes are `workers`, or are started. Raises `Stop` when one ends before its time.
    """
    waiting: deque[tuple[Unit, int, Future[Done] | None]] = deque()
    held = 0
    most = min(_MOST_HELD, jobs * _HELD + _HELD)

    def first() -> tuple[Unit, Done | None]:
        nonlocal held
        unit, size, future = waiting.popleft()
        held -= size
        return unit, future.result() if future is not None else None

    with _crew(work, files, workers or start(jobs)) as submit:
        for unit in units:
            size = len(unit.content)
            held += size
            # What is worked on elsewhere need not be kept here.
            waiting.append((unit._replace(content=b""), size, submit(unit)) if unit.form in forms else (unit, size, None))
            while waiting and (held > most or len(waiting) > jobs * _AHEAD or waiting[0][2] is None or waiting[0][2].done()):
                yield first()
        while waiting:
            yield first()


@contextmanager
def _crew(work: Work, files: Sequence[Path], workers: Sequence[Worker]) -> Iterator[Callable[[Unit], Future[Done]]]:
    """Give what submits a unit to the next process that is idle. None of them is left behind."""
    idle: SimpleQueue[Worker] = SimpleQueue()
    for worker in workers:
        with suppress(OSError):  # one that has ended says so when it is asked
            worker.connection.send((work, tuple(map(str, files))))
        idle.put(worker)

    def exchange(unit: Unit) -> Done:
        worker = idle.get()
        try:
            answer = _asked(worker.connection, unit)
        finally:
            idle.put(worker)  # one that has ended fails at once: nobody waits for it
        if answer is None:
            worker.process.join(5)
            raise Stop(_ended(worker.process.exitcode))
        if isinstance(answer, str):
            raise Stop(f"a worker process cannot go on: {answer}")
        return answer

    threads = ThreadPoolExecutor(len(workers))  # one for each process, to wait for it
    try:
        yield lambda unit: threads.submit(exchange, unit)
    except BaseException:
        for worker in workers:
            worker.process.kill()
        raise
    finally:
        threads.shutdown(wait=True, cancel_futures=True)
        for worker in workers:
            worker.connection.close()
        for worker in workers:
            worker.process.join()


def _asked(connection: Connection, unit: Unit) -> Done | str | None:
    # What is raised here ends here: its frames hold the buffer of what was sent, and Python 3.13 complains at exit where a cycle does.
    try:
        connection.send(unit)
        answer: Done | str = connection.recv()
    except (EOFError, OSError):
        return None
    return answer


def _ended(code: int | None) -> str:
    how = f"was killed by signal {-code}" if code is not None and code < 0 else f"ended with code {code}"
    return f"a worker process {how} in the middle of its work; with fewer --jobs less memory is used"


def serve(connection: Connection) -> None:
    """Take what is to be done and the rule files, then work on what comes until there is no more. Runs in a process of its own."""
    from reducer.engine import prepare
    from reducer.rule import read_rules

    ruleset = None
    with suppress(EOFError, OSError):  # who asked is gone
        work, files = connection.recv()
        while True:
            unit = connection.recv()
            answer: Done | str
            try:
                if ruleset is None:
                    ruleset = read_rules(*files)
                    prepare(ruleset)
                    gc.freeze()  # what is here stays: collecting after each piece need not look at it
                answer = do(unit, work, ruleset)
            except Exception as error:
                answer = f"{error}" if isinstance(error, (ValueError, Stop)) else traceback.format_exc()
            connection.send(answer)
