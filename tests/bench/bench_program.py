"""The program as a whole: how fast it starts, and the main job."""
from bench import PROJECT, Bench, Bound


def benches(setting):
    adpipe, sample = setting.adpipe, setting.samples
    yield Bench("list", {"adpipe list": [adpipe, "list"], "true": ["true"]}, {"adpipe list": [Bound(0.020, "seconds")]})

    # The README's pipeline without the picture: what adpipe itself does, not Graphviz.
    without_dot = setting.scratch / "without_dot.yaml"
    config = (PROJECT / "configs" / "deepseek_decode.yaml").read_text()
    config = config[:config.index("  - stage: render.dot")].replace("../samples", str(PROJECT / "samples"))
    config = config.replace("rules/", f"{PROJECT / 'configs' / 'rules'}/").replace("../out", str(setting.scratch / "out"))
    without_dot.write_text(config)
    yield Bench("main job", {"adpipe run, no picture": [adpipe, "run", without_dot],
                             "wc -l dump and trace": ["wc", "-l", sample / "dumps/092_compile_compile_model.txt", sample / "decode.sqlite"]},
                {"adpipe run, no picture": [Bound(0.150, "seconds")]})
