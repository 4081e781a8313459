// One event at a time: what it says, what it changed, and the state after it.

let open = "";
let playing = 0;

/** Go to an event; without a state, none has happened yet. */
function show(version) {
  const slider = byId("slider");
  found.chosen = Math.min(Math.max(version, 0), events.length);
  moveTo(found.chosen);
  slider.value = String(found.chosen);
  const event = events[found.chosen - 1];
  slider.setAttribute("aria-valuetext", event ? `event ${event.version} of ${events.length}, ${brief(event.said)}` : "before the first event");
  byId("where").replaceChildren(
    el("b", {}, `#${number(found.chosen)}`), ` of ${number(events.length)}`, event ? el("span", {}, clock(event.at)) : "",
  );
  byId("event").replaceChildren(...(event ? eventShown(event) : [el("p", { class: "empty" }, "Before the first event: there is nothing yet.")]));
  stateShown();
  intoSight();
}

function eventShown(event) {
  const facts = [
    ["Actor", said(event.actor || "nobody named")], ["Session", event.session && said(event.session)],
    [event.recorded === null ? "At" : "Happened", time(event.at)], ["Recorded", event.recorded !== null && time(event.recorded)],
  ];
  const proof = [["Id", event.id], ["Caused by", event.cause], ["Hash", event.hash]];
  const data = pairs(event.data).map(([name, value]) => el("div", {}, el("dt", {}, called(name)), el("dd", {}, ...value)));
  return [
    el("p", { class: "kind" }, pill(event.type, event.tone), event.redacted ? pill("redacted", "warn") : "", event.bookkeeping ? el("small", {}, "bookkeeping") : ""),
    el("h3", {}, said(event.said)),
    el("dl", { class: "facts" }, ...facts.filter(([, value]) => value).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
    el("h4", {}, "What it changed"),
    changed(event),
    el("details", { class: "record" }, el("summary", {}, "The record"),
      el("dl", {}, ...data),
      el("dl", { class: "proof" }, ...proof.filter(([, value]) => value).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, el("code", {}, brief(value, 400)))))),
    ),
  ];
}

function pairs(flat) {
  const made = [];
  for (let n = 0; n < flat.length; n += 2) {
    const value = flat[n + 1];
    made.push([flat[n], Array.isArray(value) ? listed(value.slice(2)) : [said(value)]]);
  }
  return made;
}

const LISTED = 20;

function listed(values, tag = "span") {
  const shown = values.slice(0, LISTED).map((value) => el(tag, { class: "one" }, said(value)));
  if (values.length > LISTED) shown.push(el("em", {}, `and ${number(values.length - LISTED)} more`));
  return shown;
}

/** The difference that an event made, thing by thing: what went in red, what came in green. */
function changed(event) {
  const parts = new Map();
  let n = 0;
  for (const [thing, field, leaf] of changesOf(event)) {
    if (!parts.has(thing)) parts.set(thing, []);
    parts.get(thing).push([field, leaf, event.undo[n]]);
    n += 1;
  }
  if (!parts.size) return el("p", { class: "none" }, "Nothing of the state: it only tells that something happened.");
  const made = el("ul", { class: "diff" });
  return el("div", {}, ...some([...parts], ([thing, leaves]) => difference(thing, leaves, event.born.has(thing)), made, 30));
}

function difference(thing, leaves, came) {
  const went = leaves.every(([, leaf]) => leaf === null);
  const word = went ? "gone" : came && thing.collection ? "new" : "";
  const list = el("ul", {});
  for (const [field, leaf, undo] of leaves) list.append(leafChanged(field, leaf, undo));
  return el("li", { class: word }, el("p", {}, el("b", {}, nameOf(thing)), word ? el("em", {}, word) : "", el("bdi", {}, thing.collection && leaves[0][0] ? headline(thing) : "")), list);
}

function leafChanged(field, leaf, { was, gone }) {
  const went = gone || (Array.isArray(was) ? was : was === undefined || was === "" ? [] : [was]);
  const now = Array.isArray(leaf) ? leaf.slice(2) : leaf === null || leaf === "" ? [] : [leaf];
  return el("li", {},
    field ? el("span", { class: "field" }, called(field)) : "",
    el("span", { class: "values" },
      ...listed(went, "del"),
      went.length && now.length ? el("span", { class: "arrow", "aria-hidden": "true" }, "→") : "",
      ...listed(now, "ins"),
      went.length + now.length ? "" : el("em", {}, "empty"),
    ),
  );
}

// -- the state -------------------------------------------------------------------------------

const ORDER = ["steps", "", "tasks", "plans", "decisions", "keyed", "blockers", "errors", "findings", "questions", "sessions", "actors", "messages", "turns", "commitments", "escalations"];
const rank = (name) => (ORDER.indexOf(name) + 1 || ORDER.length + 1);

