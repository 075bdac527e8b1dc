// Pages work without this: it follows the fleet as it goes, and puts the search field under one key.
"use strict";

const search = document.querySelector("[data-search]");
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || search === null) return;
  if (event.target instanceof HTMLElement && event.target.closest("input, textarea, select, summary")) return;
  event.preventDefault();
  search.focus();
  search.select();
});

// What was done a moment ago is told once, and not again by loading the page anew.
const address = new URL(location.href);
if (address.searchParams.has("told")) {
  address.searchParams.delete("told");
  history.replaceState(null, "", address);
}

const follower = document.querySelector("[data-live]");
if (follower !== null) follow(follower);

function follow(element) {
  const words = element.querySelector("[data-live-words]");
  const say = (state, text) => {
    element.dataset.state = state;
    words.textContent = text;
  };
  const source = new EventSource(element.dataset.live);
  source.addEventListener("open", () => say("live", "live,"));
  source.addEventListener("look", (event) => show(JSON.parse(event.data)));
  source.addEventListener("over", () => {
    source.close();
    say("over", "the session is over, log in again; as of");
  });
  source.addEventListener("error", () => {
    const isOver = source.readyState === EventSource.CLOSED;
    if (isOver) say("over", "not live any more, load the page again; as of");
    else say("away", "connecting again; as of");
  });
}

/** What somebody is about to press stays where it is until they have moved on. */
function show(parts) {
  for (const [id, text] of Object.entries(parts)) {
    const place = document.querySelector(`#${id}`);
    if (place === null || place.contains(document.activeElement) || place.dataset.shown === text) continue;
    // The server escapes whatever is text; the page's policy runs no script that would come along.
    place.innerHTML = text;
    place.dataset.shown = text;
  }
}
