// Decisions, blockers, errors and whatever else the project has, one section for each.

const SECTION_FIRST = 12;

function sections() {
  for (const section of page.sections) {
    const list = el("ol", { class: "items" });
    byId("sections").append(
      el("section", { id: section.name, "aria-labelledby": `${section.name}-title` },
        el("h2", { id: `${section.name}-title` }, section.title, el("small", {}, number(section.items.length))),
        el("p", { class: "says" }, section.says),
        ...some(section.items, item, list, SECTION_FIRST),
      ),
    );
  }
}

function item([thing, version, id, sign, tone, title, about, begin, end, lasts]) {
  const facts = el("dl", {});
  for (const [name, text] of about) {
    const shape = name === "Reason" ? "reason" : whole(text).length > 60 ? "wide" : "";
    facts.append(el("div", { class: shape }, el("dt", {}, name), el("dd", {}, said(text))));
  }
  const when = el("p", { class: "when" });
  if (begin !== null) when.append(time(begin));
  if (lasts && begin !== null) {
    when.append(el("strong", {}, end === null ? `open for ${stretch(begin, range.now)}` : stretch(begin, end)));
    const track = el("span", { class: "track", "aria-hidden": "true" });
    track.append(bar([begin, end, tone, sign]));
    when.append(track);
  } else if (end !== null) when.append(el("span", {}, "to "), time(end));
  return el("li", {},
    el("div", { class: "gutter" }, pill(sign, tone), id ? el("code", {}, brief(id, 60)) : null),
    el("div", { class: "body" }, el("h3", {}, said(title)), facts, sources(version ? [version] : things[thing].touched)),
    when,
  );
}

/** The events that had to do with a thing; each leads to the replay. */
function sources(touched) {
  if (!touched.length) return "";
  const made = el("p", { class: "sources" }, "Events ");
  const shown = touched.slice(-8);
  if (shown.length < touched.length) made.append(`${number(touched.length)}, the last: `);
  shown.forEach((version) => made.append(link(version), " "));
  return made;
}

const link = (version) => el("a", { href: `#v${version}`, title: brief(events[version - 1].said, 200) }, `#${version}`);
