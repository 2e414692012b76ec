"use strict";
(() => {
  const element = (id) => document.getElementById(id);
  const data = JSON.parse(element("data").textContent);
  const { rows, visits, lanes, holdings } = data;
  const HEIGHT = 24, WIDE = lanes.length > 5 ? 54 : 66, FOLD_FROM = 80, CHAT_ROWS = 200;
  const SIGNS = { good: "✓", bad: "✗", fault: "!" };
  const make = (tag, content, css) => {
    const made = document.createElement(tag);
    if (content !== undefined) made.textContent = content;
    if (css) made.className = css;
    return made;
  };
  const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

  // --- what is true at which row --------------------------------------------------------------------------------

  const alone = (row, style) => row.w.some((arrow) => arrow[2] === style);
  // For each row the processes that are down; one that was never seen counts as down, too.
  const processes = lanes.map(([name]) => name).filter((name) => ["host", "worker", "zombie"].includes(name));
  const down = [];
  let dead = new Set(processes);
  for (const row of rows) {
    if (row.y === "lease_lost") dead = new Set([...dead].filter((name) => name !== "zombie"));
    for (const name of [...dead])
      if (row.w.some(([from, to, style]) => from === name && style !== "dies" && style !== "rings"))
        dead = new Set([...dead].filter((other) => other !== name));
    down.push(dead);
    for (const [from, to, style] of row.w) if (style === "dies") dead = new Set([...dead, from]);
  }
  const matters = rows.map((row) => ["fault", "bad"].includes(row.m));
  for (const [at] of data.breaks) if (at < rows.length) matters[at] = true;
  const visitOf = new Array(rows.length).fill(-1);
  visits.forEach(([first, last], number) => visitOf.fill(number, first, last + 1));
  const nodes = [];
  let here = null;
  for (const row of rows) {
    if (row.y === "node_started") here = row.n;
    nodes.push(here);
  }
  const at = (values, place) => {
    let low = 0, high = values.length - 1;
    if (!values.length || values[0][0] > place) return -1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (values[middle][0] <= place) low = middle;
      else high = middle - 1;
    }
    return low;
  };

  // --- the rows -------------------------------------------------------------------------------------------------

  const scroller = element("rows"), canvas = element("canvas"), slider = element("slider");
  const open = new Set();
  let now = 0, list = [], placeOf = [], hits = [], words = [];
  const lane = Object.fromEntries(lanes.map(([name], number) => [name, WIDE / 2 + number * WIDE]));

  const arrange = () => {
    list = [];
    placeOf = new Array(rows.length).fill(0);
    const broken = new Map();
    data.breaks.forEach(([row], number) => broken.set(row, [...(broken.get(row) ?? []), number]));
    for (let row = 0; row < rows.length; row += 1) {
      const visit = visitOf[row];
      if (visit >= 0 && visits[visit][0] === row) list.push({ visit });
      if (visit >= 0 && !open.has(visit)) placeOf[row] = list.length - 1;
      else {
        placeOf[row] = list.length;
        list.push({ row });
      }
      for (const number of broken.get(row) ?? []) list.push({ broken: number });
    }
    if (!rows.length) data.breaks.forEach((_, number) => list.push({ broken: number }));
    canvas.style.height = `${list.length * HEIGHT}px`;
    element("fold").textContent = open.size ? "Fold" : "Unfold";
    element("fold").disabled = !visits.length;
  };

  const line = (x1, y1, x2, y2, css) => `<path class="${css}" d="M${x1},${y1}L${x2},${y2}"/>`;
  const cross = (x, y, css) => line(x - 5, y - 5, x + 5, y + 5, css) + line(x - 5, y + 5, x + 5, y - 5, css);
  const mark = (x, style) => {
    if (style === "dies") return cross(x, 12, "ink dies");
    if (style === "again") return `<circle class="ink again" cx="${x}" cy="12" r="5"/><text x="${x + 9}" y="15">×2</text>`;
    if (style === "lives" || style === "rings") return `<circle class="ink ${style}" cx="${x}" cy="12" r="5"/>`;
    return `<circle class="head" cx="${x}" cy="12" r="2.6"/>`;
  };
  const arrowSvg = ([from, to, style], y = 12) => {
    const x1 = lane[from], x2 = lane[to];
    if (x1 === undefined || x2 === undefined) return "";
    if (x1 === x2) return mark(x1, style);
    const way = Math.sign(x2 - x1), stop = style === "lost" || style === "torn" ? x2 - way * 15 : x2 - way * 2;
    const drawn = line(x1, y, stop - way * 5, y, `ink line ${style}`);
    if (style === "lost" || style === "torn") return drawn + cross(stop, y, `ink ${style}`);
    const head = `<path class="head ${style}" d="M${stop},${y}L${stop - way * 8},${y - 4}L${stop - way * 8},${y + 4}Z"/>`;
    const said = style === "again" ? `<text x="${(x1 + x2) / 2 - 7}" y="${y - 4}">×2</text>` : "";
    const seal = style === "writes" ? `<rect class="head writes" x="${x2 - 3}" y="${y - 3}" width="6" height="6"/>` : "";
    return drawn + head + said + seal;
  };
  const arrowsSvg = (row) => {
    const long = row.w.filter(([from, to]) => from !== to).map(([from, to]) => [lane[from], lane[to]].sort((a, b) => a - b));
    // Two arrows over the same lanes go one below the other.
    const crowded = long.length > 1 && long[0][0] < long[1][1] && long[1][0] < long[0][1];
    return row.w.map((arrow, number) => arrowSvg(arrow, crowded && arrow[0] !== arrow[1] ? [7, 17][number] ?? 12 : 12)).join("");
  };
  const lives = (row, last = row) => lanes.map(([name, durable]) => {
    const gone = down[row].has(name) || down[last].has(name);
    return line(lane[name], 0, lane[name], HEIGHT, `life${durable ? " durable" : ""}${gone ? " down" : ""}`);
  }).join("");
  const svg = (inside) => {
    const made = make("span");
    made.innerHTML = `<svg width="${lanes.length * WIDE}" height="${HEIGHT}" aria-hidden="true">${inside}</svg>`;
    return made.firstChild;
  };

  const drawRow = (number) => {
    const row = rows[number], dies = alone(row, "dies");
    const made = make("div", undefined, `row ${row.m ?? ""}${dies ? " dies" : ""}`);
    if (number === now) made.classList.add("now");
    if (number > now) made.classList.add("later");
    if (hits.length && fits(number)) made.classList.add("hit");
    made.title = `${row.k}\n${row.x}`;
    made.dataset.row = number;
    const name = make("span", undefined, "name");
    const [kind, node = row.n] = row.k.split(" · ");
    name.append(kind);
    if (node !== undefined) {
      const place = data.places[node];
      const linked = make(place ? "button" : "span", node, place ? "link" : "muted");
      if (place) {
        linked.tabIndex = -1;
        linked.title = `${place[0]}:${place[1]}`;
        linked.onclick = (event) => { event.stopPropagation(); go(number); show("source"); reveal(place); };
      }
      name.append(" · ", linked);
    }
    made.append(make("span", row.t, "when"), svg(lives(number) + arrowsSvg(row)),
      make("span", SIGNS[row.m] ?? "", "sign"), name, make("span", row.x, "told"));
    made.onclick = () => go(number);
    return made;
  };
  const drawVisit = (number) => {
    const [first, last, node, told] = visits[number], opened = open.has(number);
    const made = make("div", undefined, "row visit good");
    if (!opened && now >= first && now <= last) made.classList.add("now");
    if (first > now) made.classList.add("later");
    made.title = `${node}\n${told}\n${last - first + 1} rows`;
    const x = lane.host;
    const body = opened ? "" : `<rect class="head" x="${x - 5}" y="4" width="10" height="16" rx="3"/>`;
    made.append(make("span", rows[opened ? first : last].t, "when"), svg(lives(first, last) + body),
      make("span", opened ? "▾" : "▸", "sign"), make("span", node, "name"), make("span", told, "told"));
    made.onclick = () => {
      if (opened) open.delete(number);
      else open.add(number);
      arrange();
      if (now < first || now > last) go(last);
      else draw();
    };
    return made;
  };
  const drawBreak = (number) => {
    const [, said, where] = data.breaks[number];
    const made = make("div", undefined, "row break");
    made.title = said;
    made.append(make("span", "✗", "when"), make("span", where ? `${said}  (${where})` : said, "told"));
    return made;
  };
  const draw = () => {
    const first = Math.max(0, Math.floor(scroller.scrollTop / HEIGHT) - 8);
    const last = Math.min(list.length, first + Math.ceil(scroller.clientHeight / HEIGHT) + 16);
    const made = [];
    for (let place = first; place < last; place += 1) {
      const entry = list[place];
      const row = "row" in entry ? drawRow(entry.row)
        : "visit" in entry ? drawVisit(entry.visit) : drawBreak(entry.broken);
      row.style.top = `${place * HEIGHT}px`;
      row.setAttribute("role", "listitem");
      made.push(row);
    }
    canvas.replaceChildren(...made);
  };

  // --- the panes ------------------------------------------------------------------------------------------------

  const panes = { state: () => tellState(), event: () => tellEvent(), graph: () => tellGraph(), chat: () => tellChat(),
    source: () => tellSource() };
  const groups = [["state", "event"], ["graph", "chat", "source"]];
  const shown = new Set(["state", "graph"]);
  const show = (name) => {
    for (const group of groups) if (group.includes(name)) for (const other of group) shown.delete(other);
    shown.add(name);
    for (const tab of document.querySelectorAll("[role=tab]"))
      tab.setAttribute("aria-selected", String(shown.has(tab.dataset.pane)));
    for (const pane of Object.keys(panes)) element(pane).classList.toggle("open", shown.has(pane));
    document.querySelector(".zoom").hidden = !shown.has("graph");
    panes[name]();
  };

  const tellState = () => {
    const columns = [["Volatile", "a crash forgets it", false], ["Durable", "outlives every process", true]];
    const parts = columns.map(([title, note, durable]) => {
      const column = make("div", undefined, durable ? "durable" : "volatile");
      const heading = make("h2", `${title} `);
      heading.append(make("small", note));
      column.append(heading);
      for (const [process] of lanes) {
        const found = holdings.filter((held) => held[0] === process && held[1] === durable);
        if (!found.length) continue;
        const list = make("dl");
        for (const [, , name, values] of found) {
          const place = at(values, now);
          const said = place < 0 ? "" : values[place][1];
          const fresh = place > 0 && values[place][0] === now;
          if (!said && !fresh) continue;
          list.append(make("dt", name), make("dd", said || "—", fresh ? "fresh" : ""));
        }
        column.append(make("h3", process));
        column.append(list.childElementCount ? list : make("p", "nothing", "muted"));
      }
      return column;
    });
    element("state").replaceChildren(...parts);
  };

  const tellEvent = () => {
    const row = rows[now];
    if (!row) return;
    const parts = [make("h2", row.k), make("p", row.x)];
    const facts = make("dl");
    const fact = (name, value) => { if (value) facts.append(make("dt", name), value instanceof Node ? value : make("dd", value)); };
    fact("time", row.t);
    fact("process", row.p ?? row.w.map(([from, to]) => (from === to ? from : `${from} → ${to}`)).join(", "));
    fact("line", row.q ? String(row.q) : "leaves no line in the trace");
    fact("attempt", row.a);
    const place = row.n && data.places[row.n];
    if (place) {
      const value = make("dd"), button = make("button", `${place[0]}:${place[1]}`, "link");
      button.onclick = () => { show("source"); reveal(place); };
      value.append(button);
      fact("source", value);
    }
    if (row.c?.length) {
      const value = make("dd");
      for (const cause of row.c) {
        const target = rows.findIndex((other) => other.q === cause);
        if (target < 0) continue;
        const button = make("button", `${cause} ${rows[target].k}`, "link");
        button.onclick = () => go(target);
        value.append(button, make("br"));
      }
      fact("because of", value);
    }
    parts.push(facts);
    for (const [name, value] of Object.entries(row.j ?? {}))
      parts.push(make("h3", name), make("pre", typeof value === "string" ? value : JSON.stringify(value, null, 2)));
    element("event").replaceChildren(...parts);
  };

  const picture = element("graph").querySelector("svg");
  const boxes = new Map(), arrows = [];
  if (picture) {
    for (const group of picture.querySelectorAll("g[data-id]")) boxes.set(group.dataset.id, group);
    for (const group of picture.querySelectorAll("g.arrow"))
      arrows.push([group, (group.dataset.keys ?? "").split("\n").map((key) =>
        (group.classList.contains("limit") ? `${key} then` : key))]);
  }
  const boxOf = (node) => {
    for (let name = node; name; name = name.includes("/") ? name.slice(0, name.lastIndexOf("/")) : "")
      if (boxes.has(name)) return boxes.get(name);
    return undefined;
  };
  const size = picture ? [Number(picture.getAttribute("width")), Number(picture.getAttribute("height"))] : [1, 1];
  let scale = 0;
  const zoom = (factor) => {
    if (!picture) return;
    const room = element("graph").getBoundingClientRect();
    if (!scale && room.width)
      scale = clamp(Math.min((room.width - 18) / size[0], (room.height - 6) / size[1]), 0.55, 1);
    scale = clamp((scale || 0.8) * factor, 0.15, 3);
    picture.setAttribute("width", size[0] * scale);
    picture.setAttribute("height", size[1] * scale);
  };
  const into = (outer, inner) => {
    const a = outer.getBoundingClientRect(), b = inner.getBoundingClientRect();
    if (b.top < a.top || b.bottom > a.bottom) outer.scrollTop += b.top + b.height / 2 - a.top - a.height / 2;
    if (b.left < a.left || b.right > a.right) outer.scrollLeft += b.left + b.width / 2 - a.left - a.width / 2;
  };
  const tellGraph = () => {
    if (!picture) return;
    if (!scale) zoom(1);
    const taken = new Set(), passed = new Set([boxes.get("start")]), failed = new Set();
    let last = null;
    for (let row = 0; row <= now && row < rows.length; row += 1) {
      const { y, n, j } = rows[row];
      if (typeof j?.via === "string") taken.add(last = j.via);
      if (y === "node_started") { passed.add(boxOf(n)); failed.delete(boxOf(n)); }
      if (y === "node_failed") failed.add(boxOf(n));
      if (y === "include_entered") passed.add(boxOf(j.mountPath));
      if (y === "run_completed") passed.add(boxes.get(`exit/${j.exit}`));
    }
    const ended = rows[now]?.y === "run_completed";
    const current = ended ? boxes.get(`exit/${rows[now].j.exit}`) : nodes[now] ? boxOf(nodes[now]) : boxes.get("start");
    for (const [id, group] of boxes) {
      group.classList.toggle("passed", passed.has(group) || id === "");
      group.classList.toggle("failed", failed.has(group));
      group.classList.toggle("now", group === current);
    }
    for (const [group, keys] of arrows) {
      group.classList.toggle("passed", keys.some((key) => taken.has(key)));
      group.classList.toggle("now", keys.includes(last));
    }
    if (current) into(element("graph"), current);
  };
  element("graph").onclick = (event) => {
    const group = event.target.closest?.("g[data-id]");
    const place = group && data.places[group.dataset.id];
    if (place) { show("source"); reveal(place); }
  };

  const NOTES = { streaming: "is being written", queued: "waits", length: "cut by its length", error: "ended with an error",
    aborted: "aborted" };
  const tellChat = () => {
    const pane = element("chat"), seen = data.chat.filter(([, , , , first, last]) => first <= now && (last === null || now < last));
    const made = seen.filter(([role, text, , state]) => role !== "assistant" || text || state !== "toolUse").slice(-CHAT_ROWS).map(([role, text, note, state]) => {
      if (role === "step") {
        const card = make("details");
        card.append(make("summary", note), make("pre", text));
        return card;
      }
      const bubble = make("p", text, `${role} ${state}`);
      const said = { tool: `⚙ ${note}`, notice: "notification", asked: "a person is asked" }[role];
      const below = [said, NOTES[state]].filter(Boolean).join(", ");
      if (below) bubble.append(make("small", below));
      return bubble;
    });
    if (seen.length > CHAT_ROWS) made.unshift(make("div", `${seen.length - CHAT_ROWS} earlier rows`, "muted"));
    if (!made.length) made.push(make("div", down[now]?.has("host") ? "Nothing is shown: the host is down." : "Nothing was said yet.", "muted"));
    pane.replaceChildren(...made);
    pane.scrollTop = pane.scrollHeight;
  };

  const chooser = element("file"), code = element("text");
  let opened = null;
  for (const name of Object.keys(data.files)) chooser.append(make("option", name));
  chooser.hidden = Object.keys(data.files).length < 2;
  const openFile = (name) => {
    if (opened === name || !(name in data.files)) return;
    opened = chooser.value = name;
    code.replaceChildren(...data.files[name].replace(/\n$/, "").split("\n").map((text, number) => {
      const made = make("span", `${text}\n`, "line");
      made.dataset.n = number + 1;
      return made;
    }));
  };
  const reveal = ([file, number]) => {
    openFile(file);
    for (const other of code.querySelectorAll(".now")) other.classList.remove("now");
    const target = code.children[number - 1];
    if (!target) return;
    target.classList.add("now");
    const pane = element("source");
    pane.scrollTop += target.getBoundingClientRect().top - pane.getBoundingClientRect().top - pane.clientHeight / 3;
  };
  const tellSource = () => {
    const place = data.places[rows[now]?.n ?? nodes[now] ?? "start"];
    if (place) reveal(place);
    else if (!Object.keys(data.files).length) code.textContent = "The text of the workflow is not at hand.";
  };
  chooser.onchange = () => openFile(chooser.value);

  // --- moving ---------------------------------------------------------------------------------------------------

  const go = (row) => {
    now = clamp(row, 0, Math.max(rows.length - 1, 0));
    slider.value = now;
    const top = placeOf[now] * HEIGHT, room = scroller.clientHeight;
    if (top < scroller.scrollTop + HEIGHT || top > scroller.scrollTop + room - 3 * HEIGHT)
      scroller.scrollTop = top - room / 2;
    const row_ = rows[now];
    element("moment").textContent = row_ ? `row ${now + 1} of ${rows.length} · ${row_.t}` : "nothing was run";
    slider.setAttribute("aria-valuetext", row_ ? `${row_.t}, ${row_.k}` : "");
    draw();
    for (const name of shown) panes[name]();
    history.replaceState(null, "", `#${now + 1}`);
  };
  const step = (way) => {
    let place = placeOf[now] + way;
    while (list[place] && ("broken" in list[place] || ("visit" in list[place] && open.has(list[place].visit)))) place += way;
    const entry = list[place];
    if (!entry) return;
    go("row" in entry ? entry.row : visits[entry.visit][1]);
  };
  const jump = (way) => {
    for (let row = now + way; row >= 0 && row < rows.length; row += way) if (matters[row]) return go(row);
    return undefined;
  };
  let playing = null;
  const stop = () => {
    clearInterval(playing);
    playing = null;
    element("play").textContent = "▶▶";
  };
  const play = () => {
    if (playing) return stop();
    if (now >= rows.length - 1) go(0);
    element("play").textContent = "❚❚";
    playing = setInterval(() => (now >= rows.length - 1 ? stop() : step(1)), 220);
    return undefined;
  };
  const fold = () => {
    if (open.size) open.clear();
    else visits.forEach((_, number) => open.add(number));
    arrange();
    go(now);
  };

  // --- search ---------------------------------------------------------------------------------------------------

  const search = element("search");
  let texts = null;
  const fits = (number) => {
    texts ??= rows.map((row) => `${row.k}\n${row.x}\n${row.p ?? ""}\n${row.a ?? ""}\n${row.j ? JSON.stringify(row.j) : ""}`.toLowerCase());
    return words.length > 0 && words.every((word) => texts[number].includes(word));
  };
  const look = () => {
    words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    hits = words.length ? rows.map((_, number) => number).filter(fits) : [];
    element("hits").textContent = words.length ? `${hits.length} found` : "";
    draw();
  };
  const next = () => {
    if (!hits.length) return;
    const target = hits.find((row) => row > now) ?? hits[0];
    if (visitOf[target] >= 0 && !open.has(visitOf[target])) {
      open.add(visitOf[target]);
      arrange();
    }
    go(target);
  };
  search.oninput = look;
  search.onkeydown = (event) => {
    event.stopPropagation();
    if (event.key === "Enter") next();
    else if (event.key === "Escape") { search.value = ""; look(); scroller.focus(); }
  };

  // --- keys and buttons -----------------------------------------------------------------------------------------

  const turn = () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme:dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  };
  const keys = {
    ArrowRight: () => step(1), ArrowLeft: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1),
    PageDown: () => { for (let n = 0; n < 10; n += 1) step(1); }, PageUp: () => { for (let n = 0; n < 10; n += 1) step(-1); },
    Home: () => go(0), End: () => go(rows.length - 1), n: () => jump(1), p: () => jump(-1), " ": play, f: fold, d: turn,
    "/": () => { search.focus(); search.select(); }, "?": () => element("keys").showModal(),
    "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8),
    1: () => show("state"), 2: () => show("event"), 3: () => show("graph"), 4: () => show("chat"), 5: () => show("source"),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || element("keys").open) return;
    if (event.target.closest?.("select")) return;
    if (event.target.closest?.("button") && ["Enter", " "].includes(event.key)) return;
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  slider.max = Math.max(rows.length - 1, 0);
  slider.oninput = () => go(Number(slider.value));
  element("back").onclick = () => step(-1);
  element("on").onclick = () => step(1);
  element("play").onclick = play;
  element("fault").onclick = () => jump(1) ?? undefined;
  element("fold").onclick = fold;
  element("theme").onclick = turn;
  element("help").onclick = () => element("keys").showModal();
  element("smaller").onclick = () => zoom(0.8);
  element("larger").onclick = () => zoom(1.25);
  for (const tab of document.querySelectorAll("[role=tab]")) tab.onclick = () => show(tab.dataset.pane);
  scroller.onscroll = draw;
  window.addEventListener("resize", draw);
  window.addEventListener("hashchange", () => { const row = Number(location.hash.slice(1)); if (row) go(row - 1); });

  // --- the beginning --------------------------------------------------------------------------------------------

  const badge = element("ended");
  badge.textContent = `${data.good ? "✓" : "✗"} ${data.ended}`;
  badge.classList.toggle("bad", !data.good);
  const about = element("about");
  for (const note of data.notes) about.append(make("p", note, "muted"));
  for (const [row, said, where, values] of data.breaks) {
    const made = make("p", undefined, "break"), button = make("button", `✗ ${said}`, "link break");
    button.onclick = () => go(row);
    const [, file, number] = /^(.*):(\d+):\d+$/.exec(where) ?? [];
    made.append(button);
    if (file in data.files) {
      const place = make("button", where, "link");
      place.onclick = () => { show("source"); reveal([file, Number(number)]); };
      made.append("  ", place);
    } else if (where) made.append(`  (${where})`);
    about.append(made);
    for (const value of values) about.append(make("p", value, "value muted"));
  }
  if (data.again) {
    const made = make("p", "again: ", "muted again");
    made.append(make("code", data.again));
    about.append(made);
  }
  const head = element("lanes");
  head.append(make("span", "time", "when"));
  for (const [name, durable] of lanes) {
    const made = make("span", name, durable ? "lane durable" : "lane");
    made.style.width = `${WIDE}px`;
    head.append(made);
  }
  head.append(make("span", "what happened", "rest"));
  const ticks = element("ticks");
  rows.forEach((row, number) => {
    if (!matters[number]) return;
    const tick = make("i", undefined, row.m === "fault" ? "" : "bad");
    tick.style.left = `${(number / Math.max(rows.length - 1, 1)) * 100}%`;
    ticks.append(tick);
  });
  element("fault").hidden = !matters.some(Boolean);
  const signs = { sends: "a message", writes: "a durable write", shows: "shown to the person", again: "comes a second time",
    lost: "lost on the way", torn: "half written" };
  for (const [style, said] of Object.entries(signs)) {
    const row = make("tr"), cell = make("td"), made = make("span");
    made.innerHTML = `<svg width="72" height="${HEIGHT}">${arrowSvg(["person", "host", style])}</svg>`;
    made.firstChild.setAttribute("viewBox", `${WIDE / 2 - 3} 0 72 ${HEIGHT}`);
    cell.append(made.firstChild);
    row.append(cell, make("td", said));
    element("signs").append(row);
  }
  if (rows.length <= FOLD_FROM) visits.forEach((_, number) => open.add(number));
  arrange();
  for (const name of ["state", "graph"]) show(name);
  const wanted = Number(location.hash.slice(1));
  go(wanted ? wanted - 1 : data.breaks.length ? data.breaks[0][0] : rows.length - 1);
})();
