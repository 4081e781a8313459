// The list of events. Only the rows in sight are there, however many events there are.

const ROW = 56;
const found = { events, chosen: 0 };

function eventList() {
  const box = byId("list");
  box.addEventListener("scroll", () => requestAnimationFrame(rows), { passive: true });
  new ResizeObserver(rows).observe(box);
  box.addEventListener("keydown", (press) => {
    const far = Math.max(1, Math.floor(box.clientHeight / ROW) - 1);
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: far, PageUp: -far, Home: -events.length, End: events.length }[press.key];
    if (!by || !found.events.length) return;
    press.preventDefault();
    const here = nearest(found.chosen);
    const next = Math.min(Math.max(here + by, 0), found.events.length - 1);
    show(found.events[next].version);
  });
  box.addEventListener("click", (press) => {
    const row = press.target.closest("[data-version]");
    if (row) show(Number(row.dataset.version));
  });
  filters();
}

/** Where in the list an event is, or the last one before it. */
function nearest(version) {
  let low = 0;
  let high = found.events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (found.events[middle].version <= version) low = middle + 1;
    else high = middle;
  }
  return Math.max(low - 1, 0);
}

function rows() {
  const box = byId("list");
  const into = byId("rows");
  into.style.height = `${found.events.length * ROW}px`;
  const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 4);
  const last = Math.min(found.events.length, Math.ceil((box.scrollTop + box.clientHeight) / ROW) + 4);
  into.replaceChildren(...found.events.slice(first, last).map((event, n) => row(event, first + n)));
  const chosen = byId(`row-${found.chosen}`);
  if (chosen) box.setAttribute("aria-activedescendant", chosen.id);
  else box.removeAttribute("aria-activedescendant");
}

function row(event, n) {
  const made = el("div", {
    id: `row-${event.version}`, role: "option", class: `row ${event.tone || "quiet"}${event.bookkeeping ? " kept" : ""}`,
    "data-version": event.version, "aria-selected": String(event.version === found.chosen), "aria-posinset": n + 1, "aria-setsize": found.events.length,
  },
    el("span", { class: "number" }, String(event.version)),
    el("bdi", { class: "line", dir: "auto" }, event.redacted ? "(redacted) " : "", brief(event.said, 200)),
    el("span", { class: "meta" }, el("bdi", {}, brief(event.actor || "nobody named", 40)), el("span", {}, clock(event.at))),
  );
  made.style.top = `${n * ROW}px`;
  return made;
}

/** Have the chosen event in sight. */
function intoSight() {
  const box = byId("list");
  const place = nearest(found.chosen) * ROW;
  if (place < box.scrollTop || place + ROW > box.scrollTop + box.clientHeight) {
    const far = place + ROW < box.scrollTop || place > box.scrollTop + box.clientHeight;
    const room = far ? Math.max(0, box.clientHeight / 2 - ROW) : place < box.scrollTop ? 0 : box.clientHeight - ROW;
    box.scrollTop = place - room;
  }
  rows();
}

// -- search and filters -----------------------------------------------------------------------

let haystack = null;

/** What is searched of each event: its short texts as one, and the numbers of its long ones. */
function searchable() {
  haystack ??= events.map((event) => {
    const texts = [event.said, event.type, event.actor, event.session, event.id, `#${event.version}`];
    const long = [];
    const add = (leaf) => {
      if (typeof leaf === "string") texts.push(leaf);
      else if (typeof leaf === "number") long.push(leaf);
    };
    for (const value of event.data) {
      if (Array.isArray(value)) value.slice(2).forEach(add);
      else add(value);
    }
    return { text: texts.join("\n").toLowerCase(), long };
  });
  return haystack;
}

function choices(id, title, values) {
  const counts = new Map();
  for (const value of values) if (value) counts.set(value, (counts.get(value) || 0) + 1);
  const select = byId(id);
  select.append(el("option", { value: "" }, title));
  const sorted = [...counts].sort((one, other) => other[1] - one[1]);
  for (const [value, count] of sorted) select.append(el("option", { value }, `${brief(value, 40)} (${number(count)})`));
  select.hidden = sorted.length < 2;
}

const noun = (event) => event.type.split(".")[0];

function filters() {
  choices("kind", "Every kind", events.map(noun));
  choices("actor", "Every actor", events.map((event) => event.actor));
  choices("session", "Every session", events.map((event) => event.session));
  choices("step", "Every step", events.map((event) => event.step));
  byId("bookkeeping").parentElement.hidden = !events.some((event) => event.bookkeeping);
  for (const id of ["search", "kind", "actor", "session", "step", "bookkeeping"]) byId(id).addEventListener("input", filter);
  byId("clear").addEventListener("click", () => {
    for (const id of ["search", "kind", "actor", "session", "step"]) byId(id).value = "";
    byId("bookkeeping").checked = true;
    filter();
    byId("search").focus();
  });
  filter();
}

function filter() {
  const [words, kind, actor, session, step] = ["search", "kind", "actor", "session", "step"].map((id) => byId(id).value);
  const kept = byId("bookkeeping").checked;
  const word = words.trim().toLowerCase();
  const long = new Set();
  if (word) page.texts.forEach((text, n) => text.toLowerCase().includes(word) && long.add(n));
  found.events = events.filter((event, n) => {
    if ((kind && noun(event) !== kind) || (actor && event.actor !== actor) || (session && event.session !== session)) return false;
    if ((step && event.step !== step) || (!kept && event.bookkeeping)) return false;
    if (!word) return true;
    const hay = searchable()[n];
    return hay.text.includes(word) || hay.long.some((each) => long.has(each));
  });
  const all = found.events.length === events.length;
  byId("clear").hidden = all;
  byId("count").textContent = all ? many(events.length, "event") : `${number(found.events.length)} of ${many(events.length, "event")}`;
  byId("list").scrollTop = Math.max(0, nearest(found.chosen) - 3) * ROW;
  rows();
}
