"""Where the reduced histories go: `--output` is a file, a folder, or `-` for standard output."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from reducer.cli.histories import Source
from reducer.cli.output import refuse
from reducer.cli.stop import Stop


def targets(output: str, sources: Sequence[Source], rules: Sequence[Path]) -> tuple[Path | None, ...]:
    """Give the file that each source is written to, None for standard output. Nothing is made yet.

    Raises `Stop` for what cannot be written, for what is read, and for two histories that would be one file.
    """
    into_folder = output.endswith(("/", os.sep)) or (output != "-" and _is_folder(output))
    count = len(sources)
    if not into_folder and (count > 1 or (output != "-" and any(source.folder for source in sources))):
        many = "what is found in a folder" if count == 1 else f"{count:,} histories"
        where = "cannot all go to standard output" if output == "-" else f"cannot be one file: -o {output}/ makes a folder of them"
        raise Stop(f"--output {output}: {many} {where}")
    if output == "-":
        return (None,) * count
    if not into_folder:
        if output.lower().endswith((".html", ".htm")):
            raise Stop(f"--output {output}: writes the reduced history, not the report; for that: --format html > {output}")
        refuse(output, [*(source.path for source in sources), *rules])
        return (Path(output),)
    return _in_folder(output, sources, rules)


def _in_folder(output: str, sources: Sequence[Source], rules: Sequence[Path]) -> tuple[Path, ...]:
    folder = Path(output)
    above = folder.resolve().parent
    if not folder.is_dir() and (folder.exists() or not above.is_dir()):
        raise Stop(f"{output}: is a file" if folder.exists() else f"{output}: there is no folder {above}")
    for name in {source.folder for source in sources if source.folder}:
        if folder.resolve().is_relative_to(Path(name).resolve()):
            raise Stop(f"{output}: lies in {name}, which is read: what is written there would be read the next time")
    read = set()
    for path in [*(source.path for source in sources if source.path), *rules]:
        with suppress(OSError):
            status = path.stat()
            read.add((status.st_dev, status.st_ino))
    found: dict[Path, Source] = {}
    for source in sources:
        if source.path is None:
            raise Stop(f"{output}: standard input has no name there: -o names a file for it")
        place = source.path.relative_to(source.folder) if source.folder else Path(source.path.name)
        target = folder / place
        if target in found:
            raise Stop(f"{output}: {found[target].name} and {source.name} would both be {place} there")
        with suppress(OSError):
            status = target.stat()
            if (status.st_dev, status.st_ino) in read:
                raise Stop(f"{target}: is read here; nothing that is read is ever written")
        found[target] = source
    return tuple(found)


def _is_folder(name: str) -> bool:
    try:
        return Path(name).is_dir()
    except (OSError, ValueError):
        return False
