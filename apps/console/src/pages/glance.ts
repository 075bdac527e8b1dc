import { counted, turnsLost } from "@junban/operations";
import type { Answer, BusyLanes, QueuesNow } from "@junban/operations";
import type { StoreGauges, StorePulse } from "@junban/order-store";
import { html } from "../html.ts";
import type { Content, Html } from "../html.ts";
import type { Look } from "../live-glance.ts";
import { count, duration } from "../words.ts";
import { chip, page, table, unknown } from "./layout.ts";
import type { Reader, Tone } from "./layout.ts";
import { orderLink } from "./links.ts";
import { sparkline } from "./sparkline.ts";

/** The parts of the page that go on changing, by the ids under which the browser finds them. */
export function glanceParts(
  look: Look,
): Readonly<Record<"figures" | "backlog" | "lanes" | "moment", string>> {
  const { glance } = look;
  return {
    figures: figures(look).toString(),
    backlog: backlog(glance.queues).toString(),
    lanes: lanes(glance.lanes).toString(),
    moment: new Date(glance.atMs).toISOString().slice(11, 19),
  };
}

export function glancePage(look: Look, reader: Reader): Html {
  const { glance } = look;
  const { moment } = glanceParts(look);
  const content = html`<div class="title">
      <h1>Fleet</h1>
      <p class="live" data-live="/live">
        <span class="dot"></span> <span data-live-words>as of</span>
        <span id="moment" class="number">${moment}</span> UTC
      </p>
    </div>
    <section id="figures" aria-label="Figures">${figures(look)}</section>
    <div class="columns uneven">
      <section aria-labelledby="backlog-title">
        <h2 id="backlog-title">Backlog</h2>
        <div id="backlog">${backlog(glance.queues)}</div>
      </section>
      <section aria-labelledby="lanes-title">
        <h2 id="lanes-title">Deepest lanes</h2>
        <div id="lanes">${lanes(glance.lanes)}</div>
      </section>
    </div>`;
  return page({ title: "Fleet", reader, at: "/", content });
}

interface Figure {
  readonly name: string;
  readonly value: Content;
  readonly note?: Content;
  readonly tone?: Tone | undefined;
  readonly href?: string;
}

function figures({ glance, speed }: Look): Html {
  const { queues, lanes: busy, store } = glance;
  const isRedisAway = queues.kind === "unknown" || busy.kind === "unknown";
  return html`${store.kind === "unknown" && unknown("Postgres", "it does not answer")}
    ${isRedisAway && unknown("Redis", "it does not answer")}
    ${
      queues.kind === "known" &&
      !queues.value.isUsed &&
      html`<p class="notice wait">
        No queue was ever used under the prefix <code>${queues.value.prefix}</code> in this Redis: look at
        <code>JUNBAN_PREFIX</code> and <code>REDIS_URL</code>.
      </p>`
    }
    <div class="figures">
      ${figure({
        name: "Applied a second",
        value: rate(speed.appliedPerSecond),
        note: sparkline(speed.lately),
      })}
      ${figure({
        name: "Decided a second",
        value: rate(speed.decidedPerSecond),
        note: "duplicates, held and rejected ones too",
      })}
      ${figure({ name: "Publish to decision", ...delay(store) })}
      ${figure({ name: "Workers", ...workers(queues) })} ${waitingFor(store).map((each) => figure(each))}
    </div>`;
}

function figure({ name, value, note, tone, href }: Figure): Html {
  const inside = html`<span class="figure-name">${name}</span> <span class="figure-value">${value}</span>
    <span class="figure-note">${note}</span>`;
  return href === undefined
    ? html`<div class="figure ${tone}">${inside}</div>`
    : html`<a class="figure ${tone}" href="${href}">${inside}</a>`;
}

function rate(perSecond: number | null): string {
  if (perSecond === null) return "…";
  return perSecond > 0 && perSecond < 10 ? perSecond.toFixed(1) : count(perSecond);
}

function delay(store: Answer<StoreGauges & StorePulse>): Pick<Figure, "value" | "note"> {
  if (store.kind === "unknown") return { value: "…" };
  const { latest } = store.value;
  if (latest === null) return { value: "–", note: "nothing decided in the last minute" };
  const { p50Ms, p99Ms, events } = latest;
  return { value: duration(p50Ms), note: `99% within ${duration(p99Ms)}, last ${count(events)}` };
}

function workers(queues: Answer<QueuesNow>): Pick<Figure, "value" | "note" | "tone"> {
  if (queues.kind === "unknown") return { value: "…" };
  const { workers: alive } = queues.value;
  if (alive === null) return { value: "–", note: "Redis does not tell who is connected" };
  return alive === 0
    ? { value: "0", note: "nobody serves the queues", tone: "bad" }
    : { value: count(alive), note: alive === 1 ? "process connected" : "processes connected" };
}

