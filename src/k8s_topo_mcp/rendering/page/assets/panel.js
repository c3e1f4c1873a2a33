// Facts of what is chosen, whatever attributes and links it has.

const panel = (() => {
  const host = dom.get("panel");
  const FEW = 12, MOST = 400, DEEP = 4;
  let does = null; // open(i), zoom(box), find(query)

  const thing = (i) => make("button", { type: "button", class: "thing", title: graph.ids[i], does: () => does.open(i) },
    make("span", { class: "type", text: typeWords(graph.type(i)) }), make("span", { class: "name", text: graph.name(i) }));

  function badge(i) {
    const at = tally.stateOf(i);
    if (at < 0) return null;
    return make("span", { class: "state" }, make("b", { class: "letter", "data-state": tally.states[at].name, text: tally.states[at].letter }),
      make("span", { text: tally.states[at].words }));
  }

  function value(given) {
    if (Array.isArray(given)) return make("ul", {}, ...given.map((one) => make("li", {}, value(one))));
    if (given !== null && typeof given === "object") {
      return make("dl", {}, ...Object.entries(given).flatMap(([name, one]) => [make("dt", { text: name }), make("dd", {}, value(one))]));
    }
    const said = typeof given === "number" ? given.toLocaleString("en") : typeof given === "boolean" ? (given ? "yes" : "no") : String(given);
    return make("span", { text: said === "" ? "(empty)" : said });
  }

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
        said.push(`${readable(name)} ${typeof given === "boolean" ? (given ? "yes" : "no") : given}`);
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
          const further = deep > 1 && !graph.isHardware(link.other) ? chain(link.other, direction, deep - 1, new Set([...seen, link.other])) : [];
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
      return make("div", { class: "chain" }, make("span", { class: "by", text: direction === "out" ? `${readable(kind)} →` : `← ${readable(kind)}` }), list);
    });
  }

  function links(i) {
    const out = chain(i, "out", DEEP, new Set([i])), into = chain(i, "in", DEEP, new Set([i]));
    return [out.length ? section("Leads to", ...out) : null, into.length ? section("Leads here", ...into) : null];
  }

  // Devices in it by kind and state.
  function devices(box) {
    const rows = tally.byKind(box.members ?? [box.i]);
    if (!rows.length) return null;
    const used = tally.states.filter((state, at) => rows.some((row) => row.counts[at]));
    return section("Devices", make("table", {},
      make("thead", {}, make("tr", {}, make("th", { scope: "col", text: "kind" }),
        ...used.map((state) => make("th", { scope: "col", title: state.words }, make("b", { class: "letter", "data-state": state.name, text: state.letter }),
          make("span", { class: "sr", text: state.name }))), make("th", { scope: "col", text: "all" }))),
      make("tbody", {}, ...rows.slice(0, 30).map((row) => make("tr", {}, make("th", { scope: "row", text: row.label }),
        ...used.map((state) => { const there = row.counts[tally.states.indexOf(state)]; return make("td", { text: there ? there.toLocaleString("en") : "" }); }),
        make("td", { text: tally.total(row.counts).toLocaleString("en") }))))));
  }

  function listed(heading, members) {
    if (!members.length) return null;
    const list = make("ul", { class: "links" }, ...members.slice(0, FEW).map((j) => make("li", {}, thing(j), badge(j))));
    if (members.length > FEW) list.append(make("li", { class: "brief", text: `and ${(members.length - FEW).toLocaleString("en")} more` }));
    return section(heading, list);
  }

  // What the graph holds, by type; a type opens the search on it.
  function types() {
    const sums = new Map();
    for (let i = 0; i < graph.size; i++) sums.set(graph.type(i), (sums.get(graph.type(i)) ?? 0) + 1);
    return section("In this graph", make("ul", { class: "types" }, ...[...sums].map(([type, sum]) =>
      make("li", {}, make("button", { type: "button", does: () => does.find(`type:${type} `) },
        make("span", { class: "name", text: typeWords(type) }), make("span", { class: "sum", text: sum.toLocaleString("en") }))))));
  }

  const notes = () => {
    const given = graph.about.notes ?? [];
    return given.length ? section("Not known", make("ul", { class: "notes" }, ...given.map((note) => make("li", { text: note })))) : null;
  };

  const hint = () => make("p", { class: "hint", text: "Click for facts, double-click or Enter to zoom in, Esc to zoom out, arrows to move, / to search." });

  function show(box, isFocus) {
    const { i } = box;
    if (i < 0) {
      host.replaceChildren(make("h2", { text: "Whole graph" }), ...[devices(box), types(), notes(), hint()].filter(Boolean));
      return;
    }
    const isFold = box.members !== null;
    const above = graph.up(i);
    if (isFold) above.push(i);
    const canZoom = graph.isHardware(i) && !isFocus && boxes.isOpen(box);
    const canShow = !isFold && !graph.isHardware(i);
    const hardware = canShow ? graph.hardwareOf(i) : [];
    host.replaceChildren(...[
      make("p", { class: "type", text: isFold ? many(box.members.length, typeWords(box.type)) : typeWords(graph.type(i)) }),
      make("h2", { text: map.title(box) }),
      isFold ? null : badge(i),
      make("div", { class: "does" },
        canZoom ? make("button", { type: "button", text: "Zoom in", does: () => does.zoom(box) }) : null,
        canShow && hardware.length ? make("button", { type: "button", text: `Show its hardware on the map (${hardware.length.toLocaleString("en")})`, does: () => does.frame(hardware) }) : null,
        graph.isHardware(i) && !isFold && !isFocus && !map.shows(i) ? make("button", { type: "button", text: "Show on the map", does: () => does.reveal(i) }) : null),
      isFold ? null : facts(i),
      ...(isFold ? [] : links(i)),
      graph.isHardware(i) && tally.stateOf(i) < 0 ? devices(box) : null,
      tally.stateOf(i) >= 0 ? listed("Inside", [...graph.below(i)]) : null,
      above.length ? section("Stands in", make("ul", { class: "links" }, ...above.map((j) => make("li", {}, thing(j))))) : null,
      isFold ? null : section("Scope", make("code", { text: graph.ids[i] })),
    ].filter(Boolean));
    host.scrollTop = 0;
  }

  return { show, listen: (actions) => { does = actions; } };
})();