function stateShown() {
  const touched = new Set(found.chosen ? [...changesOf(events[found.chosen - 1])].map(([thing]) => thing) : []);
  const names = [...collections.keys()].filter((name) => collections.get(name).size).sort((one, other) => rank(one) - rank(other));
  const tabs = el("div", { class: "tabs", role: "group", "aria-label": "Parts of the state" });
  for (const name of names.filter((each) => each !== "steps")) {
    const hit = [...touched].some((thing) => thing.collection === name);
    const button = el("button", { type: "button", "aria-expanded": String(open === name), class: hit ? "hit" : "" }, name ? called(name) : "project", el("small", {}, number(collections.get(name).size)));
    button.addEventListener("click", () => {
      open = open === name ? "-" : name;
      stateShown();
      byId("state").querySelector('[aria-expanded="true"]')?.focus();
    });
    tabs.append(button);
  }
  const parts = [el("h4", {}, found.chosen ? `The state after #${number(found.chosen)}` : "The state before the first event"), strip(touched), tabs];
  const members = collections.get(open);
  if (members && members.size && open !== "steps") parts.push(...membersShown([...members], touched));
  byId("state").replaceChildren(...parts);
}

/** The steps, as a row of signs. */
function strip(touched) {
  const made = el("ol", { class: "strip" });
  for (const step of [...(collections.get("steps") || [])].sort(byKey)) {
    const status = whole(step.has.get("status") ?? "pending");
    const tone = TONES[status] ?? "quiet";
    const label = `${step.key.replace("_", ".")} ${headline(step)}: ${status.replace(/_/g, " ")}`;
    made.append(el("li", { class: `${tone || "quiet"}${touched.has(step) ? " hit" : ""}`, title: label },
      el("i", { "aria-hidden": "true" }, SIGNS[tone]), el("b", { "aria-hidden": "true" }, step.key.replace("_", ".")),
      el("span", { "aria-hidden": "true" }, headline(step)), el("span", { class: "hidden" }, label)));
    if (made.childElementCount >= 200) break;
  }
  return made;
}

/** Steps go by number: 3, 3_5, 4, 10. */
function byKey(one, other) {
  const [a, b] = [one, other].map((step) => step.key.split("_").map(Number));
  for (let n = 0; n < Math.min(a.length, b.length); n += 1) if (a[n] !== b[n]) return a[n] - b[n];
  return a.length - b.length;
}

function membersShown(members, touched) {
  members.sort((one, other) => Number(touched.has(other)) - Number(touched.has(one)));
  const list = el("ul", { class: "members" });
  return some(members, (thing) => member(thing, touched.has(thing)), list, 12, 100);
}

function member(thing, hit) {
  const status = thing.has.has("status") ? whole(thing.has.get("status")) : "";
  const fields = el("dl", {});
  const details = el("details", { class: hit ? "hit" : "" },
    el("summary", {}, el("b", {}, brief(thing.collection ? thing.key : called(thing.key), 60) || "unnamed"), el("bdi", {}, headline(thing)), status ? pill(status.replace(/_/g, " "), TONES[status]) : ""),
    fields,
  );
  details.addEventListener("toggle", () => {
    if (!details.open || fields.childElementCount) return;
    for (const [field, value] of thing.has) {
      fields.append(el("div", {}, el("dt", {}, called(field) || "value"), el("dd", {}, ...(Array.isArray(value) ? listed(value) : [said(value)]))));
    }
    details.append(sources(thing.touched));
  });
  return el("li", {}, details);
}

// -- the slider ------------------------------------------------------------------------------

function replay() {
  const slider = byId("slider");
  slider.max = String(events.length);
  let asked = 0;
  slider.addEventListener("input", () => {
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(() => show(Number(slider.value)));
  });
  const goes = { first: () => Math.min(1, events.length), back: () => found.chosen - 1, on: () => found.chosen + 1, last: () => events.length };
  for (const [id, to] of Object.entries(goes)) byId(id).addEventListener("click", () => show(to()));
  byId("play").addEventListener("click", () => (playing ? pause() : play()));
  activity();
}

function play() {
  if (found.chosen >= events.length) show(0);
  const step = Math.max(1, Math.round(events.length / 300));
  byId("play").textContent = "Pause";
  byId("play").setAttribute("aria-pressed", "true");
  playing = setInterval(() => {
    show(found.chosen + step);
    if (found.chosen >= events.length) pause();
  }, 250);
}

function pause() {
  clearInterval(playing);
  playing = 0;
  byId("play").textContent = "Play";
  byId("play").setAttribute("aria-pressed", "false");
}

/** How loud each stretch of the history was: the part of it that went wrong is red. */
function activity() {
  const wide = Math.min(200, events.length);
  if (!wide) return;
  const sums = Array.from({ length: wide }, () => ({ changes: 0, bad: 0 }));
  events.forEach((event, n) => {
    const sum = sums[Math.floor((n * wide) / events.length)];
    sum.changes += 1 + event.changes.length / 3;
    if (event.tone === "bad") sum.bad += 1;
  });
  const most = Math.log1p(Math.max(...sums.map((sum) => sum.changes)));
  sums.forEach((sum, n) => {
    const height = (38 * Math.log1p(sum.changes)) / most;
    const size = 1000 / wide;
    byId("activity").append(svg("rect", { x: n * size, y: 40 - height, width: size * 0.8, height, class: sum.bad ? "bad" : "" }));
  });
}
