// The map: boxes as elements, in the size that what is drawn leaves room for; pointer and keys.

const map = (() => {
  const host = dom.get("map");
  let drawn = []; // the box of each element, by data-box
  let does = null; // select(box), enter(box), zoom(box)

  const title = (box) => box.title ?? graph.name(box.i);

  function draw(focus, selected, hits) {
    const { root, isCut } = boxes.plan(focus);
    const marks = marked(selected, hits);
    drawn = [];
    const { cells, closed, longest } = measured(root);
    host.dataset.size = cells > 120 ? "small" : cells > 24 ? "medium" : "large";
    host.toggleAttribute("data-dense", closed > 60);
    // As wide as the names need, within reason: the end of a name is often what tells it from its neighbours.
    const least = closed > 60 ? 98 : 168;
    host.style.setProperty("--closed", `${Math.min(Math.max(least, 20 + 7.6 * longest), 210)}px`);
    host.replaceChildren(...(root.inner.length ? spread(root.inner, 1, marks) : [make("p", { class: "empty", text: empty() })]));
    const first = host.querySelector("[aria-selected=true]") ?? host.querySelector("[role=treeitem]");
    if (first) first.tabIndex = 0;
    return { drawn: drawn.length, isCut };
  }

  // How many accelerators and how many closed boxes a plan has, and how long the longest name of these is.
  function measured(root) {
    const found = { cells: 0, closed: 0, longest: 0 }, waiting = [...root.inner];
    while (waiting.length) {
      const { box, inner } = waiting.pop();
      if (inner) waiting.push(...inner);
      else if (isCell(box)) found.cells += isMinor(box.i) ? 0 : 1;
      else {
        found.closed++;
        found.longest = Math.max(found.longest, title(box).length);
      }
    }
    return found;
  }

  const empty = () => (boxes.only.size ? "Nothing here is in a state that is chosen above." : "No hardware in this graph.");
  const isMinor = (i) => graph.text(i, "role") !== "" && !tally.isAccelerator(i);
  const isCell = (box) => box.members === null && tally.stateOf(box.i) >= 0;

  // Which boxes are hit: the thing itself, and those that hide one.
  function marked(selected, hits) {
    const within = new Set();
    for (const i of hits) for (const above of graph.up(i)) within.add(above);
    return {
      selected,
      has: (box, isOpen) => {
        const hit = (i) => hits.has(i) || (!isOpen && within.has(i));
        return box.members ? !isOpen && box.members.some(hit) : hit(box.i);
      },
    };
  }

  const spread = (entries, level, marks) =>
    entries.map((entry) => (isCell(entry.box) ? cell(entry, level, marks) : group(entry, level, marks)));

  function item(entry, level, marks, given) {
    const { box } = entry, isOpen = entry.inner !== null;
    const isSelected = marks.selected !== null && boxes.same(marks.selected, box);
    drawn.push(box);
    return {
      role: "treeitem", tabindex: -1, "data-box": drawn.length - 1, "aria-level": level, "aria-selected": isSelected,
      "data-hit": marks.has(box, isOpen),
      ...given,
    };
  }

  function cell(entry, level, marks) {
    const i = entry.box.i, state = tally.states[tally.stateOf(i)];
    const kind = graph.text(i, "label"), isSmall = isMinor(i);
    const who = graph.linksOut(i).filter((link) => !graph.isHardware(link.other)).map((link) => graph.name(link.other));
    const holder = who.length ? who[0] + (who.length > 1 ? ` and ${who.length - 1} more` : "") : "";
    const said = [graph.name(i), kind, state.words, holder].filter(Boolean).join(", ");
    const size = host.dataset.size;
    return make("div",
      item(entry, level, marks, { class: isSmall ? "cell minor" : "cell", "data-state": state.name, "aria-label": said, title: said }),
      make("b", { class: "letter", text: state.letter }),
      size !== "small" && !(isSmall && size === "medium") ? make("span", { class: "name", text: graph.name(i) }) : null,
      size === "large" && kind ? make("span", { class: "kind", text: kind }) : null,
      size === "large" && holder ? make("span", { class: "holder", text: holder }) : null);
  }

  function group(entry, level, marks) {
    const { box, inner } = entry, counts = boxes.counts(box), words = tally.words(counts);
    const isFold = box.members !== null, isDense = host.hasAttribute("data-dense");
    const type = isFold ? box.type : graph.type(box.i), closed = isFold ? "" : graph.text(box.i, "closed");
    const what = !isFold ? typeWords(type) : box.isKind ? "" : many(box.members.length, typeWords(type));
    const said = [`${what} ${title(box)}`.trim(), closed, words].filter(Boolean).join(", ");
    const given = {
      class: inner ? "box open" : "box closed", "data-type": type, "aria-label": said, title: said,
      "aria-expanded": inner ? true : boxes.isOpen(box) ? false : null,
    };
    const head = make("div", { class: "head" },
      what ? make("span", { class: "type", text: what }) : null,
      make("span", { class: "name", text: title(box) }),
      closed ? make("span", { class: "closed", text: closed }) : null,
      inner ? make("span", { class: "sum", text: words }) : null);
    const element = make("div", item(entry, level, marks, given), head);
    if (inner) element.append(make("div", { class: "body", role: "group" }, ...spread(inner, level + 1, marks)));
    else element.append(bar(counts), make("div", { class: "sum", text: (isDense && tally.letters(counts)) || words || inside(box) }));
    return element;
  }

  // What a box without counted devices has to say for itself.
  function inside(box) {
    if (box.members) return "";
    const { i } = box, there = graph.facts(i).get("allocatable");
    if (typeof there === "number") return `${graph.facts(i).get("requested") ?? 0} of ${there} requested`;
    return graph.below(i).length ? many(graph.below(i).length, "part") : "no devices";
  }

  function bar(counts) {
    const sum = tally.total(counts);
    const element = make("div", { class: "bar", "aria-hidden": "true" });
    if (!sum) return element;
    // A few among many are still to be seen.
    const shares = Array.from(counts, (count) => (count ? Math.max(count / sum, 0.02) : 0)), all = shares.reduce((a, b) => a + b);
    let at = 0;
    const stops = tally.states.flatMap((state, k) => {
      if (!counts[k]) return [];
      const from = at;
      at += (100 * shares[k]) / all;
      return [`var(--${state.name}, var(--other)) ${from.toFixed(2)}% ${at.toFixed(2)}%`];
    });
    element.style.setProperty("background", `linear-gradient(to right, ${stops.join(", ")})`);
    return element;
  }

  const elementOf = (target) => target.closest?.("[data-box]");
  const boxOf = (element) => drawn[Number(element.dataset.box)];

  // The one element that the Tab key comes to.
  function offer(element) {
    for (const other of host.querySelectorAll("[tabindex='0']")) other.tabIndex = -1;
    element.tabIndex = 0;
  }

  function go(element) {
    if (!element) return;
    offer(element);
    element.focus({ preventScroll: true });
    element.scrollIntoView({ block: "nearest", inline: "nearest" });
    does.select(boxOf(element));
  }

  const enter = () => go(host.querySelector("[tabindex='0']"));

  function select(box) {
    let found = null;
    for (const element of host.querySelectorAll("[data-box]")) {
      const isIt = box !== null && boxes.same(boxOf(element), box);
      element.setAttribute("aria-selected", isIt);
      if (isIt) found = element;
    }
    return found;
  }

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const here = elementOf(event.target), all = [...host.querySelectorAll("[role=treeitem]")], at = all.indexOf(here);
    if (!here) {
      // Nothing in the map has been touched yet.
      if (event.key.startsWith("Arrow")) { enter(); event.preventDefault(); }
      return;
    }
    const moves = {
      ArrowDown: () => all[at + 1],
      ArrowUp: () => all[at - 1],
      ArrowRight: () => here.querySelector("[role=treeitem]") ?? all[at + 1],
      ArrowLeft: () => elementOf(here.parentElement) ?? all[at - 1],
      Home: () => all[0],
      End: () => all[all.length - 1],
    };
    if (moves[event.key]) go(moves[event.key]());
    else if (event.key === "Enter") does.enter(boxOf(here));
    else if (event.key === " ") does.select(boxOf(here));
    else return;
    event.preventDefault();
  }

  function listen(actions) {
    does = actions;
    host.addEventListener("click", (event) => {
      const element = elementOf(event.target);
      if (element) go(element);
    });
    host.addEventListener("dblclick", (event) => {
      const element = elementOf(event.target);
      if (element) does.zoom(boxOf(element));
    });
    host.addEventListener("keydown", onKey);
  }

  function bring(box, withFocus) {
    const element = select(box);
    if (!element) return false;
    offer(element);
    if (withFocus) element.focus({ preventScroll: true });
    element.scrollIntoView({ block: "center", inline: "nearest" });
    return true;
  }

  // Whether a thing is drawn as itself.
  const shows = (i) => drawn.some((box) => box.members === null && box.i === i);

  return { draw, listen, enter, select, bring, title, shows };
})();
