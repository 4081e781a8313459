// The state at any event. The journal's own fold said what each event changed; here that is put in
// and taken out again, and nothing is worked out anew.

const events = page.events.map(
  ([at, recorded, type, actor, session, step, said, tone, bookkeeping, redacted, id, cause, hash, data, changes], n) => ({
    at, recorded, step, said, tone, bookkeeping, redacted, id, cause, hash, data, changes,
    version: n + 1, type: page.types[type], actor: page.actors[actor], session: page.sessions[session], undo: null, born: null,
  }),
);
const things = page.things.map(([collection, key]) => ({ collection, key, has: new Map(), touched: [] }));
/** Name of a collection -> the things that are in it now. */
const collections = new Map();
/** How many events the state is made of now. */
let at = 0;

function* changesOf(event) {
  for (let n = 0; n < event.changes.length; n += 3) {
    yield [things[event.changes[n]], page.fields[event.changes[n + 1]], event.changes[n + 2]];
  }
}

function spliced(list, start, count, added) {
  if (added.length < 1000) return list.splice(start, count, ...added);
  const rest = list.splice(start);
  for (const each of added) list.push(each);
  for (let n = count; n < rest.length; n += 1) list.push(rest[n]);
  return rest.slice(0, count);
}

function keepCount(thing) {
  if (!collections.has(thing.collection)) collections.set(thing.collection, new Set());
  const members = collections.get(thing.collection);
  if (thing.has.size) members.add(thing);
  else members.delete(thing);
}

/** Put in what one more event changed; what was there before is noted, for the way back. */
function forward() {
  const event = events[at];
  const undo = [];
  event.born = new Set([...changesOf(event)].map(([thing]) => thing).filter((thing) => !thing.has.size));
  for (const [thing, field, leaf] of changesOf(event)) {
    const was = thing.has.get(field);
    if (Array.isArray(leaf) && Array.isArray(was)) {
      undo.push({ gone: spliced(was, leaf[0], leaf[1], leaf.slice(2)) });
    } else {
      undo.push({ was });
      if (leaf === null) thing.has.delete(field);
      else thing.has.set(field, Array.isArray(leaf) ? leaf.slice(2) : leaf);
    }
    keepCount(thing);
  }
  event.undo = undo;
  at += 1;
}

function backward() {
  at -= 1;
  const event = events[at];
  const changes = [...changesOf(event)];
  for (let n = changes.length - 1; n >= 0; n -= 1) {
    const [thing, field, leaf] = changes[n];
    const { was, gone } = event.undo[n];
    if (gone) spliced(thing.has.get(field), leaf[0], leaf.length - 2, gone);
    else if (was === undefined) thing.has.delete(field);
    else thing.has.set(field, was);
    keepCount(thing);
  }
}

/** Have the state after so many events. */
function moveTo(count) {
  while (at < count) forward();
  while (at > count) backward();
}

events.forEach((event) => {
  for (const [thing] of changesOf(event)) {
    if (thing.touched[thing.touched.length - 1] !== event.version) thing.touched.push(event.version);
  }
});

const PLAIN = table({ next_actions: "next action", tokens_by_step: "tokens by step", homes: "adopted files", keyed: "decided keys", manifest: "files of steps", at_work: "at work" });
const called = (name) => PLAIN[name] ?? name.replace(/_/g, " ");

/** A thing in words: steps 2, or what the project itself has. */
const nameOf = (thing) => brief(thing.collection ? `${called(thing.collection)} ${thing.key}` : called(thing.key), 80).trim();

/** The field by which one knows a thing. */
function headline(thing) {
  for (const field of ["name", "title", "subject", "text", "description", "message", "action", "choice", "path", "agent", ""]) {
    const value = thing.has.get(field);
    if (value !== undefined && value !== "" && !Array.isArray(value)) return brief(value, 90);
  }
  return "";
}

const TONES = table({
  complete: "good", done: "good", resolved: "good", closed: "good", fulfilled: "good", ended: "good",
  in_progress: "busy", active: "busy", claimed: "busy", held: "busy", acknowledged: "busy", open: "warn",
  pending: "", skipped: "quiet", failed: "bad", crashed: "bad", blocked: "bad", unread: "warn", bypassed: "warn",
});
