// What one sees first: how the project stands, whether the journal holds, and a few numbers.

function overview() {
  const { about, tiles } = page;
  document.title = `${brief(about.title, 80)} – Passdown report`;
  byId("title").textContent = brief(about.title, 300);
  byId("eyebrow").textContent = [about.workflow, about.slug, about.native].filter(Boolean).map((x) => brief(x, 80)).join(" · ");
  byId("standing").append(pill(about.status, about.tone), said(about.following));
  const facts = events.length
    ? [["As of", time(about.ended)], ["Begun", time(about.begun)], ["Span", stretch(about.begun, about.ended)]]
    : [];
  if (about.branch) facts.push(["Branch", said(about.branch)]);
  byId("facts").append(...facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
  seal();
  byId("tiles").append(...tiles.map(tile));
  byId("footer").append(
    el("p", {}, "Made by ", el("code", {}, "passdown report"), " from the journal alone; the same journal makes the same page, byte for byte. Times are UTC."),
  );
}

function tile([count, of, name, tone, section]) {
  const value = el("b", {}, count >= 1e6 ? short(count) : number(count));
  if (of) value.append(el("small", {}, ` / ${number(of)}`));
  const link = el("a", { href: `#${section}`, class: tone || "plain" }, value, el("span", {}, name));
  if (of && tone === "") link.append(el("meter", { min: 0, max: of, value: count, "aria-hidden": "true" }));
  return el("li", {}, link);
}

function seal() {
  const { well, version, hash, said: checks } = page.proof;
  const ring = svg("svg", { viewBox: "0 0 72 72", "aria-hidden": "true" },
    svg("circle", { cx: 36, cy: 36, r: 33, class: "outer" }),
    svg("circle", { cx: 36, cy: 36, r: 27, class: "inner" }),
    svg("path", { d: well ? "M22 37 l10 10 l19 -22" : "M25 25 l22 22 m0 -22 l-22 22", class: "mark" }),
  );
  const groups = (hash.match(/.{1,8}/g) || []).map((part) => el("span", {}, part));
  byId("seal").classList.add(well ? "good" : "bad");
  byId("seal").append(
    ring,
    el("div", { class: "verdict" },
      el("h2", { id: "seal-title" }, well ? "Journal verified" : "Journal not verified"),
      el("p", {}, version ? `at version ${number(version)}` : "it has no version that can be read"),
    ),
    el("p", { class: "hash" }, el("span", { class: "hidden" }, "Head hash "), ...groups),
    el("details", { open: well ? undefined : "" },
      el("summary", {}, well ? "How it was checked" : "What is wrong"),
      el("ul", {}, ...checks.map((check) => el("li", {}, said(check)))),
    ),
  );
}

function navigation() {
  const shown = [...document.querySelectorAll("main section[id] > h2")].filter((each) => !each.parentElement.hidden);
  const links = shown.map((each) => el("a", { href: `#${each.parentElement.id}` }, each.firstChild.textContent));
  byId("nav").append(el("li", {}, el("a", { href: "#overview" }, "Overview")), ...links.map((link) => el("li", {}, link)));
}

function theme() {
  const button = byId("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = "";
  const show = () => {
    const dark = chosen ? chosen === "dark" : system.matches;
    document.documentElement.dataset.theme = chosen;
    button.setAttribute("aria-pressed", String(dark));
  };
  button.addEventListener("click", () => {
    chosen = button.getAttribute("aria-pressed") === "true" ? "light" : "dark";
    show();
  });
  system.addEventListener("change", show);
  show();
}
