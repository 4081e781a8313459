// Everything on the page is made here, and text becomes nothing but text.

const page = JSON.parse(document.getElementById("data").textContent);

/** Words for names; a name that was made up elsewhere finds nothing in it. */
const table = (words) => Object.assign(Object.create(null), words);

const byId = (id) => document.getElementById(id);

/** An element: `about` are its attributes, a class is `class`; children are nodes or texts. */
function el(tag, about = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(about)) {
    if (value !== undefined && value !== null && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== "" && child !== null));
  return made;
}

function svg(tag, about = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(about)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A text of the data: long ones are there once, and go by their number. */
const whole = (text) => (typeof text === "number" ? page.texts[text] : text);

// What would not be seen, or would turn the text around it, is shown by its number.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;
const visible = (text) =>
  text.replace(/\r\n/g, "\n").replace(UNSEEN, (sign) => `⟨U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);

/** As much of a text as fits a line. */
function brief(text, most = 160) {
  const full = whole(text);
  return visible(full.length > most ? `${full.slice(0, most).trimEnd()}…` : full);
}

const SHOWN = 400;

/** A text: what is long is cut, and can be seen whole. */
function said(text, tag = "bdi") {
  const full = whole(text);
  if (full.length <= SHOWN) return el(tag, { dir: "auto", class: "text" }, visible(full));
  const part = el("span", { class: "text" }, visible(full.slice(0, SHOWN)) + "…");
  const more = el("button", { type: "button", class: "more", "aria-expanded": "false" });
  const label = `Show all ${number(full.length)} characters`;
  more.textContent = label;
  more.addEventListener("click", () => {
    const open = more.getAttribute("aria-expanded") !== "true";
    more.setAttribute("aria-expanded", String(open));
    more.textContent = open ? "Show less" : label;
    part.textContent = open ? visible(full) : visible(full.slice(0, SHOWN)) + "…";
    part.classList.toggle("whole", open);
  });
  return el(tag, { dir: "auto", class: "long" }, part, more);
}

const number = (count) => count.toLocaleString("en-US");
const many = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;

function short(count) {
  for (const [size, unit] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (count >= size) return (count / size).toFixed(count < 10 * size ? 1 : 0) + unit;
  }
  return String(count);
}

/** A time in UTC, as the journal has it. */
const clock = (at) => new Date(at).toISOString().replace(/T/, " ").slice(0, -5);
const day = (at) => clock(at).slice(0, -9);
const time = (at) => el("time", { datetime: new Date(at).toISOString() }, clock(at));

/** A stretch of time in its two largest units. */
function stretch(from, to) {
  let left = Math.max(0, Math.round((to - from) / 1000));
  const parts = [];
  for (const [size, unit] of [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]]) {
    if (left >= size && parts.length < 2) parts.push(`${Math.floor(left / size)} ${unit}`);
    else if (parts.length) break;
    left %= size;
  }
  return parts.join(" ") || "0 s";
}

const SIGNS = { good: "✓", busy: "▶", bad: "✗", warn: "!", quiet: "–", "": "·" };

/** How something stands, by sign, colour and word. */
const pill = (word, tone) =>
  el("span", { class: `pill ${tone || "quiet"}` }, el("i", { "aria-hidden": "true" }, SIGNS[tone]), word);

/** Some of many nodes, and a button for more of them. */
function some(things, make, into, first, step = 200) {
  let done = 0;
  const more = el("button", { type: "button", class: "further" });
  const add = (most) => {
    into.append(...things.slice(done, done + most).map(make));
    done = Math.min(done + most, things.length);
    more.textContent = `Show ${number(Math.min(step, things.length - done))} more of ${number(things.length)}`;
    more.hidden = done >= things.length;
  };
  more.addEventListener("click", () => add(step));
  add(first);
  return [into, more];
}
