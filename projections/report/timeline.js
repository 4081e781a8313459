// Steps, agents and blockers along one line of time.

const LANES = { step: "Steps", agent: "Sessions", blocker: "Blockers" };
const SIZES = [1 / 12, 1 / 4, 1, 5, 15, 60, 180, 360, 720, 1440, 2880, 7200, 14400, 43200, 129600, 525600, 5256000].map((minutes) => minutes * 60000);

/** The whole of time on this page, and where in it a moment is, in percent. */
const range = { begin: 0, end: 1, now: 1 };
const place = (moment) => (100 * (Math.min(Math.max(moment, range.begin), range.end) - range.begin)) / (range.end - range.begin);

function timeline() {
  const spans = page.lanes.flatMap((lane) => lane[6]);
  range.begin = spans.reduce((least, span) => Math.min(least, span[0]), page.about.begun);
  range.end = spans.reduce((most, span) => Math.max(most, span[1] ?? 0), page.about.ended);
  range.now = range.end;
  range.end = Math.max(range.end, range.begin + 1000); // some room, where all was at once
  if (!page.lanes.length) return;
  byId("timeline").hidden = false;
  byId("timeline-says").textContent = `From ${clock(range.begin)} to ${clock(range.now)}, ${stretch(range.begin, range.now)} in all.`;
  const into = byId("lanes");
  into.append(axis());
  for (const [kind, title] of Object.entries(LANES)) {
    const lanes = page.lanes.filter((lane) => lane[0] === kind);
    if (!lanes.length) continue;
    const list = el("ul", {});
    into.append(el("h3", {}, title), ...some(lanes, lane, list, 24));
  }
}

function axis() {
  const size = SIZES.find((each) => (range.end - range.begin) / each <= (innerWidth < 640 ? 4 : 7)) || SIZES[SIZES.length - 1];
  const made = el("div", { class: "axis", "aria-hidden": "true" });
  for (let moment = Math.ceil(range.begin / size) * size; moment <= range.end; moment += size) {
    const midnight = moment % 86400000 === 0;
    const label = size >= 86400000 ? day(moment) : midnight ? day(moment).slice(-5) : clock(moment).slice(-8, size < 60000 ? undefined : -3);
    const tick = el("span", { class: midnight ? "midnight" : "" }, label);
    tick.style.left = `${place(moment)}%`;
    if (place(moment) > (innerWidth < 640 ? 74 : 92)) tick.classList.add("left");
    made.append(tick);
  }
  return made;
}

function lane([kind, name, title, about, sign, tone, spans]) {
  const label = el("div", { class: "label" },
    kind === "step" ? el("b", {}, name.replace("_", ".")) : null,
    el("bdi", { dir: "auto" }, brief(title, 70)),
    about ? el("small", {}, brief(about, 40)) : null,
  );
  const track = el("div", { class: "track", "aria-hidden": "true" });
  for (const span of spans.slice(-400)) track.append(bar(span));
  const last = spans[spans.length - 1];
  const spoken = last ? `, from ${clock(last[0])} ${last[1] === null ? "on" : `to ${clock(last[1])}`}` : "";
  const state = pill(sign.replace(/_/g, " "), tone);
  state.append(el("span", { class: "hidden" }, spoken));
  return el("li", { class: `lane ${kind}` }, label, track, state);
}

function bar([begin, end, tone, name]) {
  const made = el("i", { class: `${tone || "quiet"}${end === null ? " open" : ""}` });
  const over = end ?? range.now;
  made.style.left = `${place(begin)}%`;
  made.style.width = `${Math.max(place(over) - place(begin), 0)}%`;
  made.title = `${brief(name, 80)}: ${clock(begin)} ${end === null ? "and on" : `to ${clock(end)}`}, ${stretch(begin, over)}`;
  return made;
}
