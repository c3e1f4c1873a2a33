// Search by name, or by what a thing says of itself (`state:zombie`, `phase:pending`, `type:claim`). Every word must be found.

const search = (() => {
  const field = dom.get("query"), sheet = dom.get("found"), list = dom.get("results"), said = dom.get("found-count");
  const MOST = 100;
  let names = null; // in lower case, made at the first search
  let facts = null;
  let shown = [], at = -1, does = null, timer = 0;

  function prepare() {
    names = Array.from({ length: graph.size }, (_, i) => graph.name(i).toLowerCase());
    const plain = (record) => [...record].filter(([, given]) => typeof given !== "object");
    facts = graph.records.map((record) => plain(record).map(([name, given]) => [name.toLowerCase(), String(given).toLowerCase()]));
  }

  // Each word as a test of a name and a test of a record; both by their own numbers, so a record is tested once.
  function tests(words) {
    return words.map((word) => {
      const [, key, wanted] = /^([a-z_-]+):(.*)$/.exec(word) ?? [];
      const fit = facts.map((pairs) => (key
        ? pairs.some(([name, given]) => name === key && given.startsWith(wanted))
        : pairs.some(([name, given]) => name !== "type" && given.includes(word))));
      return { word, isKey: Boolean(key), fit };
    });
  }

  function find(query) {
    if (!names) prepare();
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return { hits: [], all: 0 };
    const asked = tests(words), ranks = [[], [], [], [], []];
    let all = 0;
    for (let i = 0; i < graph.size; i++) {
      const name = names[i], record = graph.recordOf[i];
      let rank = 0;
      for (const { word, isKey, fit } of asked) {
        const one = isKey ? (fit[record] ? 0 : -1)
          : name === word ? 0 : name.startsWith(word) ? 1 : name.includes(word) ? 2
          : fit[record] ? 3 : word.includes("/") && graph.ids[i].toLowerCase().includes(word) ? 4 : -1;
        if (one < 0) { rank = -1; break; }
        rank = Math.max(rank, one);
      }
      if (rank < 0) continue;
      all++;
      if (ranks[rank].length < MOST) ranks[rank].push(i);
    }
    return { hits: ranks.flat().slice(0, MOST), all, words: asked.filter((one) => !one.isKey).map((one) => one.word) };
  }

  function highlighted(name, words) {
    const low = name.toLowerCase(), word = words.find((one) => low.includes(one));
    if (!word || low.length !== name.length) return [name];
    const from = low.indexOf(word);
    return [name.slice(0, from), make("mark", { text: name.slice(from, from + word.length) }), name.slice(from + word.length)];
  }

  function row(i, k, words) {
    const state = tally.states[tally.stateOf(i)], above = graph.up(i);
    const where = above.length ? above.slice(-3).map((j) => graph.name(j)).join(" › ") : graph.text(i, "phase");
    return make("li", { role: "option", id: `result-${k}`, "aria-selected": "false", "data-at": k, title: graph.ids[i] },
      make("span", { class: "type", text: typeWords(graph.type(i)) }),
      make("span", { class: "name" }, ...highlighted(graph.name(i), words)),
      state ? make("b", { class: "letter", "data-state": state.name, title: state.name, text: state.letter }) : null,
      make("span", { class: "where", text: where }));
  }

  function update() {
    const query = field.value.trim();
    clearTimeout(timer);
    timer = 0;
    list.setAttribute("aria-busy", "false");
    if (!query) { close(); return; }
    const { hits, all, words } = find(query);
    shown = hits;
    at = -1;
    const rest = all > hits.length ? `, the first ${hits.length} shown` : "";
    said.textContent = all ? `${all.toLocaleString("en")} found${rest}` : "Nothing found.";
    list.replaceChildren(...hits.map((i, k) => row(i, k, words)));
    sheet.hidden = false;
    field.setAttribute("aria-expanded", "true");
    if (hits.length) mark(0);
  }

  function mark(next) {
    list.children[at]?.setAttribute("aria-selected", "false");
    at = Math.max(0, Math.min(shown.length - 1, next));
    const element = list.children[at];
    if (!element) return;
    element.setAttribute("aria-selected", "true");
    element.scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", element.id);
  }

  function close() {
    clearTimeout(timer);
    timer = 0;
    sheet.hidden = true;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  }

  function choose(k) {
    if (!(k in shown)) return;
    const i = shown[k];
    close();
    field.blur();
    does.open(i);
    if (!document.activeElement?.closest("#map")) dom.get("map").focus({ preventScroll: true });
  }

  function onKey(event) {
    if (event.key === "ArrowDown") mark(at + 1);
    else if (event.key === "ArrowUp") mark(at - 1);
    else if (event.key === "Enter") { if (timer) update(); choose(at); }
    else if (event.key === "Escape") { if (sheet.hidden) field.blur(); field.value = ""; close(); }
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function listen(actions) {
    does = actions;
    field.addEventListener("input", () => {
      list.setAttribute("aria-busy", "true");
      clearTimeout(timer);
      timer = setTimeout(update, 60);
    });
    field.addEventListener("focus", () => { if (field.value.trim()) update(); });
    field.addEventListener("keydown", onKey);
    list.addEventListener("pointerdown", (event) => {
      const element = event.target.closest("[data-at]");
      if (element) { event.preventDefault(); choose(Number(element.dataset.at)); }
    });
    document.addEventListener("pointerdown", (event) => { if (!event.target.closest(".search")) close(); });
  }

  return {
    listen,
    ask(query) { field.value = query; field.focus(); update(); },
    focus() { field.focus(); field.select(); },
  };
})();
