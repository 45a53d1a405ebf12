#!/usr/bin/env python3
"""Reads traces of AMD's rocprofiler with Python's sqlite3 and csv, and compares every row with what trace.rocpd and trace.rocprof_csv make of them.

    rocm_reference.py --trace-dump FILE TRACE...

A TRACE that begins with "shared:" is relative to the folder of public traces beside the checkout, or $ADPIPE_SHARED.
"""
import argparse
import csv
import sqlite3
import sys
from pathlib import Path

from kineto_reference import SKIP, compare_rows, read, shared_file

KERNEL, MEMCPY = 0, 1


def blocks(items, group):
    return -(-items // group)


def rocpd_rows(path):
    database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    database.row_factory = sqlite3.Row
    kernels = []
    for row in database.execute("SELECT * FROM kernels ORDER BY id"):
        kernels.append({"table": "kernel", "kind": KERNEL, "row": row["id"], "start": row["start"], "end": row["end"], "name": row["name"],
                        "device": row["agent_type_index"], "stream": row["stream_id"], "correlation": row["stack_id"],
                        "grid": [blocks(row["grid_" + a], row["workgroup_" + a]) for a in "xyz"],
                        "block": [row["workgroup_" + a] for a in "xyz"], "registers": row["vgpr_count"], "shared_memory": row["lds_size"]})
    for row in database.execute("""SELECT m.*, s.string AS name, e.stack_id, t.type AS to_type, t.type_index AS to_index, f.type_index AS from_index
            FROM rocpd_memory_copy m JOIN rocpd_string s ON s.id = m.name_id JOIN rocpd_event e ON e.id = m.event_id
            JOIN rocpd_info_agent t ON t.id = m.dst_agent_id JOIN rocpd_info_agent f ON f.id = m.src_agent_id ORDER BY m.id"""):
        kernels.append({"table": "kernel", "kind": MEMCPY, "row": row["id"], "start": row["start"], "end": row["end"], "name": row["name"],
                        "device": row["to_index"] if row["to_type"] == "GPU" else row["from_index"], "stream": row["stream_id"],
                        "correlation": row["stack_id"], "bytes": row["size"]})
    launches = [{"table": "launch", "start": row["start"], "end": row["end"], "name": row["name"], "tid": row["tid"],
                 "correlation": row["stack_id"] or None}
                for row in database.execute("SELECT * FROM regions WHERE category LIKE 'HIP%' ORDER BY id")]
    return {"kernel": kernels, "launch": launches, "annotation": []}


def csv_rows(path):
    kernels = []
    with open(path, newline="") as file:
        for number, row in enumerate(csv.DictReader(file), 1):
            kernels.append({"table": "kernel", "kind": KERNEL, "row": number, "start": int(row["Start_Timestamp"]),
                            "end": int(row["End_Timestamp"]), "name": row["Kernel_Name"], "device": int(row["Agent_Id"].split()[-1]),
                            "stream": int(row["Stream_Id"]), "correlation": int(row["Correlation_Id"]),
                            "grid": [blocks(int(row["Grid_Size_" + a]), int(row["Workgroup_Size_" + a])) for a in "XYZ"],
                            "block": [int(row["Workgroup_Size_" + a]) for a in "XYZ"], "registers": int(row["VGPR_Count"]),
                            "shared_memory": int(row["LDS_Block_Size"])})
    return {"kernel": kernels, "launch": [], "annotation": []}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trace-dump", required=True)
    parser.add_argument("traces", nargs="+")
    arguments = parser.parse_args()
    wrong = compared = 0
    for name in arguments.traces:
        path = shared_file(name[7:]) if name.startswith("shared:") else Path(name)
        if not path.exists():
            print(f"skipped: {path} is not there")
            continue
        compared += 1
        form, rows = ("rocprof_csv", csv_rows(path)) if path.suffix == ".csv" else ("rocpd", rocpd_rows(path))
        # Rows of these formats say nothing of the columns that the expected rows do not name.
        found = {table: [{key: row[key] for key in want} for want, row in zip(rows[table], lines)] + lines[len(rows[table]):]
                 for table, lines in read(arguments.trace_dump, form, path).items()}
        wrong += compare_rows(path, rows, found)
    return 1 if wrong else 0 if compared else SKIP


if __name__ == "__main__":
    sys.exit(main())