function waitingFor(store: Answer<StoreGauges & StorePulse>): readonly Figure[] {
  const known = store.kind === "known" ? store.value : null;
  const shown = (of: (value: StoreGauges) => number): string => (known === null ? "…" : count(of(known)));
  const toneIf = (of: (value: StoreGauges) => number, tone: Tone): Tone | undefined =>
    known !== null && of(known) > 0 ? tone : undefined;
  return [
    {
      name: "Held",
      value: shown(({ held }) => held),
      note: `${shown(({ heldDueSoon }) => heldDueSoon)} due soon`,
      tone: toneIf(({ heldDueSoon }) => heldDueSoon, "wait"),
      href: "/held",
    },
    {
      name: "Halted orders",
      value: shown(({ halted }) => halted),
      note: "stand behind a failed event",
      tone: toneIf(({ halted }) => halted, "bad"),
      href: "/halted",
    },
    {
      name: "Failed events",
      value: shown(({ failed }) => failed),
      note: "could not be decided",
      tone: toneIf(({ failed }) => failed, "bad"),
      href: "/dead?outcome=failed",
    },
    {
      name: "Alerts",
      value: shown(({ alerts }) => alerts),
      note: "rejected, but they happened",
      tone: toneIf(({ alerts }) => alerts, "wait"),
      href: "/dead?outcome=alerts",
    },
    {
      name: "Outbox",
      value: shown(({ outboxUnpublished }) => outboxUnpublished),
      note: known === null ? "" : outboxNote(known),
      tone: toneIf(({ outboxLagMs }) => Math.max(0, outboxLagMs - LATE_OUTBOX_MS), "wait"),
    },
    {
      name: "Parked",
      value: shown(({ outboxParked }) => outboxParked),
      note: "updates that cannot be passed on",
      tone: toneIf(({ outboxParked }) => outboxParked, "bad"),
      href: "/parked",
    },
  ];
}

const LATE_OUTBOX_MS = 30_000;

function outboxNote({ outboxUnpublished, outboxLagMs }: StoreGauges): string {
  return outboxUnpublished === 0 ? "everything is passed on" : `oldest ${duration(outboxLagMs)}`;
}

function backlog(queues: Answer<QueuesNow>): Html {
  if (queues.kind === "unknown") return unknown("Queues", "Redis does not answer");
  const { backlog: families, paused } = queues.value;
  return table(
    "Jobs of each family by state",
    [
      {
        title: "Family",
        of: ([family]) =>
          html`${family}${paused.some((name) => name === family) && html` ${chip("paused", "wait")}`}`,
      },
      {
        title: "Waiting",
        isNumber: true,
        of: ([, { waiting, prioritized }]) => count(waiting + prioritized),
      },
      { title: "Active", isNumber: true, of: ([, { active }]) => count(active) },
      { title: "Delayed", isNumber: true, of: ([, { delayed }]) => count(delayed) },
      {
        title: "Dead",
        isNumber: true,
        of: ([, { failed }]) => (failed > 0 ? html`<a href="/dead?outcome=jobs">${count(failed)}</a>` : "0"),
      },
    ],
    Object.entries(families),
    { isNarrow: true },
  );
}

function lanes(busy: Answer<BusyLanes>): Html {
  if (busy.kind === "unknown") return unknown("Lanes", "Redis does not answer");
  const { busy: number, requests, deepest, more } = busy.value;
  if (number === 0) return html`<p class="nothing">No order has anything in its line.</p>`;
  const most = Math.max(1, ...deepest.map(({ depth }) => depth));
  return html`<p class="summary">
      ${count(number)}${more && " or more"} busy ${number === 1 ? "lane" : "lanes"},
      ${counted(requests, "event")} in line
    </p>
    ${table(
      "Deepest lanes",
      [
        { title: "Order", of: ({ lcid }) => orderLink(lcid) },
        {
          title: "In line",
          isNumber: true,
          of: ({ depth }) =>
            html`<meter min="0" max="${most}" value="${depth}" aria-hidden="true"></meter
              ><span class="depth">${count(depth)}</span>`,
        },
        {
          title: "Holder",
          of: ({ holder }) =>
            holder === null
              ? chip("nobody", "wait")
              : html`<code title="${holder}">${holder.slice(0, 8)}</code>`,
        },
        {
          title: "Lease left",
          isNumber: true,
          of: ({ holder, leaseLeftMs }) => (holder === null ? "–" : duration(leaseLeftMs)),
        },
        {
          title: "Turns lost",
          isNumber: true,
          of: (lane) => (turnsLost(lane) > 0 ? chip(count(turnsLost(lane)), "bad") : "0"),
        },
      ],
      deepest,
    )}`;
}
