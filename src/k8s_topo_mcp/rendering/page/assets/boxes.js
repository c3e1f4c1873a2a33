// What the map draws: boxes in boxes, as deep as there is room for. A box is a thing, or a fold of several that stand side by side.

const boxes = (() => {
  const ROOM = 1100; // boxes drawn at once
  const MANY = 100; // more than that side by side are folded
  const order = new Intl.Collator("en", { numeric: true });
  const only = new Set(); // states; a box without any of them isn't shown

  // Accelerators first, then what contains something, then other devices; by type, role and name.
  function inOrder(things) {
    if (things.length < 2) return [...things];
    const rank = (i) => (tally.stateOf(i) < 0 ? 1 : tally.isAccelerator(i) ? 0 : 2);
    const group = (i) => `${graph.type(i)} ${graph.text(i, "role")}`;
    const keyed = Array.from(things, (i) => ({ i, rank: rank(i), group: group(i), name: graph.name(i) }));
    keyed.sort((a, b) => a.rank - b.rank || order.compare(a.group, b.group) || order.compare(a.name, b.name));
    return keyed.map((one) => one.i);
  }

  const whole = { i: -1, members: inOrder(graph.top) };

  const sorted = new Map();
  function below(i) {
    if (!sorted.has(i)) sorted.set(i, inOrder(graph.below(i)));
    return sorted.get(i);
  }

  const members = (box) => box.members ?? below(box.i);
  const counts = (box) => (box.members ? tally.together(box.members) : tally.row(box.i));
  const wanted = (i) => {
    if (!only.size) return true;
    const row = tally.row(i);
    return tally.states.some((state, at) => row[at] && only.has(state.name));
  };

  // A word for what makes things alike: the shape of a node, the kind of a device.
  const alike = (i) => graph.text(i, "shape") || (graph.below(i).length ? "" : graph.text(i, "label"));

  function folded(i, list) {
    if (list.length <= MANY) return list.map((j) => ({ i: j, members: null }));
    const groups = new Map();
    for (const j of list) {
      const key = `${graph.type(j)}\n${alike(j)}`;
      if (groups.has(key)) groups.get(key).push(j);
      else groups.set(key, [j]);
    }
    const fold = (some, title, isKind) => ({ i, members: some, title, isKind, type: graph.type(some[0]) });
    if (groups.size > 1 && groups.size <= MANY) {
      return [...groups.values()].map((some) =>
        some.length > 1
          ? fold(some, `${some.length.toLocaleString("en")} × ${alike(some[0]) || typeWords(graph.type(some[0]))}`, true)
          : { i: some[0], members: null });
    }
    const runs = Math.min(MANY, Math.ceil(list.length / 50)), length = Math.ceil(list.length / runs), found = [];
    for (let at = 0; at < list.length; at += length) {
      const some = list.slice(at, at + length);
      found.push(fold(some, `${graph.name(some[0])} … ${graph.name(some[some.length - 1])}`, false));
    }
    return found;
  }

  const shown = (box) => folded(box.i, members(box).filter(wanted));

  // Level by level, all boxes of a level or none, so that what looks alike is alike.
  function plan(focus) {
    const root = { box: focus, inner: shown(focus).map((box) => ({ box, inner: null })) };
    let level = root.inner, drawn = level.length;
    while (level.length) {
      const next = [];
      const made = [];
      for (const entry of level) {
        const inner = isOpen(entry.box) ? shown(entry.box) : [];
        made.push(inner);
        if (drawn + next.length + inner.length > ROOM) return { root, drawn, isCut: true };
        for (const box of inner) next.push({ box, inner: null });
      }
      let at = 0;
      level.forEach((entry, k) => { entry.inner = made[k].length ? next.slice(at, (at += made[k].length)) : null; });
      drawn += next.length;
      level = next;
    }
    return { root, drawn, isCut: false };
  }

  // A device is a cell; what is inside it (partitions) stands in the panel.
  const isOpen = (box) => box.members !== null || (tally.stateOf(box.i) < 0 && graph.below(box.i).length > 0);

  const same = (a, b) => a.i === b.i && (a.members === null) === (b.members === null) && a.members?.[0] === b.members?.[0]
    && a.members?.length === b.members?.length;

  // The boxes that lead from the whole to a thing, folds included; the last one is the thing.
  function pathTo(i) {
    const path = [whole];
    for (const step of [...graph.up(i), i]) {
      for (let at = path[path.length - 1]; ;) {
        const next = shown(at).find((box) => (box.members ? box.members.includes(step) : box.i === step));
        if (!next) return path;
        path.push(next);
        if (!next.members) break;
        at = next;
      }
      if (tally.stateOf(step) >= 0) break;
    }
    return path;
  }

  return { whole, plan, pathTo, counts, members, isOpen, same, only };
})();
