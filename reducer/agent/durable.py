"""Whether this runs in a workflow that is run again from its start after a crash: there, what is not the result must have no effect."""

from __future__ import annotations

import sys


def workflow() -> str:
    """Name the engine in whose workflow this runs, `Temporal` or `DBOS`; empty outside of one.

    Neither package is imported: where none is loaded, no workflow runs.
    """
    temporal = sys.modules.get("temporalio.workflow")
    if temporal is not None and temporal.in_workflow():
        return "Temporal"
    dbos = sys.modules.get("dbos")
    if dbos is not None and dbos.DBOS.workflow_id is not None:
        return "DBOS"
    return ""
