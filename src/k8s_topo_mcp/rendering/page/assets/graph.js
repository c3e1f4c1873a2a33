// The graph as packing.py wrote it, decoded once. A thing is a number; what contains it has a smaller one.

const graph = (() => {
  const raw = JSON.parse(document.getElementById("data").textContent);
  document.getElementById("data").remove();

  const records = raw.records.map((flat) => {
    const facts = new Map();
    for (let k = 0; k < flat.length; k += 2) facts.set(raw.words[flat[k]], raw.values[flat[k + 1]]);
    return facts;
  });
  const facts = (i) => records[raw.record[i]];
  const text = (i, name) => { const value = facts(i).get(name); return typeof value === "string" ? value : ""; };
  const type = (i) => text(i, "type");

  const size = raw.rest.length;
  const ids = new Array(size), parent = new Int32Array(size), before = new Map();
  for (let i = 0; i < size; i++) {
    const id = (before.get(type(i)) ?? "").slice(0, raw.shared[i]) + raw.rest[i];
    before.set(type(i), id);
    ids[i] = id;
    parent[i] = raw.up[i] ? i - raw.up[i] : -1;
  }

  // Children of each thing, and links from and to it, as slices of flat arrays.
  function sliced(keys, entries) {
    const start = new Int32Array(size + 1);
    for (const key of keys) if (key >= 0) start[key + 1]++;
    for (let i = 0; i < size; i++) start[i + 1] += start[i];
    const next = start.slice(), flat = new Int32Array(start[size]);
    keys.forEach((key, at) => { if (key >= 0) flat[next[key]++] = entries(at); });
    return (i) => flat.subarray(start[i], start[i + 1]);
  }
  const below = sliced(parent, (at) => at);
  const from = new Int32Array(raw.from.length), to = new Int32Array(raw.to.length);
  for (let at = 0, a = 0, b = 0; at < from.length; at++) {
    a += raw.from[at]; b += raw.to[at];
    from[at] = a; to[at] = b;
  }
  const leaving = sliced(from, (at) => at), arriving = sliced(to, (at) => at);
  const link = (at, other) => ({ other, facts: records[raw.as[at]] });

  // Its own name: what its id says after its type, without the names of what contains it.
  function name(i) {
    const id = ids[i], mark = `${type(i)}/`, at = id.lastIndexOf(`/${mark}`);
    if (at >= 0) return id.slice(at + mark.length + 1) || id;
    if (parent[i] >= 0) return id.slice(id.lastIndexOf("/") + 1) || id;
    return (id.startsWith(mark) ? id.slice(mark.length) : id) || "(no name)";
  }

  const up = (i) => { const chain = []; for (let at = parent[i]; at >= 0; at = parent[at]) chain.push(at); return chain.reverse(); };

  // Hardware is what contains devices or is a node, with everything in it; the map shows it. What else there is hangs on it by links.
  const hard = new Uint8Array(size), states = new Set((raw.about.states ?? []).map(([state]) => state));
  for (let i = size - 1; i >= 0; i--) {
    if (type(i) === "node" || states.has(text(i, "state")) || facts(i).has("allocatable")) hard[i] = 1;
    if (hard[i] && parent[i] >= 0) hard[parent[i]] = 1;
  }
  for (let i = 0; i < size; i++) if (parent[i] >= 0 && hard[parent[i]]) hard[i] = 1;
  const top = [];
  for (let i = 0; i < size; i++) if (parent[i] < 0 && hard[i]) top.push(i);

  // What is in a thing has the numbers behind it, up to its end.
  const end = new Int32Array(size);
  for (let i = size - 1; i >= 0; i--) {
    end[i] = Math.max(end[i], i + 1);
    if (parent[i] >= 0) end[parent[i]] = Math.max(end[parent[i]], end[i]);
  }

  const byId = new Map();
  for (let i = size - 1; i >= 0; i--) byId.set(ids[i], i);

  // The hardware behind a claim, a pod, a queue: what leads to it by links, or to something that it leads to. A type that was left isn't
  // entered again: from a claim to its pod is no way to the pod's other claims.
  function hardwareOf(i, most = 2000) {
    if (hard[i]) return [i];
    const found = new Set();
    function gather(starts) {
      const seen = new Set(starts), waiting = starts.map((start) => ({ at: start, left: new Set() }));
      while (waiting.length && found.size < most && seen.size < 20000) {
        const { at, left } = waiting.pop(), own = type(at);
        for (const entry of arriving(at)) {
          const other = from[entry];
          if (hard[other]) found.add(other);
          else if (!seen.has(other) && !left.has(type(other))) {
            seen.add(other);
            waiting.push({ at: other, left: type(other) === own ? left : new Set([...left, own]) });
          }
        }
      }
    }
    gather([i]);
    if (!found.size) gather(Array.from(leaving(i), (at) => to[at]).filter((other) => !hard[other]));
    if (!found.size) for (const at of leaving(i)) if (hard[to[at]]) found.add(to[at]);
    return [...found];
  }

  return {
    size, ids, parent, facts, text, type, name, up, below, top, hardwareOf,
    about: raw.about,
    records,
    recordOf: raw.record,
    isHardware: (i) => hard[i] === 1,
    end: (i) => end[i],
    find: (id) => byId.get(id) ?? -1,
    linksOut: (i) => Array.from(leaving(i), (at) => link(at, to[at])),
    linksIn: (i) => Array.from(arriving(i), (at) => link(at, from[at])),
    containedBy: (i) => records[raw.via[i]],
  };
})();

// A type as readers call it.
const typeWords = (type) => graph.about.types?.[type] ?? readable(type);
