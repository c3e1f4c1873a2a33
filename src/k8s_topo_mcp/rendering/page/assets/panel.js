// Facts of what is chosen, whatever attributes and links it has.

const panel = (() => {
  const host = dom.get("panel");
  const FEW = 12, MOST = 400, DEEP = 4; // links shown of one kind, added at once, followed
  const ROOM = 300; // things shown behind links
  let room = 0;
  let does = null; // open(i), zoom(box), reveal(i), frame(things), find(query)

  const thing = (i) => make("button", { type: "button", class: "thing", title: graph.ids[i], does: () => does.open(i) },
    make("span", { class: "type", text: typeWords(graph.type(i)) }), make("span", { class: "name", text: graph.name(i) }));

  function badge(i) {
    const at = tally.stateOf(i);
    if (at < 0) return null;
    return make("span", { class: "state" }, letter(tally.states[at]), make("span", { text: tally.states[at].words }));
  }

  function value(given) {
    if (Array.isArray(given)) return make("ul", {}, ...given.map((one) => make("li", {}, value(one))));
    if (given !== null && typeof given === "object") {
      return make("dl", {}, ...Object.entries(given).flatMap(([name, one]) => [make("dt", { text: name }), make("dd", {}, value(one))]));
    }
    return make("span", { text: plain(typeof given === "number" ? given.toLocaleString("en") : given) || "(empty)" });
  }
  const plain = (given) => (typeof given === "boolean" ? (given ? "yes" : "no") : String(given));

  const section = (heading, ...inside) => make("section", {}, make("h3", { text: heading }), ...inside);

  function facts(i) {
    const rows = [];
    for (const [name, given] of graph.facts(i)) {
      if (name === "type" || name === "state") continue;
      rows.push(make("dt", { text: readable(name) }), make("dd", {}, value(given)));
    }
    for (const [name, given] of graph.parent[i] >= 0 ? graph.containedBy(i) : []) {
      rows.push(make("dt", { text: name === "by" ? "placed by" : readable(name) }), make("dd", {}, value(given)));
    }
    return rows.length ? make("dl", { class: "facts" }, ...rows) : null;
  }

  const brief = (link) => {
    const state = tally.stateOf(link.other);
    const said = state >= 0 ? [tally.states[state].name] : [];
    for (const source of [link.facts, graph.facts(link.other)]) {
      for (const [name, given] of source) {
        if (["type", "kind", "state", "label", "role", "driver"].includes(name) || typeof given === "object" || said.length > 2) continue;
        said.push(`${readable(name)} ${plain(given)}`);
      }
    }
    return said.join(" · ");
  };

  // Links in one direction, and those behind them: device, claim, pod, owner.
  function chain(i, direction, deep, seen) {
    const groups = new Map();
    for (const link of direction === "out" ? graph.linksOut(i) : graph.linksIn(i)) {
      if (seen.has(link.other)) continue;
      const kind = link.facts.get("kind") ?? "link";
      if (groups.has(kind)) groups.get(kind).push(link);
      else groups.set(kind, [link]);
    }
    return [...groups].map(([kind, links]) => {
      const list = make("ul", { class: "links" });
      const add = (from, to) => {
        for (const link of links.slice(from, to)) {
          const isEnd = deep <= 1 || --room <= 0 || graph.isHardware(link.other);
          const further = isEnd ? [] : chain(link.other, direction, deep - 1, new Set([...seen, link.other]));
          const said = brief(link);
          list.append(make("li", {}, thing(link.other), said ? make("span", { class: "brief", text: said }) : null, ...further));
        }
        if (links.length > to) {
          const more = make("button", { type: "button", class: "more", text: `${(links.length - to).toLocaleString("en")} more` });
          more.addEventListener("click", () => { more.parentElement.remove(); add(to, Math.min(links.length, to + MOST)); });
          list.append(make("li", {}, more));
        }
      };
      add(0, deep === DEEP ? FEW : 4);
      const by = direction === "out" ? `${readable(kind)} →` : `← ${readable(kind)}`;
      return make("div", { class: "chain" }, make("span", { class: "by", text: by }), list);
    });
  }

  function links(i) {
    room = ROOM;
    const out = chain(i, "out", DEEP, new Set([i])), into = chain(i, "in", DEEP, new Set([i]));
    return [out.length ? section("Leads to", ...out) : null, into.length ? section("Leads here", ...into) : null];
  }

  const letter = (state) => make("b", { class: "letter", "data-state": state.name, text: state.letter });

  // Devices in it by kind and state.
  function devices(box) {
    const rows = tally.byKind(box.members ?? [box.i]).slice(0, 30);
    if (!rows.length) return null;
    const used = tally.states.map((state, at) => ({ state, at })).filter(({ at }) => rows.some((row) => row.counts[at]));
    const number = (count) => make("td", { text: count ? count.toLocaleString("en") : "" });
    const heads = used.map(({ state }) =>
      make("th", { scope: "col", title: state.words }, letter(state), make("span", { class: "sr", text: state.name })));
    return section("Devices", make("table", {},
      make("thead", {}, make("tr", {}, make("th", { scope: "col", text: "kind" }), ...heads, make("th", { scope: "col", text: "all" }))),
      make("tbody", {}, ...rows.map((row) => make("tr", {},
        make("th", { scope: "row", text: row.label }), ...used.map(({ at }) => number(row.counts[at])), number(tally.total(row.counts)))))));
  }

  function listed(heading, members) {
    if (!members.length) return null;
    const list = make("ul", { class: "links" }, ...members.slice(0, FEW).map((j) => make("li", {}, thing(j), badge(j))));
    const rest = members.length - FEW;
    if (rest > 0) list.append(make("li", { class: "brief", text: `and ${rest.toLocaleString("en")} more` }));
    return section(heading, list);
  }

  // What the graph holds, by type; a type opens the search on it.
  function types() {
    const sums = new Map();
    for (const isFirst of [true, false]) {
      for (let i = 0; i < graph.size; i++) {
        if (graph.isHardware(i) === isFirst) sums.set(graph.type(i), (sums.get(graph.type(i)) ?? 0) + 1);
      }
    }
    return section("In this graph", make("ul", { class: "types" }, ...[...sums].map(([type, sum]) =>
      make("li", {}, make("button", { type: "button", does: () => does.find(`type:${type} `) },
        make("span", { class: "name", text: typeWords(type) }), make("span", { class: "sum", text: sum.toLocaleString("en") }))))));
  }

  const notes = () => {
    const given = graph.about.notes ?? [];
    return given.length ? section("Not known", make("ul", { class: "notes" }, ...given.map((note) => make("li", { text: note })))) : null;
  };

  const hint = () => make("p", {
    class: "hint",
    text: "Click for facts, double-click or Enter to zoom in, Esc to zoom out, arrows to move, / to search.",
  });

  function show(box, isFocus) {
    const { i } = box;
    if (box === boxes.whole) {
      host.replaceChildren(make("h2", { text: "Whole graph" }), ...[devices(box), types(), notes(), hint()].filter(Boolean));
      return;
    }
    const isFold = box.members !== null, isHardware = isFold || graph.isHardware(i), isDevice = !isFold && tally.stateOf(i) >= 0;
    const above = i < 0 ? [] : isFold ? [...graph.up(i), i] : graph.up(i);
    const hardware = isHardware ? [] : graph.hardwareOf(i);
    const button = (text, action) => make("button", { type: "button", text, does: action });
    host.replaceChildren(...[
      make("p", { class: "type", text: isFold ? many(box.members.length, typeWords(box.type)) : typeWords(graph.type(i)) }),
      make("h2", { text: map.title(box) }),
      isDevice ? badge(i) : null,
      make("div", { class: "does" },
        isHardware && !isFocus && boxes.isOpen(box) ? button("Zoom in", () => does.zoom(box)) : null,
        hardware.length ? button(`Show on the map what it holds (${hardware.length.toLocaleString("en")})`, () => does.frame(hardware)) : null,
        !isFold && isHardware && !isFocus && !map.shows(i) ? button("Show on the map", () => does.reveal(i)) : null),
      ...(isFold ? [] : [facts(i), ...links(i)]),
      isHardware && !isDevice ? devices(box) : null,
      isDevice ? listed("Inside", [...graph.below(i)]) : null,
      above.length ? section("Stands in", make("ul", { class: "links" }, ...above.map((j) => make("li", {}, thing(j))))) : null,
      isFold ? null : section("Scope", make("code", { text: graph.ids[i] })),
    ].filter(Boolean));
    host.scrollTop = 0;
  }

  return { show, listen: (actions) => { does = actions; } };
})();
