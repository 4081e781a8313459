// The page, from top to bottom; then what it answers to.

const PRINTED = 1000;

overview();
timeline();
replay();
moveTo(events.length);
tokens();
sections();
navigation();
theme();
found.chosen = events.length;
eventList();
show(events.length);
fromAddress();

function fromAddress() {
  const asked = /^#v([0-9]{1,9})$/.exec(location.hash);
  if (!asked) return;
  show(Number(asked[1]));
  byId("replay").scrollIntoView();
}

addEventListener("hashchange", fromAddress);
addEventListener("keydown", (press) => {
  const typing = press.target.closest?.("input:not([type=range]):not([type=checkbox]), select, textarea");
  if (press.key === "/" && !typing && !press.ctrlKey && !press.metaKey && !press.altKey) {
    press.preventDefault();
    byId("search").focus();
  } else if (press.key === "Escape" && press.target === byId("search")) {
    byId("search").value = "";
    filter();
    byId("list").focus();
  }
});

// On paper there is no scrolling: the events that the filters leave stand in a table.
addEventListener("beforeprint", () => {
  const shown = found.events.slice(-PRINTED);
  const note = shown.length < found.events.length ? `The newest ${number(PRINTED)} of ${many(found.events.length, "event")}` : many(shown.length, "event");
  byId("printed").replaceChildren(
    el("h3", {}, note),
    el("table", {}, el("tbody", {}, ...shown.map((event) => el("tr", {},
      el("th", { scope: "row" }, `#${event.version}`), el("td", {}, clock(event.at)), el("td", {}, brief(event.actor, 40)), el("td", {}, el("bdi", {}, brief(event.said, 300))))))),
  );
  document.querySelectorAll(".seal details").forEach((each) => (each.open = true));
});
addEventListener("afterprint", () => byId("printed").replaceChildren());
