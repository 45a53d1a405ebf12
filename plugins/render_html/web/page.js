"use strict";
// The page of render.html. Data: the element #page-data, written by page_data.cpp. Text of the model is only ever put in as text nodes.
(function () {
  const data = JSON.parse(document.getElementById("page-data").textContent);
  const byId = (id) => document.getElementById(id);
  const state = {layer: data.start, step: -1, node: null, kernel: null, fold: true, opened: new Set(), sort: {key: "order", down: false}};
  const layer = () => data.layers[state.layer];

  // ---- numbers -----------------------------------------------------------------------------------------------------------------------
  function threeDigits(x) {
    if (x === 0) return "0";
    const rounded = Number(x.toPrecision(3));
    const decimals = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(rounded)) + 1e-9));
    const [whole, fraction] = rounded.toFixed(decimals).split(".");
    return whole.replace(/\B(?=(\d{3})+$)/g, "\u202f") + (fraction ? "." + fraction : "");
  }
  function duration(ns) {
    if (ns === null || ns === undefined) return "–";
    const a = Number(Math.abs(ns).toPrecision(3));
    if (a < 1e3) return Math.round(ns) + " ns";
    if (a < 1e6) return threeDigits(ns / 1e3) + " µs";
    if (a < 1e9) return threeDigits(ns / 1e6) + " ms";
    return threeDigits(ns / 1e9) + " s";
  }
  const micro = (ns) => (ns === null || ns === undefined ? "–" : threeDigits(ns / 1e3));
  function percent(part, whole) {
    if (!(whole > 0)) return "–";
    const p = 100 * part / whole;
    if (part === 0) return "0 %";
    return p < 0.1 ? "<0.1 %" : part === whole ? "100 %" : p.toFixed(1) + " %";
  }
  function median(values) {
    const v = values.filter((x) => x !== null).sort((a, b) => a - b);
    if (v.length === 0) return null;
    const m = v.length >> 1;
    return v.length % 2 ? v[m] : v[m - 1] + Math.floor((v[m] - v[m - 1]) / 2);
  }
  const least = (values) => Math.min(...values.filter((x) => x !== null));
  const most = (values) => Math.max(...values.filter((x) => x !== null));
  /// Duration of a kernel in the chosen step, or its median over all.
  const timeOf = (kernel) => (state.step < 0 ? median(kernel.du) : kernel.du[state.step]);
  const sumOf = (indices) => indices.reduce((sum, i) => sum + (timeOf(layer().kernels[i]) || 0), 0);
  const total = () => sumOf(layer().kernels.map((_, i) => i));
  function heat(part, whole) {
    let shade = data.heat[0];
    if (whole > 0) for (const step of data.heat) if (part / whole >= step.from) shade = step;
    return shade;
  }

  // ---- the shown graph ---------------------------------------------------------------------------------------------------------------
  // Vertices are numbered: nodes from 0, inputs -1, -2, … (groups of inputs), the output "out".
  function shownGraph() {
    const L = layer();
    const folded = (v) => v >= 0 && L.nodes[v].f && state.fold && !state.opened.has(v);
    const into = new Map();
    for (const [from, to, kind, argument] of L.edges) {
      if (!into.has(to)) into.set(to, []);
      into.get(to).push({from, kind, argument});
    }
    const memo = new Map();
    function origins(v) {
      if (!folded(v)) return [{from: v, kind: 0, through: []}];
      if (memo.has(v)) return memo.get(v);
      memo.set(v, []);
      const found = [];
      for (const e of into.get(v) || []) if (e.kind === 1 || e.argument === 0) merge(found, e, v);
      memo.set(v, found);
      return found;
    }
    function merge(found, e, v) {
      if (e.from === v) return;
      for (const o of origins(e.from)) {
        const kind = e.kind === 1 ? 1 : o.kind;
        const through = folded(v) ? o.through.concat([v]) : o.through;
        const same = found.find((x) => x.from === o.from);
        if (!same) found.push({from: o.from, kind, through});
        else if (same.kind === 1 && kind === 0) { same.kind = 0; same.through = through; }
      }
    }
    const nodes = [];
    const edges = [];
    L.nodes.forEach((_, v) => {
      origins(v);  // in order, so that long chains do not recurse
      if (folded(v)) return;
      nodes.push(v);
      const found = [];
      for (const e of into.get(v) || []) if (e.kind !== 2) merge(found, e, v);
      for (const o of found) edges.push({from: o.from, to: v, kind: o.kind, through: o.through});
    });
    const inputs = new Set(edges.filter((e) => e.from < 0).map((e) => e.from));
    const outs = [];
    for (const v of L.outs) for (const o of origins(v)) if (!outs.some((e) => e.from === o.from)) outs.push({from: o.from, to: "out", kind: 0, through: o.through});
    const spine = L.spine.filter((v) => !folded(v));
    const next = new Map();
    spine.forEach((v, i) => next.set(v, i + 1 < spine.length ? spine[i + 1] : "out"));
    for (const e of edges.concat(outs)) e.residual = next.get(e.from) === e.to || (e.from < 0 && L.inputs[-1 - e.from].kind === "residual" && e.to === spine[0]);
    // Unfolded ops stand between two nodes of the spine: the way is still the residual stream's.
    return {nodes, inputs: [...inputs].sort((a, b) => b - a), edges: edges.concat(outs), hasOut: outs.length > 0};
  }

  // ---- text sizes --------------------------------------------------------------------------------------------------------------------
  const pen = document.createElement("canvas").getContext("2d");
  function width(text, size, bold) {
    pen.font = (bold ? "bold " : "") + size + "px Helvetica, Arial, sans-serif";
    return pen.measureText(text).width;
  }
  function fit(text, limit) {
    const characters = [...text];
    return characters.length <= limit ? text : characters.slice(0, limit - 1).join("") + "…";
  }

  // ---- drawing the graph -------------------------------------------------------------------------------------------------------------
  const svg = d3.select("#graph").append("svg").attr("role", "group").attr("aria-label", "Graph of the layer: nodes are buttons");
  const defs = svg.append("defs");
  for (const [id, colour] of [["tip", "var(--edge)"], ["tip-input", "var(--input-edge)"], ["tip-residual", "var(--residual)"]]) {
    defs.append("marker").attr({id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, markerUnits: "userSpaceOnUse", orient: "auto"})
      .append("path").attr("d", "M0,0 L8,4 L0,8 z").style("fill", colour);
  }
  const stage = svg.append("g");
  const zoom = d3.behavior.zoom().scaleExtent([0.05, 6]).on("zoom", () => stage.attr("transform", `translate(${d3.event.translate})scale(${d3.event.scale})`));
  svg.call(zoom).on("dblclick.zoom", null).on("click", () => { if (!d3.event.defaultPrevented) choose(null); });
  let extent = {width: 1, height: 1};
  let drawn = null;

  function boxOf(v) {
    const L = layer();
    if (v === "out") return lines([["to " + L.next, 12, true], [fit(L.outNames[0] || "", 36), 10]], 10);
    if (v < 0) {
      const group = L.inputs[-1 - v];
      return lines([[fit(group.label, 40), 12, true], [group.names.length === 1 ? fit(group.names[0], 36) : group.names.length + " values", 10]], 10);
    }
    const node = L.nodes[v];
    const facts = [node.d, node.y].filter(Boolean).map((t) => fit(t, 34));
    for (const i of node.sh) facts.push("↳ in the kernel of " + fit(L.nodes[L.kernels[i].nd].t, 20));
    const shown = node.k.slice(0, 8);
    const rows = shown.map((i) => ({i, name: fit(L.kernels[i].n, 38), time: duration(timeOf(L.kernels[i]))}));
    if (node.k.length > shown.length) rows.push({i: -1, name: "… " + (node.k.length - shown.length) + " more", time: duration(sumOf(node.k.slice(8)))});
    const time = node.k.length ? duration(sumOf(node.k)) + "  " + percent(sumOf(node.k), total()) : "";
    const head = width(fit(node.t, 40), 12, true) + (time ? width(time, 12, true) + 18 : 0);
    const left = Math.max(0, ...facts.map((t) => width(t, 10)));
    const right = Math.max(0, ...rows.map((r) => width(r.name, 10.5) + width(r.time, 10.5) + 22));
    const body = Math.max(facts.length * 13, rows.length * 15);
    return {width: Math.max(head, left + (left && right ? 8 : 0) + right, 40) + 14, height: 20 + (body ? body + 8 : 0), facts, rows, time, left, right};
  }
  function lines(texts, padding) {
    return {width: Math.max(...texts.map(([t, size, bold]) => width(t, size, bold))) + 2 * padding, height: texts.reduce((h, t) => h + t[1] * 1.3, 0) + 10, texts};
  }

  function layout(shown) {
    const L = layer();
    const g = new dagre.graphlib.Graph({compound: true, multigraph: false});
    g.setGraph({rankdir: "TB", nodesep: 22, ranksep: 26, edgesep: 10, marginx: 20, marginy: 20, ranker: "network-simplex"});
    g.setDefaultEdgeLabel(() => ({}));
    const boxes = new Map();
    const all = shown.inputs.concat(shown.nodes, shown.hasOut ? ["out"] : []);
    for (const v of all) {
      boxes.set(v, boxOf(v));
      g.setNode("v" + v, {width: boxes.get(v).width, height: boxes.get(v).height});
    }
    const used = new Set();
    for (const v of shown.nodes) for (let b = L.nodes[v].b; b >= 0; b = L.blocks[b].parent) used.add(b);
    for (const b of used) g.setNode("b" + b, {label: L.blocks[b].title, clusterLabelPos: "top"});
    for (const b of used) if (L.blocks[b].parent >= 0) g.setParent("b" + b, "b" + L.blocks[b].parent);
    for (const v of shown.nodes) if (L.nodes[v].b >= 0) g.setParent("v" + v, "b" + L.nodes[v].b);
    // The residual stream has a way of its own, beside all else: it only orders nodes that nothing else orders.
    const others = (e) => shown.edges.some((o) => o !== e && o.to === e.to) && shown.edges.some((o) => o !== e && o.from === e.from);
    for (const e of shown.edges) if (!(e.residual && others(e))) g.setEdge("v" + e.from, "v" + e.to, {weight: e.residual ? 10 : e.from < 0 ? 1 : 3, minlen: 1});
    dagre.layout(g);
    return {g, boxes, all, blocks: [...used].sort((a, b) => a - b)};
  }

  /// Left of all boxes: from side to side, or straight down where that is free.
  const gutter = 44;
  function residualRoute(placed, e) {
    const from = placed.g.node("v" + e.from);
    const to = placed.g.node("v" + e.to);
    const [out, into] = [from.y, to.y];
    const [left, right] = [from.x - from.width / 2, to.x - to.width / 2];
    const x = -gutter / 2;
    return {points: [{x: left, y: out}, {x, y: out}, {x, y: into}, {x: right, y: into}], straight: true};
  }
  const corners = d3.svg.line().x((p) => p.x).y((p) => p.y).interpolate("linear");
  const curve = d3.svg.line().x((p) => p.x).y((p) => p.y).interpolate("basis");
  const classOfBlock = (kind, inner) => `var(--${kind}${inner ? "-in" : ""})`;

  function drawGraph() {
    const L = layer();
    const shown = shownGraph();
    const placed = layout(shown);
    drawn = {shown, placed, elements: new Map()};
    stage.selectAll("*").remove();
    const size = placed.g.graph();
    extent = {width: Math.max(1, size.width) + gutter, height: Math.max(1, size.height)};
    const blocks = stage.append("g").attr("aria-hidden", "true");
    for (const b of placed.blocks) {
      const box = placed.g.node("b" + b);
      const block = L.blocks[b];
      const item = blocks.append("g").attr("class", "block");
      item.append("rect").attr({x: box.x - box.width / 2, y: box.y - box.height / 2 - 4, width: box.width, height: box.height + 8, rx: 8})
        .style({fill: classOfBlock(block.kind, block.parent >= 0), stroke: `var(--${block.kind}-line)`});
      item.append("text").attr({x: box.x - box.width / 2 + 8, y: box.y - box.height / 2 + 10}).style({"font-size": block.parent < 0 ? "14px" : "12px", "font-weight": "bold"}).text(block.title);
    }
    const edges = stage.append("g").attr("aria-hidden", "true");
    for (const e of shown.edges) drawEdge(edges, e, placed.g.edge("v" + e.from, "v" + e.to) || residualRoute(placed, e));
    const nodes = stage.append("g");
    for (const v of placed.all) drawNode(nodes, v, placed.g.node("v" + v), placed.boxes.get(v));
    emphasise();
  }

  function drawEdge(parent, e, route) {
    const kind = e.residual ? "residual" : e.from < 0 ? "input" : "";
    const item = parent.append("g").attr("class", `edge ${kind} ${e.kind === 1 ? "memory" : ""}`).datum(e);
    item.append("path").attr({d: (route.straight ? corners : curve)(route.points), "marker-end": `url(#tip${kind ? "-" + kind : ""})`})
      .append("title").text(e.through.map((v) => layer().nodes[v].n + "  " + layer().nodes[v].y).join("\n"));
    if (e.through.length === 0) return;
    const middle = route.points[route.points.length >> 1];
    item.append("circle").attr({class: "fold", cx: middle.x, cy: middle.y, r: 4}).on("click", () => {
      d3.event.stopPropagation();
      for (const v of e.through) state.opened.add(v);
      drawGraph();
    }).append("title").text("unfold " + e.through.map((v) => layer().nodes[v].t).join(", "));
  }

  function drawNode(parent, v, at, box) {
    const L = layer();
    const item = parent.append("g").attr({transform: `translate(${at.x - box.width / 2},${at.y - box.height / 2})`});
    drawn.elements.set(v, item);
    item.append("rect").attr({class: "body", width: box.width, height: box.height, rx: 3});
    if (box.texts) {
      item.attr("class", v === "out" ? "node out" : "node input" + (L.inputs[-1 - v].kind === "residual" ? " residual" : ""));
      let y = 6;
      for (const [text, fontSize, bold] of box.texts) {
        y += fontSize * 1.25;
        item.append("text").attr({x: box.width / 2, y: y - 2, "text-anchor": "middle"}).style({"font-size": fontSize + "px", "font-weight": bold ? "bold" : "normal"}).text(text);
      }
      item.append("title").text(v === "out" ? L.outNames.join("\n") : L.inputs[-1 - v].names.map((n, i) => "%" + n + "  " + L.inputs[-1 - v].types[i]).join("\n"));
      return;
    }
    drawOp(item, v, box);
  }

  function drawOp(item, v, box) {
    const L = layer();
    const node = L.nodes[v];
    const shade = node.k.length ? heat(sumOf(node.k), total()) : null;
    item.attr({class: "node" + (L.spine.includes(v) ? " spine" : "") + (node.a !== null ? " auxiliary" : ""), tabindex: 0, role: "button", "aria-label": spoken(v)});
    const head = item.append("rect").attr({x: 1, y: 1, width: box.width - 2, height: 18});
    head.style("fill", shade ? shade.fill : "transparent");
    const ink = shade ? shade.text : "var(--ink)";
    item.append("text").attr({x: 6, y: 14}).style({"font-size": "12px", "font-weight": "bold", fill: ink}).text(fit(node.t, 40));
    item.append("text").attr({x: box.width - 6, y: 14, "text-anchor": "end"}).style({"font-size": "12px", fill: ink}).text(box.time);
    box.facts.forEach((text, i) => item.append("text").attr({class: "quiet", x: 6, y: 33 + i * 13}).style("font-size", "10px").text(text));
    const x = box.width - 7 - box.right;
    box.rows.forEach((row, i) => {
      const kernel = row.i >= 0 ? L.kernels[row.i] : null;
      const line = item.append("g").attr({class: "row", transform: `translate(${x},${23 + i * 15})`}).datum(row.i);
      line.append("rect").attr({class: "kernel" + (kernel && kernel.e > 3 ? " faint" : kernel && kernel.e > 1 ? " weak" : ""), width: box.right, height: 15});
      line.append("text").attr({x: 4, y: 11}).style("font-size", "10.5px").text(row.name);
      line.append("text").attr({x: box.right - 4, y: 11, "text-anchor": "end"}).style("font-size", "10.5px").text(row.time);
      if (!kernel) return;
      line.on("mouseenter", () => point(row.i)).on("mouseleave", () => point(null));
      line.append("title").text(kernelText(kernel));
    });
    item.on("click", () => { if (d3.event.defaultPrevented) return; d3.event.stopPropagation(); choose(v); })
      .on("focus", () => choose(v, true)).on("mouseenter", () => { if (node.k.length) point(node.k[0], v); }).on("mouseleave", () => point(null));
  }

  function spoken(v) {
    const L = layer();
    const node = L.nodes[v];
    const block = node.b >= 0 ? L.blocks[node.b].title : "";
    const time = node.k.length ? `, ${duration(sumOf(node.k))}, ${percent(sumOf(node.k), total())}, ${node.k.length} kernels` : "";
    return `${node.t}, ${node.d} ${node.y}, ${block}${time}`;
  }
  function kernelText(kernel) {
    return `${data.fullNames[kernel.full]}\nmedian ${duration(median(kernel.du))}, ${duration(least(kernel.du))} to ${duration(most(kernel.du))}\n` +
      `evidence: ${data.evidence[kernel.e]}${kernel.r ? ", " + kernel.r : ""}`;
  }

  function fitView() {
    const frame = byId("graph").getBoundingClientRect();
    const scale = Math.min(frame.width / extent.width, frame.height / extent.height, 1.5);
    const readable = Math.max(scale, Math.min(0.8, frame.width / extent.width));
    zoom.scale(readable).translate([(frame.width - extent.width * readable) / 2 + gutter * readable, readable > scale ? 4 : (frame.height - extent.height * readable) / 2]);
    zoom.event(svg);
  }
  function bringIntoView(v) {
    const at = drawn.placed.g.node("v" + v);
    if (!at) return;
    const frame = byId("graph").getBoundingClientRect();
    const scale = zoom.scale();
    const [x, y] = [at.x * scale + zoom.translate()[0], at.y * scale + zoom.translate()[1]];
    if (x > 40 && x < frame.width - 40 && y > 30 && y < frame.height - 30) return;
    zoom.translate([frame.width / 2 - at.x * scale, frame.height / 2 - at.y * scale]);
    zoom.event(svg);
  }

  // ---- timeline ----------------------------------------------------------------------------------------------------------------------
  /// The step whose kernels are drawn: the chosen one, or the one whose sum is nearest to the median.
  function timelineStep() {
    if (state.step >= 0) return state.step;
    const sums = layer().stepSums;
    const middle = median(sums);
    let best = 0;
    sums.forEach((sum, i) => { if (Math.abs(sum - middle) < Math.abs(sums[best] - middle)) best = i; });
    return best;
  }
  function drawTimeline() {
    const host = d3.select("#timeline");
    host.selectAll("*").remove();
    const L = layer();
    if (L.kernels.length === 0) { host.append("p").attr("class", "line").style("padding", "8px").text(data.steps.length ? "The chosen steps hold no kernel of this layer." : "No trace: there are no times."); return; }
    const step = timelineStep();
    const frame = byId("timeline").getBoundingClientRect();
    const streams = [...new Set(L.kernels.map((k) => k.s))].sort((a, b) => L.streams.indexOf(a) - L.streams.indexOf(b));
    const spans = L.kernels.map((k, i) => ({i, start: k.st[step], length: k.du[step], lane: streams.indexOf(k.s)})).filter((s) => s.start !== null);
    const end = Math.max(1, ...spans.map((s) => s.start + s.length));
    const left = 80;
    const x = d3.scale.linear().domain([0, end]).range([left, frame.width - 12]);
    const laneHeight = Math.max(16, Math.min(46, (frame.height - 48) / streams.length));
    const picture = host.append("svg").attr({role: "group", "aria-label": "Kernels in time, one lane a stream"});
    const axis = picture.append("g").attr("class", "axis");
    const lanes = picture.append("g").attr("class", "lane");
    streams.forEach((s, i) => lanes.append("text").attr({x: 6, y: 40 + i * laneHeight + laneHeight / 2}).text("stream " + (s < 0 ? "?" : s)));
    const clip = picture.append("clipPath").attr("id", "lanes").append("rect").attr({x: left, y: 0, width: Math.max(0, frame.width - left), height: frame.height});
    const bars = picture.append("g").attr("clip-path", "url(#lanes)");
    function place() {
      axis.selectAll("*").remove();
      for (const t of x.ticks(8)) {
        if (x(t) < left || x(t) > frame.width) continue;
        axis.append("line").attr({x1: x(t), x2: x(t), y1: 20, y2: frame.height});
        axis.append("text").attr({x: x(t) + 2, y: 16}).text(duration(t));
      }
      bars.selectAll(".span").each(function (s) {
        const w = Math.max(1, x(s.start + s.length) - x(s.start));
        const item = d3.select(this).attr("transform", `translate(${x(s.start)},0)`);
        item.select("rect").attr("width", w);
        item.select("text").text(w > 40 ? fit(L.kernels[s.i].n, Math.floor(w / 6.5)) : "");
      });
    }
    const all = total();
    for (const s of spans) {
      const k = L.kernels[s.i];
      const shade = heat(timeOf(k) || 0, all);
      const item = bars.append("g").attr({class: "span" + (k.nd < 0 ? " nowhere" : ""), tabindex: -1}).datum(s);
      const rect = item.append("rect").attr({y: 28 + s.lane * laneHeight, height: laneHeight - 6, rx: 2});
      if (k.nd >= 0) rect.style("fill", shade.fill);
      item.append("text").attr({x: 3, y: 28 + s.lane * laneHeight + laneHeight / 2}).style({"font-size": "10.5px", fill: k.nd >= 0 ? shade.text : "var(--ink)", "pointer-events": "none"});
      item.append("title").text(kernelText(k));
      item.on("mouseenter", () => point(s.i)).on("mouseleave", () => point(null)).on("click", () => { if (!d3.event.defaultPrevented) choose(k.nd >= 0 ? k.nd : null, false, s.i); });
    }
    picture.call(d3.behavior.zoom().x(x).scaleExtent([1, 60]).on("zoom", place));
    place();
    host.append("div").attr("id", "note").text(`${data.steps[step]}: from the layer's first kernel on, wall ${duration(L.stepWalls[step])}`);
    emphasise();
  }

  // ---- details and table -------------------------------------------------------------------------------------------------------------
  function element(parent, name, text, attributes) {
    const item = parent.append(name);
    if (text !== undefined && text !== null) item.text(text);
    if (attributes) item.attr(attributes);
    return item;
  }
  function pair(list, name, value) {
    if (value === "" || value === null || value === undefined) return;
    element(list, "dt", name);
    element(list, "dd", value);
  }
  function links(parent, title, vertices) {
    if (vertices.length === 0) return;
    element(parent, "h3", title);
    const list = element(parent, "div");
    for (const v of vertices) {
      if (typeof v === "number" && v >= 0) {
        element(list, "a", layer().nodes[v].t + "  ", {role: "button", tabindex: 0, title: "%" + layer().nodes[v].n}).on("click", () => choose(v))
          .on("keydown", () => { if (d3.event.key === "Enter") choose(v); });
      } else {
        element(list, "span", (v === "out" ? "to " + layer().next : layer().inputs[-1 - v].label) + "  ");
      }
    }
  }
  /// One dot a step; a click chooses the step.
  function dots(parent, values, label) {
    const known = values.filter((v) => v !== null);
    if (known.length < 2) return;
    element(parent, "h3", label);
    const w = 360;
    const low = Math.min(...known);
    const high = Math.max(...known);
    const x = d3.scale.linear().domain([low, high === low ? low + 1 : high]).range([20, w - 20]);
    const picture = parent.append("svg").attr({width: w, height: 46, class: "dots", role: "img",
      "aria-label": `${label}: median ${duration(median(values))}, ${duration(low)} to ${duration(high)} over ${known.length} steps`});
    const middle = x(median(values));
    picture.append("line").attr({x1: middle, x2: middle, y1: 4, y2: 26});
    values.forEach((v, i) => {
      if (v === null) return;
      picture.append("circle").attr({cx: x(v), cy: 14 + (i % 3 - 1) * 4, r: 4, class: i === state.step ? "on" : ""}).on("click", () => setStep(i === state.step ? -1 : i))
        .append("title").text(data.steps[i] + ": " + duration(v));
    });
    for (const [v, anchor] of [[low, "start"], [high, "end"]]) picture.append("text").attr({x: anchor === "start" ? 4 : w - 4, y: 42, "text-anchor": anchor}).style("font-size", "10.5px").text(duration(v));
    picture.append("text").attr({x: middle, y: 42, "text-anchor": "middle"}).style("font-size", "10.5px").text(middle > 90 && middle < w - 90 ? "median " + duration(median(values)) : "");
  }

  function drawDetails() {
    const host = d3.select("#details");
    host.selectAll("*").remove();
    if (state.node === null) { layerDetails(host); return; }
    const L = layer();
    const node = L.nodes[state.node];
    element(host, "h2", node.t);
    const list = element(host, "dl");
    pair(list, "name", "%" + node.n);
    pair(list, "op", node.o);
    pair(list, "type", node.y);
    pair(list, "group", node.g + (node.s ? " / " + node.s : ""));
    pair(list, "why here", node.r + (node.c ? "" : " (not certain)"));
    pair(list, "line", String(node.l));
    if (node.a !== null) pair(list, "stream", "auxiliary" + (node.a >= 0 ? " " + node.a : ""));
    pair(list, "weights", node.w.join(", "));
    pair(list, "also read by", node.also.join(", "));
    for (const i of node.k) kernelDetails(host, L.kernels[i]);
    for (const i of node.sh) element(host, "p", `Its work is in ${L.kernels[i].n}, counted on ${L.nodes[L.kernels[i].nd].t}.`);
    const {shown} = drawn;
    links(host, "Producers", shown.edges.filter((e) => e.to === state.node).map((e) => e.from));
    links(host, "Consumers", shown.edges.filter((e) => e.from === state.node).map((e) => e.to));
  }
  function kernelDetails(host, kernel) {
    element(host, "h3", kernel.n);
    const list = element(host, "dl");
    pair(list, "time", `${duration(timeOf(kernel))}, ${percent(timeOf(kernel) || 0, total())} of the layer`);
    pair(list, "stream", String(kernel.s));
    pair(list, "evidence", `${data.evidence[kernel.e]}, confidence ${kernel.c}`);
    pair(list, "reason", kernel.r);
    pair(list, "name", data.fullNames[kernel.full]);
    dots(host, kernel.du, "Over the steps");
  }
  function layerDetails(host) {
    const L = layer();
    element(host, "h2", L.title);
    const list = element(host, "dl");
    pair(list, "nodes", L.counts);
    pair(list, "in", L.inputs.map((i) => i.label).join(", "));
    pair(list, "out", L.outNames.join(", ") + " to " + L.next);
    if (data.steps.length === 0) return;
    pair(list, "sum", `${duration(total())} = ${duration(total() - nowhere())} on nodes + ${duration(nowhere())} on none`);
    pair(list, "wall", duration(state.step < 0 ? median(L.stepWalls) : L.stepWalls[state.step]));
    for (const u of L.unattributed) pair(list, "on no node", `${duration(u.ns)}, ${u.n} kernels: ${u.reason || "no reason given"}`);
    for (const u of L.outside) pair(list, "in no layer", `${duration(u.ns)} of each step, ${u.n} kernels: ${u.reason || "no reason given"}`);
    dots(host, L.stepSums, "Sum of the layer's kernels over the steps");
    dots(host, L.stepWalls, "Wall time of the layer over the steps");
  }
  const nowhere = () => layer().kernels.reduce((sum, k) => sum + (k.nd < 0 ? timeOf(k) || 0 : 0), 0);

  const columns = [
    {key: "order", head: "#", number: true, value: (r) => r.order},
    {key: "node", head: "node", value: (r) => r.node},
    {key: "kernel", head: "kernel", value: (r) => r.kernel},
    {key: "stream", head: "stream", number: true, value: (r) => r.stream},
    {key: "time", head: "µs", number: true, value: (r) => r.time, text: (r) => micro(r.time)},
    {key: "min", head: "min", number: true, value: (r) => r.min, text: (r) => micro(r.min)},
    {key: "max", head: "max", number: true, value: (r) => r.max, text: (r) => micro(r.max)},
    {key: "share", head: "share", number: true, value: (r) => r.time, text: (r) => percent(r.time || 0, total())},
    {key: "evidence", head: "evidence", value: (r) => r.evidence},
  ];
  function rowsOfTable() {
    const L = layer();
    const rows = L.kernels.map((k, i) => ({i, order: i + 1, node: k.nd >= 0 ? L.nodes[k.nd].t : "-", kernel: k.n, stream: k.s, time: timeOf(k), min: least(k.du), max: most(k.du), evidence: data.evidence[k.e]}));
    const column = columns.find((c) => c.key === state.sort.key);
    rows.sort((a, b) => {
      const [p, q] = [column.value(a), column.value(b)];
      const order = p < q ? -1 : p > q ? 1 : a.order - b.order;
      return state.sort.down ? -order : order;
    });
    const wanted = byId("filter") ? byId("filter").value.toLowerCase() : "";
    return rows.filter((r) => !wanted || `${r.node} ${r.kernel} ${r.evidence} stream ${r.stream}`.toLowerCase().includes(wanted));
  }
  function drawTable() {
    const host = d3.select("#table");
    if (!byId("filter")) {
      const bar = element(host, "div", null, {class: "bar"});
      element(bar, "label", "Filter ").append("input").attr({id: "filter", type: "search", size: 16}).on("input", fillTable);
      element(bar, "button", "Copy as TSV", {type: "button", id: "copy"}).on("click", copyTable);
      const table = element(host, "table", null, {"aria-label": "Kernels of the layer"});
      const head = table.append("thead").append("tr");
      for (const c of columns) {
        const cell = element(head, "th", null, {scope: "col", class: c.number ? "n" : "", "data-key": c.key});
        element(cell, "button", c.head, {type: "button"}).on("click", () => {
          state.sort = {key: c.key, down: state.sort.key === c.key ? !state.sort.down : ["time", "min", "max", "share"].includes(c.key)};
          fillTable();
        });
      }
      table.append("tbody");
      table.append("tfoot");
    }
    fillTable();
  }
  function fillTable() {
    const rows = rowsOfTable();
    d3.selectAll("#table th").attr("aria-sort", function () { return this.dataset.key === state.sort.key ? (state.sort.down ? "descending" : "ascending") : null; });
    const body = d3.select("#table tbody");
    body.selectAll("*").remove();
    const all = total();
    for (const r of rows) {
      const line = body.append("tr").attr({tabindex: 0}).datum(r.i).on("click", () => chooseRow(r.i)).on("keydown", () => { if (d3.event.key === "Enter") chooseRow(r.i); })
        .on("mouseenter", () => point(r.i)).on("mouseleave", () => point(null));
      for (const c of columns) {
        const cell = element(line, "td", c.key === "share" ? null : c.text ? c.text(r) : String(c.value(r)), {class: c.number ? "n" : "", title: c.number ? null : c.value(r)});
        if (c.key !== "share") continue;
        cell.append("span").attr("class", "share").style("width", (all > 0 ? 40 * (r.time || 0) / all : 0) + "px");
        cell.append("span").text(c.text(r));
      }
    }
    const foot = d3.select("#table tfoot");
    foot.selectAll("*").remove();
    const line = foot.append("tr");
    element(line, "th", `sum of ${rows.length} kernels`, {colspan: 4, scope: "row"});
    const sum = rows.reduce((s, r) => s + (r.time || 0), 0);
    element(line, "td", micro(sum), {class: "n"});
    element(line, "td", "", {colspan: 2});
    element(line, "td", percent(sum, all), {class: "n"});
    element(line, "td", "");
    emphasise();
  }
  function chooseRow(i) { choose(layer().kernels[i].nd >= 0 ? layer().kernels[i].nd : null, true, i); }
  function tableText() {
    const head = columns.map((c) => (c.head === "µs" ? "time_ns" : c.key === "min" || c.key === "max" ? c.key + "_ns" : c.key)).join("\t");
    const all = total();
    return head + "\n" + rowsOfTable().map((r) => columns.map((c) => (c.key === "share" ? (all > 0 ? ((r.time || 0) / all).toFixed(6) : "") : String(c.value(r)).replace(/[\t\n]/g, " "))).join("\t")).join("\n") + "\n";
  }
  function copyTable() {
    const text = tableText();
    const done = () => say("table copied");
    if (navigator.clipboard && window.isSecureContext) { navigator.clipboard.writeText(text).then(done, () => copyOldWay(text)); return; }
    copyOldWay(text);
  }
  function copyOldWay(text) {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.appendChild(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    say("table copied");
  }

  // ---- choosing ----------------------------------------------------------------------------------------------------------------------
  function say(text) { byId("said").textContent = text; }
  function choose(v, quiet, kernel) {
    state.node = v;
    state.kernel = kernel === undefined ? null : kernel;
    if (v !== null && !drawn.elements.has(v)) { state.opened.add(v); drawGraph(); }
    drawDetails();
    emphasise();
    if (v !== null) {
      if (!quiet) showTab("details");
      bringIntoView(v);
      say(spoken(v));
    }
  }
  let pointed = {kernel: null, node: null};
  function point(kernel, node) {
    pointed = {kernel, node: node === undefined ? null : node};
    emphasise();
  }
  /// Marks what is chosen or pointed at, in graph, timeline and table alike.
  function emphasise() {
    const L = layer();
    const marked = new Set();
    if (state.node !== null) for (const i of L.nodes[state.node].k) marked.add(i);
    if (state.kernel !== null) { marked.clear(); marked.add(state.kernel); }
    if (pointed.node !== null) for (const i of L.nodes[pointed.node].k) marked.add(i);
    else if (pointed.kernel !== null) marked.add(pointed.kernel);
    if (drawn) {
      const near = new Set();
      for (const e of drawn.shown.edges) {
        if (e.from === state.node) near.add(e.to);
        if (e.to === state.node) near.add(e.from);
      }
      drawn.elements.forEach((item, v) => item.classed({on: v === state.node, near: state.node !== null && near.has(v)}));
      stage.selectAll(".edge").classed("on", (e) => state.node !== null && (e.from === state.node || e.to === state.node));
      stage.selectAll(".row").classed("on", (i) => marked.has(i));
    }
    d3.selectAll("#timeline .span").classed("on", (s) => marked.has(s.i));
    d3.selectAll("#table tbody tr").classed("on", (i) => marked.has(i));
  }

  let matches = [];
  function find(next) {
    const wanted = byId("find").value.trim().toLowerCase();
    const L = layer();
    const text = (node) => [node.n, node.t, node.o, node.d, node.g, node.s, ...node.w, ...node.k.map((i) => L.kernels[i].n + " " + data.fullNames[L.kernels[i].full])].join(" ").toLowerCase();
    matches = wanted ? L.nodes.map((node, v) => [node, v]).filter(([node]) => text(node).includes(wanted)).map(([, v]) => v) : [];
    drawn.elements.forEach((item, v) => item.classed({found: matches.includes(v), dim: wanted !== "" && !matches.includes(v)}));
    byId("found").textContent = wanted ? (matches.length === 1 ? "1 node" : matches.length + " nodes") : "";
    if (next && matches.length) choose(matches[(matches.indexOf(state.node) + 1) % matches.length], true);
  }

  function showTab(name) {
    for (const tab of ["details", "table"]) {
      byId(tab).hidden = tab !== name;
      byId("tab-" + tab).setAttribute("aria-selected", String(tab === name));
      byId("tab-" + tab).setAttribute("aria-pressed", String(tab === name));
    }
    document.querySelector("main").classList.toggle("wide", name === "table");
    if (name === "table") drawTable();
    drawTimeline();
  }

  // ---- layers and steps --------------------------------------------------------------------------------------------------------------
  function drawLayers() {
    const host = d3.select("#layers");
    host.selectAll("*").remove();
    const longest = Math.max(1, ...data.strip.map((l) => l.sum));
    const middle = median(data.strip.map((l) => l.sum)) || 1;
    data.strip.forEach((l) => {
      const chosen = l.index === state.layer;
      const button = host.append("button").attr({type: "button", role: "tab", "aria-selected": String(chosen), tabindex: chosen ? 0 : -1,
        title: `${l.title}: sum ${duration(l.sum)}, wall ${duration(l.wall)}` + (l.index < 0 ? " (not in this page: draw it with `layer: all`)" : ""),
        "aria-label": `${l.title}, ${duration(l.sum)}`});
      if (l.index < 0) button.attr("disabled", "");
      // Against the median: an odd layer stands out by colour, all by height.
      const shade = data.heat[Math.max(0, Math.min(data.heat.length - 1, Math.round(1 + 2 * Math.log2(Math.max(l.sum, 1) / middle))))];
      button.append("div").attr("class", "fill").style({height: Math.max(2, 34 * l.sum / longest) + "px", background: shade.fill});
      button.on("click", () => setLayer(l.index));
    });
  }
  function setLayer(index) {
    if (index < 0 || index >= data.layers.length) return;
    state.layer = index;
    state.node = null;
    state.kernel = null;
    pointed = {kernel: null, node: null};
    state.opened.clear();
    drawAll(true);
    say(layer().title);
  }
  function setStep(step) {
    state.step = step;
    byId("step").value = String(step);
    drawAll(false);
  }
  function drawHead() {
    const L = layer();
    byId("title").textContent = L.title;
    document.title = L.title;
    const host = d3.select("#lines");
    host.selectAll("*").remove();
    if (L.kernels.length) {
      host.append("strong").text(`sum ${duration(total())} · wall ${duration(state.step < 0 ? median(L.stepWalls) : L.stepWalls[state.step])}`);
      host.append("span").text(` · ${state.step < 0 ? data.stepsLine : data.steps[state.step]} · ${L.kernels.length} kernels on ${L.streams.length} streams` +
        (nowhere() === 0 ? ", all on nodes" : `, ${duration(nowhere())} (${percent(nowhere(), total())}) on no node`) + " · ");
    }
    host.append("span").text(data.source);
  }
  function drawAll(refit) {
    drawLayers();
    drawHead();
    drawGraph();
    if (refit) fitView();
    drawTimeline();
    drawDetails();
    if (!byId("table").hidden) drawTable();
    find(false);
  }
  function setTheme(theme) { document.documentElement.dataset.theme = theme; }

  function neighbour(direction) {
    if (state.node === null) { if (drawn.shown.nodes.length) choose(drawn.shown.nodes[0], true); return; }
    const near = drawn.shown.edges.filter((e) => (direction < 0 ? e.to : e.from) === state.node).map((e) => (direction < 0 ? e.from : e.to)).filter((v) => typeof v === "number" && v >= 0);
    if (near.length) choose(near[0], true);
  }
  function sibling(direction) {
    const at = drawn.shown.nodes.indexOf(state.node);
    const next = drawn.shown.nodes[at + direction];
    if (next !== undefined) choose(next, true);
  }
  const keys = {
    "/": () => byId("find").focus(), "[": () => setLayer(state.layer - 1), "]": () => setLayer(state.layer + 1), "f": () => byId("fold").click(),
    "0": fitView, "t": () => byId("theme").click(), "?": () => byId("keys").click(), "Escape": () => { byId("help").hidden = true; choose(null); },
    "ArrowUp": () => neighbour(-1), "ArrowDown": () => neighbour(1), "ArrowLeft": () => sibling(-1), "ArrowRight": () => sibling(1),
  };
  document.addEventListener("keydown", (event) => {
    const inField = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (inField && event.key !== "Escape") return;
    if (event.target.closest("#layers") && event.key.startsWith("Arrow")) { setLayer(state.layer + (event.key === "ArrowLeft" ? -1 : 1)); event.preventDefault(); return; }
    if (event.target.closest("#side") && event.key.startsWith("Arrow")) return;
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  byId("find").addEventListener("input", () => find(false));
  byId("find").addEventListener("keydown", (event) => { if (event.key === "Enter") find(true); });
  byId("fold").addEventListener("click", () => {
    state.fold = !state.fold;
    state.opened.clear();
    byId("fold").setAttribute("aria-pressed", String(state.fold));
    drawGraph();
    fitView();
    find(false);
  });
  byId("fit").addEventListener("click", fitView);
  byId("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  byId("keys").addEventListener("click", () => { byId("help").hidden = !byId("help").hidden; byId("keys").setAttribute("aria-expanded", String(!byId("help").hidden)); if (!byId("help").hidden) byId("close").focus(); });
  byId("close").addEventListener("click", () => { byId("help").hidden = true; byId("keys").setAttribute("aria-expanded", "false"); byId("keys").focus(); });
  byId("tab-details").addEventListener("click", () => showTab("details"));
  byId("tab-table").addEventListener("click", () => showTab("table"));
  byId("step").addEventListener("change", (event) => setStep(Number(event.target.value)));
  window.addEventListener("resize", drawTimeline);

  const steps = d3.select("#step");
  steps.append("option").attr("value", -1).text(data.steps.length > 1 ? `median of ${data.steps.length}` : "all");
  data.steps.forEach((name, i) => steps.append("option").attr("value", i).text(name));
  setTheme(window.matchMedia && window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  // A small handle for tests and for people at the console.
  window.adpipe = {data, state, choose, setLayer, setStep, tableText, shown: () => drawn.shown};
  drawAll(true);
})();
