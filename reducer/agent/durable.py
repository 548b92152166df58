"""Detect workflows that are replayed after a crash: code in them does no I/O and reads no clock."""

from __future__ import annotations

import sys


def workflow() -> str:
    """Return the engine in whose workflow this code runs, `Temporal` or `DBOS`; empty outside of a workflow.

    Imports neither package: if none is loaded, no workflow runs.
    """
    temporal = sys.modules.get("temporalio.workflow")
    if temporal is not None and temporal.in_workflow():
        return "Temporal"
    dbos = sys.modules.get("dbos")
    if dbos is not None and dbos.DBOS.workflow_id is not None:
        return "DBOS"
    return ""
