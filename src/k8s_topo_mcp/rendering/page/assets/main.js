// What is shown: where the map stands, what is chosen, which states; and the keys and buttons that change it.

const path = [boxes.whole];
let chosen = null; // a box; null: nothing but what the map stands on
let hits = new Set();
const focus = () => path[path.length - 1];

function draw() {
  const { drawn, isCut } = map.draw(focus(), chosen, hits);
  drawPath();
  drawLegend();
  const sum = `${drawn.toLocaleString("en")} ${drawn === 1 ? "box" : "boxes"}`;
  const words = [isCut ? `${sum} drawn; what is in them is folded: zoom in to open it` : `all there is: ${sum}`];
  if (boxes.only.size) words.push(`only what has ${[...boxes.only].join(" or ")} devices`);
  dom.get("status").textContent = words.join(" · ");
  dom.get("zoom-out").disabled = path.length < 2;
  panel.show(chosen ?? focus(), chosen === null);
}

function drawPath() {
  const steps = path.map((box, at) => {
    const name = at === 0 ? graph.about.scope || "cluster" : map.title(box), isLast = at === path.length - 1;
    const given = { type: "button", "aria-current": isLast ? "location" : null, does: () => zoomTo(path.slice(0, at + 1)) };
    const type = box.members ? null : make("span", { class: "type", text: typeWords(graph.type(box.i)) });
    return make("li", {}, make("button", given, type, make("span", { text: name })));
  });
  dom.get("path").replaceChildren(make("ol", {}, ...steps));
}

function drawLegend() {
  const counts = boxes.counts(focus());
  dom.get("legend").replaceChildren(...tally.states.map((state, at) => make("button",
    {
      type: "button", "aria-pressed": boxes.only.has(state.name), "data-none": counts[at] === 0,
      title: `${state.words}; press to show only what has it`, does: () => only(state.name),
    },
    make("b", { class: "letter", "data-state": state.name, text: state.letter }),
    make("span", { class: "name", text: state.name }),
    make("span", { class: "sum", text: counts[at].toLocaleString("en") }))));
}

function only(name) {
  if (!boxes.only.delete(name)) boxes.only.add(name);
  // A fold of what was there before may hold nothing now.
  while (focus().members && path.length > 1) path.pop();
  draw();
  [...dom.get("legend").children][tally.states.findIndex((state) => state.name === name)]?.focus();
}

function zoomTo(steps, keep = null) {
  path.splice(0, path.length, ...steps);
  chosen = keep;
  draw();
  dom.get("map").parentElement.scrollTop = 0;
  remember(true);
}

// Into a box that is drawn: by the boxes that lead to it.
function zoom(box) {
  if (!boxes.isOpen(box)) { open(box.i); return; }
  const steps = boxes.pathTo(box.members ? box.members[0] : box.i);
  const at = steps.findIndex((step) => boxes.same(step, box));
  zoomTo(at >= 0 ? steps.slice(0, at + 1) : [...path, box]);
  dom.get("map").querySelector("[tabindex='0']")?.focus({ preventScroll: true });
}

function out() {
  if (path.length < 2) return;
  const last = path[path.length - 1];
  zoomTo(path.slice(0, -1), last);
  map.bring(last, true);
}

// Stand where a thing can be seen as itself: on its node, if it has one. What stands in a device is seen in the panel, and its device is
// marked.
function reveal(i, isStep = true) {
  let steps = boxes.pathTo(i);
  const ends = () => steps[steps.length - 1];
  const isThere = () => !ends().members && (ends().i === i || tally.stateOf(ends().i) >= 0);
  if (!isThere()) {
    boxes.only.clear();
    steps = boxes.pathTo(i);
  }
  const last = ends(), inside = last.i !== i && isThere();
  hits = new Set(inside ? [i] : []);
  const node = steps.findIndex((box) => box.i >= 0 && !box.members && graph.type(box.i) === "node");
  let end = node >= 0 ? node + 1 : Math.max(1, boxes.isOpen(last) ? steps.length : steps.length - 1);
  for (; end <= steps.length; end++) {
    path.splice(0, path.length, ...steps.slice(0, end));
    chosen = inside ? { i, members: null } : boxes.same(last, focus()) ? null : last;
    draw();
    if (chosen === null || map.bring(last, false)) break;
  }
  if (inside) map.select(null);
  remember(isStep);
}

