"""Parse and membership of every layer of the full-size dumps, as whole processes."""
import sys

from bench import HERE, Bench, Bound

STEMS = ("001_export_export_to_gm", "057_post_load_fusion_fuse_finegrained_fp8_moe", "092_compile_compile_model")


def benches(setting):
    for stem in STEMS:
        dump = setting.samples / "dumps" / f"{stem}.txt"
        yield Bench(f"members of {stem}.txt",
                    {"adpipe members": [setting.adpipe, "members", dump, "--format", "tsv"],
                     "wc -l": ["wc", "-l", dump],
                     "Python": [sys.executable, HERE / "members_baseline.py", dump]},
                    {"adpipe members": [Bound(10, "ratio", "wc -l"), Bound(0.1, "ratio", "Python"),
                                        Bound(8 * dump.stat().st_size, "memory")]})
