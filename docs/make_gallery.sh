#!/usr/bin/env bash
# Makes docs/gallery.md and its pictures from the samples: make_gallery.sh ADPIPE (`./dev gallery` calls it). Pictures of the page need
# Chromium; without it the old ones stay.
set -euo pipefail
adpipe=$1
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
sample=samples/deepseek_v3
layer=(layer 5 $sample/dumps --trace $sample/decode.sqlite)
stem=$out/092_compile_compile_model_layer5

"$adpipe" "${layer[@]}" --also html,csv,markdown,mermaid,perfetto,model_explorer -o "$out" >"$out/terminal" 2>/dev/null
"$adpipe" tables $sample/decode.sqlite --dump $sample/dumps --phase decode -o "$out" >/dev/null 2>&1
"$adpipe" inventory $sample/decode.sqlite --phase decode >"$out/inventory" 2>/dev/null
"$adpipe" run configs/profile_model.yaml --output "$out/profile" >/dev/null 2>&1
"$adpipe" walkthrough samples/served_model/simulated_served_model.trace.json.gz --layer 5 >"$out/walkthrough" 2>/dev/null
"$adpipe" sources samples/served_model/simulated_served_model.trace.json.gz --phase decode >"$out/sources" 2>/dev/null
"$adpipe" map samples/served_model/simulated_served_model.trace.json.gz --layer 5 >"$out/map" 2>/dev/null
cp "$stem.png" docs/images/deepseek_layer5.png
"$adpipe" run configs/deepseek_decode.yaml --layer all --output "$out/model" --set render.dot.formats=png --quiet >/dev/null
cp "$out/model/092_compile_compile_model_layers.png" docs/images/deepseek_model.png
if chromium=$(command -v chromium || command -v google-chrome); then
    for theme in light dark; do
        # What the page asks the system for, Chromium takes from a feature flag.
        dark=()
        [ $theme = light ] || dark=(--blink-settings=preferredColorScheme=0)
        "$chromium" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$out/profile_$theme" --window-size=1600,1000 \
            --virtual-time-budget=5000 "${dark[@]}" --screenshot="$PWD/docs/images/deepseek_page_$theme.png" "file://$stem.html" >/dev/null 2>&1
    done
fi

shown() { # LANGUAGE LINES COLUMNS FILE: the beginning of a file, with "…" where something was left out
    local line count=0 LC_ALL=C.UTF-8
    printf '```%s\n' "$1"
    while IFS= read -r line && [ $((count += 1)) -le "$2" ]; do
        [ ${#line} -le "$3" ] || line=${line:0:$3}…
        printf '%s\n' "$line"
    done <"$4"
    [ $count -le "$2" ] || echo "…"
    printf '```\n\n'
}
section() { # TITLE STAGE
    printf '## %s\n\n`%s`\n\n' "$1" "$2"
}

{
    cat <<END
# Gallery

Every output, from the sample: layer 5 of DeepSeek-V3 in decode ([generated and simulated](../samples/deepseek_v3/README.md), not recorded). One command
makes them all:

\`\`\`console
\$ adpipe ${layer[*]} -o out \\
    --also html,csv,markdown,mermaid,perfetto,model_explorer
\`\`\`

In a config each is a stage, and one word swaps one for another. [Formats](formats.md) tells every field. \`./dev gallery\` makes this page.

END
    section "The picture" "render.dot, without asking"
    printf '![Layer 5, each kernel on its node](images/deepseek_layer5.png)\n\nAlso as DOT, and as SVG, which is dark where the viewer asks for dark pages.\n\n'
    printf 'With `layer: all` there is a picture of the model as well: a box for each kind of layer.\n\n![The model](images/deepseek_model.png)\n\n'
    section "The page" "render.html, --also html"
    cat <<'END'
One file that opens from disk and loads nothing. Pan, zoom, search, fold; hover and click link graph, timeline and table; every dot is a step.

![The page](images/deepseek_page_light.png)

![The same in the dark](images/deepseek_page_dark.png)

END
    section "The terminal" "render.table, without asking"
    shown text 60 140 "$out/terminal"
    section "A report for a pull request" "render.markdown, --also markdown"
    shown markdown 22 150 "$stem.md"
    section "A flowchart in Markdown" "render.mermaid, --also mermaid"
    printf '```mermaid\n%s\n```\n\n' "$(cat "$stem.mmd")"
    section "A table for other programs" "render.csv, --also csv"
    shown text 4 150 "$stem.csv"
    section "The layer for scripts" "render.json, without asking"
    shown json 40 150 "$stem.json"
    section "A trace for ui.perfetto.dev" "render.perfetto, --also perfetto"
    cat <<'END'
Open the file in ui.perfetto.dev or chrome://tracing: a process for each stream; rows for layer, group, node and kernel; arrows from the layer to its kernels.

END
    shown json 8 150 "${stem}_perfetto.json"
    section "A graph for Model Explorer" "render.model_explorer, --also model_explorer"
    cat <<'END'
`model-explorer …_model_explorer.json`, then "Add per-node data": `…_time.json`, `…_share.json`, `…_evidence.json`, `…_confidence.json`, `…_category.json`.

END
    shown json 12 150 "${stem}_model_explorer.json"
    section "Tables of all layers" "render.layer_table, adpipe tables"
    shown text 8 150 "$out/conc8_layer.csv"
    section "All kernels" "render.kernel_inventory, adpipe inventory"
    shown text 24 140 "$out/inventory"
    section "Steps" "render.steps, adpipe steps"
    shown text 6 150 "$out/profile/steps.csv"
    section "What kernel names say" "render.kernel_names, behind analyze.decode_names"
    shown text 6 150 "$out/profile/kernel_names.csv"
    section "Prefill beside decode" "render.kernel_map, adpipe map"
    printf 'On the terminal, as Markdown and as a page; here of [another sample](../samples/served_model/README.md), simulated as well.\n\n'
    shown text 24 140 "$out/map"
    section "A layer in words" "render.walkthrough, adpipe walkthrough"
    shown text 60 140 "$out/walkthrough"
    section "From source lines to kernels" "render.source_trace, adpipe sources"
    shown text 40 140 "$out/sources"
} >"$out/gallery.md"
mv "$out/gallery.md" docs/gallery.md
echo "made docs/gallery.md"
