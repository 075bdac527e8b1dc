// Pages work without this: it follows the fleet as it goes, and puts the search field under one key.
"use strict";

const search = document.querySelector("[data-search]");
// Said only once it is so.
search?.setAttribute("aria-keyshortcuts", "/");
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
  // What was pressed is gone with its page; from here whoever uses keys or ears goes on.
  document.querySelector(".notice[role=status]")?.focus();
}

const follower = document.querySelector("[data-live]");
if (follower !== null) follow(follower);

/** The console says something every two seconds. A connection may die without a word. */
function follow(element) {
  const SILENT_MS = 6_000;
  const words = element.querySelector("[data-live-words]");
  const say = (state, text) => {
    element.dataset.state = state;
    words.textContent = text;
  };
  let silence;
  const open = () => {
    const source = new EventSource(element.dataset.live);
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(() => {
        source.close();
        say("away", "nothing heard since");
        open();
      }, SILENT_MS);
    };
    const end = (text) => {
      source.close();
      clearTimeout(silence);
      say("over", `${text}; as of`);
    };
    source.addEventListener("beat", heard);
    source.addEventListener("look", (event) => {
      heard();
      if (show(JSON.parse(event.data))) say("live", "live,");
    });
    source.addEventListener("over", (event) => end(event.data));
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) end("not live any more, load the page again");
      else say("away", "connecting again; as of");
    });
    heard();
  };
  open();
}

/** All of it or nothing, so that the clock tells the truth. What is being pressed stays; false then. */
function show(parts) {
  if (document.querySelector("main :active") !== null) return false;
  for (const [id, text] of Object.entries(parts)) {
    const place = document.querySelector(`#${id}`);
    if (place.dataset.shown === text) continue;
    const isFocused = place.contains(document.activeElement);
    const name = document.activeElement?.getAttribute("href");
    // The server escapes whatever is text; the page's policy runs no script that would come along.
    place.innerHTML = text;
    place.dataset.shown = text;
    if (isFocused) focusAgain(place, name);
  }
  return true;
}

/** The focus goes on to what leads to the same place, or stays in the part where that is gone. */
function focusAgain(place, href) {
  const same = [...place.querySelectorAll("[href]")].find((link) => link.getAttribute("href") === href);
  if (same === undefined) place.tabIndex = -1;
  (same ?? place).focus({ preventScroll: true });
}