// Facts of anything; what is hardware is shown on the map, of what isn't its hardware is marked.
function open(i) {
  hits = new Set();
  if (graph.isHardware(i)) { reveal(i); return; }
  chosen = { i, members: null };
  const hardware = graph.hardwareOf(i);
  hits = new Set(hardware);
  if (hardware.length) { frame(hardware); return; }
  draw();
  remember(false);
}

// The map on the smallest box that holds all of these.
function frame(things) {
  const keep = chosen;
  let shared = [...graph.up(things[0]), things[0]];
  for (const i of things) {
    const chain = new Set([...graph.up(i), i]);
    shared = shared.filter((j) => chain.has(j));
  }
  // No nearer than a node: what stands beside is worth seeing.
  const node = shared.findIndex((j) => graph.type(j) === "node");
  if (node >= 0) shared.length = node + 1;
  while (shared.length && tally.stateOf(shared[shared.length - 1]) >= 0) shared.pop();
  hits = new Set(things);
  boxes.only.clear();
  zoomTo(shared.length ? boxes.pathTo(shared[shared.length - 1]) : [boxes.whole], keep);
}

function choose(box) {
  hits = new Set();
  const isFocus = boxes.same(box, focus());
  chosen = isFocus ? null : box;
  for (const element of dom.get("map").querySelectorAll("[data-hit]")) element.removeAttribute("data-hit");
  map.select(box);
  panel.show(box, isFocus);
  remember(false);
}

// The address says where the page stands, so that Back goes back and a link can be kept.
function remember(isStep) {
  const at = new URLSearchParams();
  const place = path.findLast((box) => !box.members);
  if (place) at.set("at", graph.ids[place.i]);
  if (chosen && !chosen.members) at.set("open", graph.ids[chosen.i]);
  const hash = `#${at}`;
  if (hash === (location.hash || "#")) return;
  try { history[isStep ? "pushState" : "replaceState"](null, "", hash); } catch { /* some browsers don't let a file do that */ }
}

function recall(otherwise = "") {
  const at = new URLSearchParams(location.hash.slice(1));
  const place = graph.find(at.get("at") ?? ""), thing = graph.find(at.get("open") ?? (at.has("at") ? "" : otherwise));
  hits = new Set(thing >= 0 ? graph.hardwareOf(thing) : []);
  path.splice(0, path.length, ...(place >= 0 && graph.isHardware(place) ? boxes.pathTo(place) : [boxes.whole]));
  chosen = null;
  if (thing >= 0 && !at.has("at") && graph.isHardware(thing)) { reveal(thing, false); return; }
  if (thing >= 0) chosen = { i: thing, members: null };
  draw();
  if (chosen) map.bring(chosen, false);
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select")) return;
  if (event.key === "/") search.focus();
  else if (event.key === "Escape" || event.key === "-") out();
  else if (event.key === "+" || event.key === "=") zoomIn();
  else if (event.key.startsWith("Arrow") && event.target === document.body) map.enter();
  else return;
  event.preventDefault();
}

function zoomIn() {
  if (chosen && (chosen.members || graph.isHardware(chosen.i)) && boxes.isOpen(chosen)) zoom(chosen);
  else if (chosen) open(chosen.i);
}

function begin() {
  const { headline, basis, only: states } = graph.about;
  dom.get("headline").textContent = headline ?? "";
  dom.get("basis").textContent = basis ?? "";
  if (headline) document.title = `${headline} · k8s-topo-mcp topology`;
  for (const name of states ?? []) boxes.only.add(name);

  const counting = dom.get("counting");
  const option = (kind) => make("option", { value: kind.value, text: `${kind.words} (${kind.many.toLocaleString("en")})` });
  counting.append(...tally.kinds.map(option));
  counting.addEventListener("change", () => { tally.choose(counting.value); draw(); });

  map.listen({ select: choose, zoom, enter: (box) => (chosen && boxes.same(chosen, box) ? zoom(box) : choose(box)) });
  panel.listen({ open, zoom, reveal, frame, find: search.ask });
  search.listen({ open });
  dom.get("zoom-in").addEventListener("click", zoomIn);
  dom.get("zoom-out").addEventListener("click", out);
  document.addEventListener("keydown", onKey);
  window.addEventListener("popstate", () => recall());
  recall(graph.about.open);
}

begin();
