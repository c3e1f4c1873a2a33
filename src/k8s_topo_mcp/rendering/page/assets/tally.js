// How many devices are in which state, for every thing of the map.

const tally = (() => {
  const LETTERS = { split: "P" };
  const states = [];
  for (const [name, words] of graph.about.states ?? []) {
    const taken = states.map((state) => state.letter);
    const letter = LETTERS[name] ?? [...name.toUpperCase()].find((char) => !taken.includes(char)) ?? "?";
    states.push({ name, words, letter });
  }
  const number = new Map(states.map((state, at) => [state.name, at]));
  const width = states.length;

  // What counts: a device that is in no other device, and what a device plugin says of a node (how many there are, how many are requested).
  const counted = [];
  const within = new Uint8Array(graph.size);
  const stateOf = (i) => number.get(graph.text(i, "state")) ?? -1;
  for (let i = 0; i < graph.size; i++) {
    const above = graph.parent[i];
    const inDevice = above >= 0 && (within[above] || stateOf(above) >= 0);
    if (inDevice) within[i] = 1;
    else if (graph.isHardware(i) && (stateOf(i) >= 0 || typeof graph.facts(i).get("allocatable") === "number")) counted.push(i);
  }
  const role = (i) => graph.text(i, "role");
  const isAccelerator = (i) => role(i) === "accelerator" || (role(i) === "device" && stateOf(i) >= 0);
  const label = (i) => graph.text(i, "label") || graph.name(i);
  const amount = (i) => (stateOf(i) >= 0 ? 1 : graph.facts(i).get("allocatable"));

  // What may be counted: accelerators if anything says which they are, everything, or one kind.
  const kinds = [];
  {
    const sums = new Map();
    let all = 0, accelerators = 0;
    for (const i of counted) {
      const many = amount(i);
      all += many;
      if (isAccelerator(i)) accelerators += many;
      sums.set(label(i), (sums.get(label(i)) ?? 0) + many);
    }
    const hasOthers = accelerators && accelerators < all;
    if (accelerators) kinds.push({ value: "accelerators", words: "accelerators", many: accelerators, has: isAccelerator });
    if (hasOthers || !accelerators) kinds.push({ value: "all", words: "all devices", many: all, has: () => true });
    const sorted = [...sums].sort((a, b) => b[1] - a[1]).slice(0, 40);
    for (const [name, many] of sorted) kinds.push({ value: `kind ${name}`, words: name, many, has: (i) => label(i) === name });
  }
  let kind = kinds[0];

  function put(i, counts, from) {
    const at = stateOf(i);
    if (at >= 0) { counts[from + at]++; return; }
    const there = graph.facts(i).get("allocatable"), taken = Math.min(there, graph.facts(i).get("requested") ?? 0);
    if (number.has("free")) counts[from + number.get("free")] += there - taken;
    if (number.has("held")) counts[from + number.get("held")] += taken;
  }

  const sums = new Int32Array(graph.size * width);
  function count() {
    sums.fill(0);
    for (const i of counted) {
      if (kind.has(i)) put(i, sums, i * width);
    }
    for (let i = graph.size - 1; i >= 0; i--) {
      const above = graph.parent[i];
      if (above >= 0) for (let at = 0; at < width; at++) sums[above * width + at] += sums[i * width + at];
    }
  }
  count();

  // By kind: the devices in some things, counted by state, the most numerous kind first. All of them, whatever is counted above.
  function byKind(things) {
    const found = new Map();
    const add = (i) => {
      const name = label(i);
      if (!found.has(name)) found.set(name, { label: name, counts: new Int32Array(width), isAccelerator: isAccelerator(i) });
      put(i, found.get(name).counts, 0);
    };
    for (const i of things) {
      let low = 0, high = counted.length;
      while (low < high) { const middle = (low + high) >> 1; if (counted[middle] < i) low = middle + 1; else high = middle; }
      for (; low < counted.length && counted[low] < graph.end(i); low++) add(counted[low]);
    }
    const sum = (entry) => entry.counts.reduce((all, one) => all + one, 0);
    return [...found.values()].sort((a, b) => b.isAccelerator - a.isAccelerator || sum(b) - sum(a));
  }

  const row = (i) => sums.subarray(i * width, (i + 1) * width);
  return {
    states, kinds, stateOf, isAccelerator,
    kind: () => kind,
    choose(value) { kind = kinds.find((entry) => entry.value === value) ?? kinds[0]; count(); },
    row, byKind,
    together(members) {
      const sum = new Int32Array(width);
      for (const i of members) { const one = row(i); for (let at = 0; at < width; at++) sum[at] += one[at]; }
      return sum;
    },
    total: (counts) => counts.reduce((sum, many) => sum + many, 0),
    letters: (counts) => states.flatMap((state, at) => (counts[at] ? [`${state.letter}${counts[at].toLocaleString("en")}`] : [])).join(" "),
    words(counts) {
      const said = states.flatMap((state, at) => (counts[at] ? [`${counts[at].toLocaleString("en")} ${state.name}`] : []));
      return said.join(" · ");
    },
  };
})();
