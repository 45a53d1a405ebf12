"use strict";
// The page of render.html. Data: the element #page-data, written by page_data.cpp. Text of the model is only ever put in as text nodes.
(function () {
  const data = JSON.parse(document.getElementById("page-data").textContent);
  const byId = (id) => document.getElementById(id);
  const state = {layer: data.start, step: -1, node: null, kernel: null, fold: true, opened: new Set(), closed: new Set(), sort: {key: "order", down: false}};
  const layer = () => data.layers[state.layer];

  // ---- numbers -----------------------------------------------------------------------------------------------------------------------
  function threeDigits(x) {
    if (x === 0) return "0";
    const rounded = Number(x.toPrecision(3));
    const decimals = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(rounded)) + 1e-9));
    const [whole, fraction] = rounded.toFixed(decimals).split(".");
    return whole.replace(/\B(?=(\d{3})+$)/g, "\u202f") + (fraction ? "." + fraction : "");
  }
  // Of whole numbers, halves away from zero, as all other outputs have it: no binary fraction decides.
  function toThreeDigits(ns) {
    let unit = 1;
    while (Math.abs(ns) / unit >= 1000) unit *= 10;
    return Math.sign(ns) * Math.round(Math.abs(ns) / unit) * unit;
  }
  function duration(ns) {
    if (ns === null || ns === undefined) return "–";
    const rounded = toThreeDigits(ns);
    const a = Math.abs(rounded);
    if (a < 1e3) return Math.round(ns) + " ns";
    if (a < 1e6) return threeDigits(rounded / 1e3) + " µs";
    if (a < 1e9) return threeDigits(rounded / 1e6) + " ms";
    return threeDigits(rounded / 1e9) + " s";
  }
  const micro = (ns) => (ns === null || ns === undefined ? "–" : threeDigits(toThreeDigits(ns) / 1e3));
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
  // Vertices are numbered: nodes from 0, inputs -1, -2, … (groups of inputs). Others are texts: "out", "nowhere" (kernels on no node), and
  // "b3" for a folded block.
  const isNode = (v) => typeof v === "number" && v >= 0;
  const isBlock = (v) => typeof v === "string" && /^b\d+$/.test(v);
  const isInput = (v) => typeof v === "number" && v < 0;
  /// The outermost folded block around a node, or the node itself.
  function holder(v) {
    if (!isNode(v)) return v;
    let found = v;
    for (let b = layer().nodes[v].b; b >= 0; b = layer().blocks[b].parent) if (state.closed.has(b)) found = "b" + b;
    return found;
  }
  function nodesOfBlock(block) {
    const inside = (b) => { for (; b >= 0; b = layer().blocks[b].parent) if (b === block) return true; return false; };
    return layer().nodes.map((node, v) => v).filter((v) => inside(layer().nodes[v].b));
  }
  const kernelsOfBlock = (block) => nodesOfBlock(block).flatMap((v) => layer().nodes[v].k);
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
    for (const v of L.outs) for (const o of origins(v)) edges.push({from: o.from, to: "out", kind: 0, through: o.through});
    return gathered(L, nodes, edges, L.spine.filter((v) => !folded(v)));
  }
  /// The same with folded blocks as one vertex each, and each pair of vertices joined once.
  function gathered(L, nodes, edges, spine) {
    const shown = {nodes: [...new Set(nodes.map(holder))], inputs: [], edges: [], hasOut: false};
    const way = [...new Set(spine.map(holder))];
    const next = new Map(way.map((v, i) => [v, i + 1 < way.length ? way[i + 1] : "out"]));
    const known = new Map();
    for (const e of edges) {
      const [from, to] = [holder(e.from), holder(e.to)];
      if (from === to) continue;
      const same = known.get(from + ">" + to);
      if (same) { same.kind = Math.min(same.kind, e.kind); continue; }
      const residual = next.get(from) === to || (isInput(from) && L.inputs[-1 - from].kind === "residual" && to === way[0]);
      known.set(from + ">" + to, {from, to, kind: e.kind, through: e.through.filter((v) => holder(v) === v), residual});
    }
    shown.edges = [...known.values()];
    shown.inputs = [...new Set(shown.edges.map((e) => e.from).filter(isInput))].sort((a, b) => b - a);
    shown.hasOut = shown.edges.some((e) => e.to === "out");
    return shown;
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
    if (v === "out") return lines([[L.next, 12, true], [fit(L.outNames[0] || "", 36), 10]], 10);
    if (isInput(v)) {
      const group = L.inputs[-1 - v];
      return lines([[fit(group.label, 40), 12, true], [group.names.length === 1 ? fit(group.names[0], 36) : group.names.length + " values", 10]], 10);
    }
    if (v === "nowhere") return opBox("On no node", ["of this layer"], L.kernels.map((_, i) => i).filter((i) => L.kernels[i].nd < 0), 8);
    if (isBlock(v)) {
      const block = Number(v.slice(1));
      const kernels = kernelsOfBlock(block);
      return opBox(L.blocks[block].title, [count(nodesOfBlock(block).length, "node") + ", " + count(kernels.length, "kernel")], kernels, 0);
    }
    const node = L.nodes[v];
    const shared = node.sh.map((i) => "↳ in the kernel of " + fit(L.nodes[L.kernels[i].nd].t, 20));
    return opBox(node.t, [node.d, node.y].filter(Boolean).concat(shared), node.k, 8);
  }
  const count = (n, what) => n + " " + what + (n === 1 ? "" : "s");
  /// A head with title and time, facts below on the left, at most `most` kernels on the right.
  function opBox(title, texts, kernels, most) {
    const L = layer();
    const facts = texts.map((t) => fit(t, 34));
    const rows = kernels.slice(0, most).map((i) => ({i, name: fit(L.kernels[i].n, 38), time: duration(timeOf(L.kernels[i]))}));
    if (most > 0 && kernels.length > most) rows.push({i: -1, name: "… " + (kernels.length - most) + " more", time: duration(sumOf(kernels.slice(most)))});
    const sum = kernels.length ? sumOf(kernels) : null;
    const time = sum === null ? "" : duration(sum) + "  " + percent(sum, total());
    const head = width(fit(title, 40), 12, true) + (time ? width(time, 12, true) + 18 : 0);
    const left = Math.max(0, ...facts.map((t) => width(t, 10)));
    const right = Math.max(0, ...rows.map((r) => width(r.name, 10.5) + width(r.time, 10.5) + 22));
    const body = Math.max(facts.length * 13, rows.length * 15);
    return {width: Math.max(head, left + (left && right ? 8 : 0) + right, 40) + 14, height: 20 + (body ? body + 8 : 0), title: fit(title, 40), sum, kernels, facts, rows, time, left, right};
  }
  function lines(texts, padding) {
    return {width: Math.max(...texts.map(([t, size, bold]) => width(t, size, bold))) + 2 * padding, height: texts.reduce((h, t) => h + t[1] * 1.3, 0) + 10, texts};
  }

  function layout(shown) {
    const L = layer();
    const g = new dagre.graphlib.Graph({compound: true, multigraph: false});
    g.setGraph({rankdir: "TB", nodesep: 22, ranksep: 30, edgesep: 10, marginx: 20, marginy: 20, ranker: "network-simplex"});
    g.setDefaultEdgeLabel(() => ({}));
    const boxes = new Map();
    const all = shown.inputs.concat(shown.nodes, shown.hasOut ? ["out"] : [], L.kernels.some((k) => k.nd < 0) ? ["nowhere"] : []);
    for (const v of all) {
      boxes.set(v, boxOf(v));
      g.setNode("v" + v, {width: boxes.get(v).width, height: boxes.get(v).height});
    }
    const blockOf = (v) => (isBlock(v) ? L.blocks[Number(v.slice(1))].parent : L.nodes[v].b);
    const used = new Set();
    for (const v of shown.nodes) for (let b = blockOf(v); b >= 0; b = L.blocks[b].parent) used.add(b);
    for (const b of used) g.setNode("b" + b, {label: L.blocks[b].title, clusterLabelPos: "top"});
    for (const b of used) if (L.blocks[b].parent >= 0) g.setParent("b" + b, "b" + L.blocks[b].parent);
    for (const v of shown.nodes) if (blockOf(v) >= 0) g.setParent("v" + v, "b" + blockOf(v));
    // The residual stream has a way of its own, beside all else: it only orders nodes that nothing else orders.
    const others = (e) => shown.edges.some((o) => o !== e && o.to === e.to) && shown.edges.some((o) => o !== e && o.from === e.from);
    for (const e of shown.edges) if (!(e.residual && others(e))) g.setEdge("v" + e.from, "v" + e.to, {weight: e.residual ? 10 : isInput(e.from) ? 1 : 3, minlen: 1});
    dagre.layout(g);
    return {g, boxes, all, blocks: [...used].sort((a, b) => a - b)};
  }

  /// Left of all boxes: from side to side, or straight down where that is free.
  const gutter = 44;
  const manyNodes = 150;
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
    const blocks = stage.append("g");
    for (const b of placed.blocks) drawBlock(blocks, b, placed.g.node("b" + b));
    const edges = stage.append("g").attr("aria-hidden", "true");
    for (const e of shown.edges) drawEdge(edges, e, placed.g.edge("v" + e.from, "v" + e.to) || residualRoute(placed, e));
    const nodes = stage.append("g");
    for (const v of placed.all) drawNode(nodes, v, placed.g.node("v" + v), placed.boxes.get(v));
    emphasise();
  }

  /// An open block: a frame with a title that folds it. Outer blocks leave room for the titles of inner ones.
  function drawBlock(parent, b, box) {
    const block = layer().blocks[b];
    const outer = block.parent < 0;
    const top = box.y - box.height / 2 - (outer ? 22 : 8);
    const left = box.x - box.width / 2;
    const item = parent.append("g").attr("class", "block");
    item.append("rect").attr({x: left, y: top, width: box.width, height: box.y + box.height / 2 + 4 - top, rx: 8})
      .style({fill: classOfBlock(block.kind, !outer), stroke: `var(--${block.kind}-line)`});
    const fold = (event) => { event.stopPropagation(); setClosed(b, true); };
    const title = item.append("text").attr({class: "block-title", x: left + 8, y: top + (outer ? 16 : 14), tabindex: 0, role: "button", "aria-expanded": "true",
      "aria-label": "fold " + block.title}).style({"font-size": outer ? "14px" : "12px"}).text(block.title);
    title.on("click", () => fold(d3.event)).on("keydown", () => { if (d3.event.key === "Enter") fold(d3.event); });
    title.append("tspan").attr("class", "quiet").attr("dx", 8).style("font-weight", "normal").text(blockTime(b));
  }
  function blockTime(b) {
    const kernels = kernelsOfBlock(b);
    return kernels.length ? duration(sumOf(kernels)) + "  " + percent(sumOf(kernels), total()) : "";
  }
  function setClosed(block, closed) {
    if (closed) state.closed.add(block);
    else state.closed.delete(block);
    drawGraph();
    drawDetails();
    find(false);
    say(layer().blocks[block].title + (closed ? " folded" : " unfolded"));
  }
  function closeAll(closed) {
    state.closed = new Set(closed ? layer().blocks.map((_, b) => b).filter((b) => layer().blocks[b].parent < 0) : []);
    byId("blocks").setAttribute("aria-pressed", String(closed));
  }
  /// A layer of very many nodes is shown by its blocks first: it is quicker to draw, and to read.
  function startFolding() {
    closeAll(false);
    if (shownGraph().nodes.length > manyNodes) closeAll(true);
  }
  function setAllClosed(closed) {
    closeAll(closed);
    drawGraph();
    fitView();
    drawDetails();
    find(false);
  }

  function drawEdge(parent, e, route) {
    const kind = e.residual ? "residual" : isInput(e.from) ? "input" : "";
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
    drawContent(item, box, v === "nowhere");
    if (isNode(v)) makeNode(item, v);
    else if (isBlock(v)) makeFoldedBlock(item, Number(v.slice(1)), box);
    else item.attr({class: "node nowhere", role: "img", "aria-label": "Kernels of this layer on no node, " + box.time});
  }

  function drawContent(item, box, plain) {
    const L = layer();
    const shade = box.sum !== null && !plain ? heat(box.sum, total()) : null;
    const ink = shade ? shade.text : "var(--ink)";
    item.append("rect").attr({x: 1, y: 1, width: box.width - 2, height: 18}).style("fill", shade ? shade.fill : "transparent");
    item.append("text").attr({x: 6, y: 14}).style({"font-size": "12px", "font-weight": "bold", fill: ink}).text(box.title);
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
  }
  function makeNode(item, v) {
    const L = layer();
    const node = L.nodes[v];
    item.attr({class: "node" + (L.spine.includes(v) ? " spine" : "") + (node.a !== null ? " auxiliary" : ""), tabindex: 0, role: "button", "aria-label": spoken(v)})
      .on("click", () => { if (d3.event.defaultPrevented) return; d3.event.stopPropagation(); choose(v); })
      .on("focus", () => choose(v, true)).on("mouseenter", () => { if (node.k.length) point(node.k[0], v); }).on("mouseleave", () => point(null));
  }
  function makeFoldedBlock(item, b, box) {
    const open = (event) => { event.stopPropagation(); setClosed(b, false); };
    item.attr({class: "node folded", tabindex: 0, role: "button", "aria-expanded": "false", "aria-label": `unfold ${box.title}, ${box.facts[0]}, ${box.time}`})
      .on("click", () => { if (!d3.event.defaultPrevented) open(d3.event); }).on("keydown", () => { if (d3.event.key === "Enter") open(d3.event); });
    item.select("rect.body").style("stroke", `var(--${layer().blocks[b].kind}-line)`);
  }

  function spoken(v) {
    const L = layer();
    const node = L.nodes[v];
    const block = node.b >= 0 ? L.blocks[node.b].title : "";
    const time = node.k.length ? `, ${duration(sumOf(node.k))}, ${percent(sumOf(node.k), total())}, ${count(node.k.length, "kernel")}` : "";
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
    const streams = [...new Set(L.kernels.map((k) => k.s))].sort((a, b) => L.streams.indexOf(a) - L.streams.indexOf(b));
    document.querySelector("main").style.setProperty("--timeline", Math.min(56 + 44 * streams.length, 320) + "px");
    const frame = byId("timeline").getBoundingClientRect();
    const spans = L.kernels.map((k, i) => ({i, start: k.st[step], length: k.du[step], lane: streams.indexOf(k.s)})).filter((s) => s.start !== null);
    const end = Math.max(1, ...spans.map((s) => s.start + s.length));
    const left = 80;
    const x = d3.scale.linear().domain([0, end]).range([left, frame.width - 12]);
    const laneHeight = Math.max(16, Math.min(44, (frame.height - 52) / streams.length));
    const picture = host.append("svg").attr({role: "group", "aria-label": "Kernels in time, one lane a stream"});
    const axis = picture.append("g").attr("class", "axis");
    const lanes = picture.append("g").attr("class", "lane");
    streams.forEach((s, i) => lanes.append("text").attr({x: 6, y: 28 + i * laneHeight + laneHeight / 2}).text("stream " + (s < 0 ? "?" : s)));
    const clip = picture.append("clipPath").attr("id", "lanes").append("rect").attr({x: left, y: 0, width: Math.max(0, frame.width - left), height: frame.height});
    const bars = picture.append("g").attr("clip-path", "url(#lanes)");
    function place() {
      axis.selectAll("*").remove();
      for (const t of x.ticks(8)) {
        if (x(t) < left || x(t) > frame.width) continue;
        axis.append("line").attr({x1: x(t), x2: x(t), y1: 20, y2: frame.height});
        if (x(t) < frame.width - 50) axis.append("text").attr({x: x(t) + 2, y: 16}).text(duration(t));
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
      if (isNode(v)) {
        element(list, "a", layer().nodes[v].t + "  ", {role: "button", tabindex: 0, title: "%" + layer().nodes[v].n}).on("click", () => choose(v))
          .on("keydown", () => { if (d3.event.key === "Enter") choose(v); });
      } else {
        element(list, "span", (v === "out" ? layer().next : isBlock(v) ? layer().blocks[Number(v.slice(1))].title : layer().inputs[-1 - v].label) + "  ");
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
    pair(list, "out", [L.outNames.join(", "), L.next].filter(Boolean).join("  "));
    if (data.steps.length === 0) return;
    pair(list, "sum", `${duration(total())} = ${duration(total() - nowhere())} on nodes + ${duration(nowhere())} on none`);
    pair(list, "wall", duration(state.step < 0 ? median(L.stepWalls) : L.stepWalls[state.step]));
    for (const u of L.unattributed) pair(list, "on no node", `${duration(u.ns)}, ${count(u.n, "kernel")}: ${u.reason || "no reason given"}`);
    for (const u of L.outside) pair(list, "in no layer", `${duration(u.ns)} of each step, ${count(u.n, "kernel")}: ${u.reason || "no reason given"}`);
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
    const longest = Math.max(1, ...rows.map((r) => r.time || 0));
    for (const r of rows) {
      const line = body.append("tr").attr({tabindex: 0}).datum(r.i).on("click", () => chooseRow(r.i)).on("keydown", () => { if (d3.event.key === "Enter") chooseRow(r.i); })
        .on("mouseenter", () => point(r.i)).on("mouseleave", () => point(null));
      for (const c of columns) {
        const cell = element(line, "td", c.key === "share" ? null : c.text ? c.text(r) : String(c.value(r)), {class: c.number ? "n" : "", title: c.number ? null : c.value(r)});
        if (c.key !== "share") continue;
        cell.append("span").attr("class", "share").style("width", 32 * (r.time || 0) / longest + "px");
        cell.append("span").text(c.text(r));
      }
    }
    const foot = d3.select("#table tfoot");
    foot.selectAll("*").remove();
    const line = foot.append("tr");
    element(line, "th", "sum of " + count(rows.length, "kernel"), {colspan: 4, scope: "row"});
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
    if (v !== null && !drawn.elements.has(v)) {
      for (let b = layer().nodes[v].b; b >= 0; b = layer().blocks[b].parent) state.closed.delete(b);
      drawGraph();
      if (!drawn.elements.has(v)) { state.opened.add(v); drawGraph(); }
      find(false);
    }
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
      const lit = new Set([...marked].map((i) => (L.kernels[i].nd >= 0 ? holder(L.kernels[i].nd) : "nowhere")));
      drawn.elements.forEach((item, v) => item.classed({on: v === state.node, near: state.node !== null && near.has(v), lit: lit.has(v)}));
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
    const holders = new Set(matches.map(holder));
    drawn.elements.forEach((item, v) => item.classed({found: holders.has(v), dim: wanted !== "" && !holders.has(v)}));
    byId("found").textContent = wanted ? (matches.length === 1 ? "1 node" : matches.length + " nodes") : "";
    if (!next && matches.length && document.activeElement === byId("find")) bringIntoView(holder(matches[0]));
    if (next && matches.length) choose(matches[(matches.indexOf(state.node) + 1) % matches.length], true);
  }

  function showTab(name) {
    if (!byId(name).hidden) return;
    for (const tab of ["details", "table"]) {
      byId(tab).hidden = tab !== name;
      byId("tab-" + tab).setAttribute("aria-selected", String(tab === name));
      byId("tab-" + tab).setAttribute("aria-pressed", String(tab === name));
    }
    document.querySelector("main").classList.toggle("wide", name === "table");
    if (name === "table") drawTable();
    drawTimeline();
    fitView();
    const wanted = state.node !== null ? state.node : matches[0];
    if (wanted !== undefined) bringIntoView(holder(wanted));
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
      if (chosen || l.number % 5 === 0) button.append("span").attr("class", "number").text(l.number);
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
    startFolding();
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
      host.append("span").text(` · ${state.step < 0 ? data.stepsLine : data.steps[state.step]} · ${count(L.kernels.length, "kernel")} on ${count(L.streams.length, "stream")}` +
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
    if (state.node === null) { if (drawn.shown.nodes.some(isNode)) choose(drawn.shown.nodes.find(isNode), true); return; }
    const near = drawn.shown.edges.filter((e) => (direction < 0 ? e.to : e.from) === state.node).map((e) => (direction < 0 ? e.from : e.to)).filter(isNode);
    if (near.length) choose(near[0], true);
  }
  function sibling(direction) {
    const at = drawn.shown.nodes.filter(isNode).indexOf(state.node);
    const next = drawn.shown.nodes.filter(isNode)[at + direction];
    if (next !== undefined) choose(next, true);
  }
  const keys = {
    "/": () => byId("find").focus(), "[": () => setLayer(state.layer - 1), "]": () => setLayer(state.layer + 1), "f": () => byId("fold").click(), "b": () => byId("blocks").click(),
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
  byId("blocks").addEventListener("click", () => setAllClosed(byId("blocks").getAttribute("aria-pressed") !== "true"));
  byId("fit").addEventListener("click", fitView);
  byId("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  byId("keys").addEventListener("click", () => { byId("help").hidden = !byId("help").hidden; byId("keys").setAttribute("aria-expanded", String(!byId("help").hidden)); if (!byId("help").hidden) byId("close").focus(); });
  byId("close").addEventListener("click", () => { byId("help").hidden = true; byId("keys").setAttribute("aria-expanded", "false"); byId("keys").focus(); });
  byId("tab-details").addEventListener("click", () => showTab("details"));
  byId("tab-table").addEventListener("click", () => showTab("table"));
  byId("step").addEventListener("change", (event) => setStep(Number(event.target.value)));
  window.addEventListener("resize", () => { drawTimeline(); fitView(); });

  const steps = d3.select("#step");
  steps.append("option").attr("value", -1).text(data.steps.length > 1 ? `median of ${data.steps.length}` : data.steps.length ? "its only one" : "no trace");
  data.steps.forEach((name, i) => steps.append("option").attr("value", i).text(name));
  setTheme(window.matchMedia && window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  // A small handle for tests and for people at the console.
  window.adpipe = {data, state, choose, setLayer, setStep, tableText, duration, shown: () => drawn.shown};
  startFolding();
  drawAll(true);
})();
