"use strict";
(() => {
  const picture = JSON.parse(document.getElementById("picture").textContent);
  const drawn = JSON.parse(document.getElementById("drawn").textContent);
  const element = (id) => document.getElementById(id);
  const stage = element("stage"), about = element("about"), crumbs = element("crumbs");
  const search = element("search"), hits = element("hits");
  const first = stage.querySelector("svg").cloneNode(true);
  const sheets = new Map(picture.sheets.map((sheet) => [sheet.scope ?? "", sheet]));
  const boxes = new Map();
  for (const [scope, sheet] of sheets) for (const box of sheet.boxes) boxes.set(box.id, { box, scope });
  const view = { x: 0, y: 0, k: 1 };
  let scope = "", open = false, chosen = null, fitted = true;

  // --- the picture on the stage ---------------------------------------------------------------------------------

  const drawing = () => stage.querySelector("svg");
  const place = () => {
    drawing().style.transform = `translate(${view.x}px,${view.y}px) scale(${view.k})`;
  };
  const size = () => {
    const svg = drawing();
    return { width: +svg.getAttribute("width"), height: +svg.getAttribute("height") };
  };
  const fit = () => {
    const { width, height } = size(), room = stage.getBoundingClientRect();
    view.k = Math.max(0.05, Math.min(1.25, room.width / width, room.height / height));
    // A long picture is more readable from its beginning than as a thin line.
    const long = view.k < 0.45;
    if (long) view.k = Math.max(view.k, Math.min(0.8, room.width / width));
    drawing().classList.toggle("long", long);
    view.x = Math.max(0, (room.width - width * view.k) / 2);
    const start = long && groupOf(scope ? `${scope}/start` : "start");
    if (start) {
      const at = start.getBBox();
      view.x = room.width / 2 - (at.x + at.width / 2) * view.k;
    }
    view.y = Math.max(0, (room.height - height * view.k) / 2);
    fitted = true;
    place();
  };
  const zoom = (factor, x, y) => {
    const room = stage.getBoundingClientRect();
    x ??= room.width / 2;
    y ??= room.height / 2;
    const k = Math.min(8, Math.max(0.03, view.k * factor));
    view.x = x - (x - view.x) * (k / view.k);
    view.y = y - (y - view.y) * (k / view.k);
    view.k = k;
    fitted = false;
    place();
  };
  const move = (dx, dy) => {
    view.x += dx;
    view.y += dy;
    fitted = false;
    place();
  };
  const groupOf = (id) => stage.querySelector(`g[data-id="${CSS.escape(id)}"]`);
  const centre = (group) => {
    const at = group.getBoundingClientRect(), room = stage.getBoundingClientRect();
    const inside = at.left > room.left && at.right < room.right && at.top > room.top && at.bottom < room.bottom;
    if (inside && view.k > 0.5) return;
    if (view.k < 0.6) zoom(0.9 / view.k);
    const now = group.getBoundingClientRect();
    move(room.left + room.width / 2 - (now.left + now.width / 2), room.top + room.height / 2 - (now.top + now.height / 2));
  };

  const show = (wanted, unfolded, id = null) => {
    const modes = drawn[wanted];
    if (!modes) {
      tell([["h2", wanted], ["p", "This include is not drawn in the page, which would become too large. Draw its workflow on its own."]]);
      return;
    }
    scope = wanted;
    open = unfolded && "open" in modes;
    const number = modes[open ? "open" : "folded"];
    const svg = number === 0 ? first.cloneNode(true) : element(`scene-${number}`).content.firstElementChild.cloneNode(true);
    drawing().replaceWith(svg);
    for (const group of svg.querySelectorAll("g[data-id]")) {
      group.setAttribute("tabindex", "0");
      group.setAttribute("role", "button");
      group.setAttribute("aria-label", group.querySelector("title")?.textContent.split("\n").slice(0, 2).join(", ") ?? "");
    }
    const button = element("unfold");
    button.disabled = !("open" in modes);
    button.textContent = open ? "Fold" : "Unfold";
    drawCrumbs();
    fit();
    choose(id);
    history.replaceState(null, "", `#${encodeURIComponent(scope)}`);
  };
  const drawCrumbs = () => {
    crumbs.replaceChildren();
    if (!scope) return;
    const steps = [["", picture.sheets[0].workflow]];
    scope.split("/").forEach((name, at, all) => steps.push([all.slice(0, at + 1).join("/"), name]));
    steps.forEach(([target, name], at) => {
      if (at) crumbs.append(make("span", "›"));
      const last = at === steps.length - 1;
      const step = make(last ? "span" : "button", name);
      if (!last) {
        step.className = "link";
        step.onclick = () => show(target, open);
      }
      crumbs.append(step);
    });
  };

  // --- the panel ------------------------------------------------------------------------------------------------

  const make = (tag, content, css) => {
    const made = document.createElement(tag);
    if (content !== undefined) made.textContent = content;
    if (css) made.className = css;
    return made;
  };
  const tell = (parts) => {
    about.replaceChildren(...parts.map((part) => (part instanceof Node ? part : make(...part))));
    element("panel").scrollTop = 0;
  };
  const details = (found) => (found ?? []).flatMap(([heading, content]) => [["h3", heading], ["pre", content]]);
  const link = (id) => {
    const { box } = boxes.get(id);
    const made = make("button", box.kind === "exit" ? `exit ${box.name}` : box.name, "link");
    made.onclick = () => go(id);
    return made;
  };
  const ways = (heading, arrows, end) => {
    if (!arrows.length) return [];
    const list = make("ul");
    for (const arrow of arrows) {
      const item = make("li");
      const told = [arrow.port && `.${arrow.port}`, ...(arrow.label ?? [])].filter(Boolean).join(", ");
      item.append(link(arrow[end]), make("span", `${told ? `  ${told}` : ""}`, "muted"));
      list.append(item);
    }
    return [make("h3", heading), list];
  };
  const describe = (id) => {
    const { box, scope: home } = boxes.get(id);
    const sheet = sheets.get(home);
    const parts = [["h2", box.name], ["p", `${box.kind}${home ? ` in ${home}` : ""}`, "muted"]];
    if (box.caption) parts.push(["p", box.caption]);
    if (box.marker) parts.push(["p", `“${box.marker}”`]);
    for (const fact of box.facts ?? []) parts.push(["p", fact]);
    if (box.opens !== undefined) {
      const enter = make("button", "Enter");
      enter.onclick = () => show(box.opens, open);
      parts.push(enter);
    }
    parts.push(...ways("Comes from", sheet.arrows.filter((arrow) => arrow.target === id), "source"));
    parts.push(...ways("Goes to", sheet.arrows.filter((arrow) => arrow.source === id), "target"));
    tell([...parts, ...details(box.details)]);
  };
  const overview = () => {
    const sheet = sheets.get(scope);
    const count = sheet.boxes.filter((box) => !["start", "exit"].includes(box.kind)).length;
    const parts = [["h2", sheet.workflow], ["p", `revision ${sheet.revision}, ${count} nodes and includes`, "muted"]];
    if (scope) parts.push(link(scope));
    for (const note of scope ? [] : picture.notes ?? []) parts.push(["p", note]);
    const told = scope ? boxes.get(scope).box.details : picture.details;
    tell([...parts, ...details(told)]);
  };
  const choose = (id) => {
    for (const group of stage.querySelectorAll(".chosen,.near")) group.classList.remove("chosen", "near");
    chosen = id;
    const group = id === null ? null : groupOf(id);
    stage.classList.toggle("choosing", group !== null);
    if (id === null) return overview();
    describe(id);
    if (!group) return;
    group.classList.add("chosen");
    const keys = new Set();
    for (const arrow of sheets.get(boxes.get(id).scope).arrows)
      if (arrow.source === id || arrow.target === id) for (const key of arrow.keys ?? []) keys.add(key);
    for (const arrow of stage.querySelectorAll("g.arrow"))
      if ((arrow.dataset.keys ?? "").split("\n").some((key) => keys.has(key))) arrow.classList.add("near");
  };
  const go = (id) => {
    const home = boxes.get(id).scope;
    if (!groupOf(id)) show(home, open, id);
    else choose(id);
    const group = groupOf(id);
    if (group) centre(group);
  };

  // --- search ---------------------------------------------------------------------------------------------------

  let found = [], at = 0;
  const rank = ({ box }, words) => {
    const name = box.name.toLowerCase();
    const all = [name, box.id, box.kind, box.caption, box.marker, ...(box.facts ?? []), ...(box.details ?? []).flat()]
      .filter(Boolean).join("\n").toLowerCase();
    if (!words.every((word) => all.includes(word))) return -1;
    return name === words[0] ? 3 : name.startsWith(words[0]) ? 2 : name.includes(words[0]) ? 1 : 0;
  };
  const look = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = [];
    if (words.length)
      for (const entry of boxes.values()) {
        const value = rank(entry, words);
        if (value >= 0) found.push({ ...entry, value });
      }
    found.sort((a, b) => b.value - a.value);
    const total = found.length;
    found = found.slice(0, 60);
    at = 0;
    hits.replaceChildren(...found.map(({ box, scope: home }, number) => {
      const item = make("li", box.name);
      item.append(make("small", [home || picture.sheets[0].workflow, box.kind, box.caption].filter(Boolean).join(" · ")));
      item.onclick = () => pick(number);
      return item;
    }));
    if (words.length) hits.append(make("li", total ? `${total} found` : "nothing found", "muted"));
    hits.hidden = !words.length;
    mark();
  };
  const mark = () => [...hits.children].forEach((item, number) => {
    item.setAttribute("aria-selected", String(number === at && number < found.length));
    if (number === at) item.scrollIntoView({ block: "nearest" });
  });
  const pick = (number) => {
    hits.hidden = true;
    search.blur();
    go(found[number].box.id);
  };
  search.oninput = look;
  search.onfocus = () => { if (search.value) look(); };
  search.onblur = () => setTimeout(() => { hits.hidden = true; }, 200);
  search.onkeydown = (event) => {
    event.stopPropagation();
    if (event.key === "Enter" && found.length) pick(at);
    else if (event.key === "ArrowDown") at = Math.min(at + 1, found.length - 1);
    else if (event.key === "ArrowUp") at = Math.max(at - 1, 0);
    else if (event.key === "Escape") { search.value = ""; look(); search.blur(); }
    else return;
    event.preventDefault();
    mark();
  };

  // --- pointer and keys -----------------------------------------------------------------------------------------

  const pointers = new Map();
  let travelled = 0;
  const spread = () => {
    const [a, b] = [...pointers.values()];
    return { far: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
  };
  stage.onpointerdown = (event) => {
    if (event.button) return;
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    travelled = 0;
  };
  window.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const old = pointers.size === 2 ? spread() : null;
    const now = { x: event.clientX, y: event.clientY };
    pointers.set(event.pointerId, now);
    travelled += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    if (travelled > 4) stage.classList.add("moving");
    if (old) {
      const fresh = spread(), room = stage.getBoundingClientRect();
      move(fresh.x - old.x, fresh.y - old.y);
      if (old.far) zoom(fresh.far / old.far, fresh.x - room.left, fresh.y - room.top);
    } else if (travelled > 4) move(now.x - before.x, now.y - before.y);
  });
  const lift = (event) => {
    pointers.delete(event.pointerId);
    if (!pointers.size) stage.classList.remove("moving");
  };
  window.addEventListener("pointerup", lift);
  window.addEventListener("pointercancel", lift);
  stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    const room = stage.getBoundingClientRect();
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? room.height : 1;
    if (event.ctrlKey || event.metaKey)
      zoom(Math.exp(-event.deltaY * unit * 0.004), event.clientX - room.left, event.clientY - room.top);
    else if (event.shiftKey) move(-event.deltaY * unit, -event.deltaX * unit);
    else move(-event.deltaX * unit, -event.deltaY * unit);
  }, { passive: false });
  stage.onclick = (event) => {
    if (travelled > 4) return;
    const group = event.target.closest("g[data-id]");
    choose(group ? group.dataset.id : null);
  };
  stage.ondblclick = (event) => {
    const group = event.target.closest("g[data-opens]");
    if (group) show(group.dataset.opens, open);
  };
  const up = () => {
    if (!scope) return;
    const from = scope;
    show(scope.includes("/") ? scope.slice(0, scope.lastIndexOf("/")) : "", open, from);
    const group = groupOf(from);
    if (group) centre(group);
  };
  const turn = () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme:dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  };
  const unfold = () => { if ("open" in drawn[scope]) show(scope, !open, chosen); };
  const enter = () => {
    const group = document.activeElement?.closest?.("g[data-id]");
    const id = group ? group.dataset.id : chosen;
    if (id === null || id === undefined) return;
    const { box } = boxes.get(id);
    if (box.opens !== undefined && chosen === id) show(box.opens, open);
    else choose(id);
  };
  const keys = {
    "/": () => { search.focus(); search.select(); },
    "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), "0": fit,
    "1": () => zoom(1 / view.k), u: unfold, d: turn, "?": () => element("keys").showModal(),
    Escape: () => choose(null), Backspace: up, Enter: enter,
    ArrowLeft: () => move(80, 0), ArrowRight: () => move(-80, 0), ArrowUp: () => move(0, 80), ArrowDown: () => move(0, -80),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || element("keys").open) return;
    if (event.target.closest?.("button,input") && event.key === "Enter") return;
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  stage.addEventListener("focusin", (event) => {
    const group = event.target.closest("g[data-id]");
    if (group && group.matches(":focus-visible")) {
      choose(group.dataset.id);
      stage.scrollTo(0, 0);
      centre(group);
    }
  });
  element("larger").onclick = () => zoom(1.25);
  element("smaller").onclick = () => zoom(0.8);
  element("fit").onclick = fit;
  element("unfold").onclick = unfold;
  element("theme").onclick = turn;
  element("help").onclick = () => element("keys").showModal();
  const paper = matchMedia("print");
  new ResizeObserver(() => { if (fitted && !paper.matches) fit(); }).observe(stage);
  const named = () => {
    const wanted = decodeURIComponent(location.hash.slice(1));
    return wanted in drawn ? wanted : "";
  };
  window.addEventListener("hashchange", () => { if (named() !== scope) show(named(), open); });
  show(named(), "open" in document.documentElement.dataset);
})();
