import type { UpdateBacklog } from "@junban/event-queues";
import { excerptOf } from "@junban/orders";
import { turnsLost } from "../busy-lanes.ts";
import type { FleetFacts, FleetSettings } from "./facts.ts";
import { counted, lasting, type Finding } from "./finding.ts";

/** Updates that wait for a name nobody serves: from here on they threaten the memory of Redis. */
const MANY_UPDATES = 10_000;
/** One turn lost in a row is a worker that was killed. */
const TURNS_LOST = 2;
/** From so many jobs that no worker has looked at on, lanes may stand because their jobs have not come round. */
const BACKLOG_JOBS = 1_000;
const LANE_STANDS_MS = 300_000;
const UNKNOWN_MS = 300_000;
const TYPES_SHOWN = 5;
const TYPE_SHOWN = 60;
const OUTBOX_SLOW_MS = 60_000;
const OUTBOX_STANDS_MS = 600_000;

type Judgement = Omit<Finding, "about">;

/** What stands still, and what waits for people. */
export function judgeFleet(facts: FleetFacts, settings: FleetSettings): Finding[] {
  return [
    ...judgeService(facts),
    ...judgeOrders(facts),
    ...judgeUnknown(facts),
    ...judgeNews(facts),
    ...judgeSubscribers(facts.updates),
    ...judgeLanes(facts, settings),
    ...judgeStanding(facts),
  ].map((judgement) => ({ about: "fleet", ...judgement }));
}

function judgeService({ workers, isUsed, prefix, queued, paused }: FleetFacts): Judgement[] {
  if (!isUsed) {
    return [
      {
        code: "PREFIX_UNUSED",
        severity: "warning",
        says: `no queue was ever used under the prefix ${prefix} in this Redis`,
        means: "nothing was published yet and no worker has run, or the fleet has another prefix or Redis",
        fix: "compare JUNBAN_PREFIX and REDIS_URL with the fleet's; start workers: npm run worker",
      },
    ];
  }
  const found: Judgement[] = [];
  if (workers === 0) {
    found.push({
      code: "NO_WORKERS",
      severity: queued > 0 ? "wrong" : "warning",
      says: `no worker is connected${queued > 0 ? `, and ${counted(queued, "job waits", "jobs wait")}` : ""}`,
      means: "events are accepted, and none is decided",
      fix: "start workers: npm run worker",
    });
  }
  if (paused.length > 0) {
    found.push({
      code: "QUEUES_PAUSED",
      severity: "wrong",
      says: `${counted(paused.length, "queue is", "queues are")} paused: ${paused.join(", ")}`,
      means:
        "its events are decided only when their order is served for another one's sake, or by the sweeper",
      fix: "resume it in the dashboard in which it was paused",
    });
  }
  return found;
}

function judgeOrders({ gauges, deadJobs, overdue, halfReleased }: FleetFacts): Judgement[] {
  const { halted, alerts, heldDueSoon } = gauges;
  const found: Judgement[] = [];
  if (halted > 0) {
    found.push({
      code: "ORDERS_HALTED",
      severity: "wrong",
      says: `${counted(halted, "order is", "orders are")} halted behind a failed event`,
      means: "whatever else comes for them is kept, and not decided until somebody acts",
      fix: "junban dlq --failed, then junban dlq replay or junban dlq drop",
    });
  }
  if (halfReleased > 0 || overdue > 0) {
    found.push({
      code: "UPKEEP_BEHIND",
      severity: "warning",
      says: `${counted(halfReleased, "order waits", "orders wait")} to be let go on, and ${counted(overdue, "order has", "orders have")} held events past their deadline`,
      means: "the one worker that sweeps does this within a minute or so; if it stays, none does",
      fix: "look again in a minute; then at the log of the workers",
    });
  }
  if (heldDueSoon > 0) {
    found.push({
      code: "HELD_NEAR_DEADLINE",
      severity: "warning",
      says: `${counted(heldDueSoon, "held event reaches its", "held events reach their")} deadline within two hours`,
      means: "it is rejected then, because what it waits for has not come",
      fix: "junban held --due-within 2h, and ask whoever should have sent what is missing",
    });
  }
  if (alerts > 0) {
    found.push({
      code: "ALERTS_OPEN",
      severity: "warning",
      says: `${counted(alerts, "rejected event waits", "rejected events wait")} for somebody's eyes`,
      means: "it happened in the real world all the same: goods left, or money moved",
      fix: "junban dlq --alerts, put it right, then junban dlq drop SOURCE ID --reason …",
    });
  }
  if (deadJobs > 0) {
    found.push({
      code: "DEAD_JOBS",
      severity: "warning",
      says: `${counted(deadJobs, "job holds", "jobs hold")} no usable event`,
      means: "some producer writes what nobody can read; it holds up nobody",
      fix: "junban dlq, and tell the producer; then junban dlq drop job:FAMILY ID --reason …",
    });
  }
  return found;
}

function shortened(type: string): string {
  return type.length > TYPE_SHOWN ? `${type.slice(0, TYPE_SHOWN)}…` : type;
}

/** A worker that knows them decides them within a minute or so of its start. */
function judgeUnknown({ unknown }: FleetFacts): Judgement[] {
  if (unknown === null || unknown.oldestMs < UNKNOWN_MS) return [];
  const { events, oldestMs, types } = unknown;
  const named = types.slice(0, TYPES_SHOWN).map((type) => shortened(excerptOf(type)));
  return [
    {
      code: "EVENTS_UNSUPPORTED",
      severity: "warning",
      says: `${counted(events, "event is", "events are")} held since no worker knows their type or schema version, for up to ${lasting(oldestMs)}: ${named.join(", ")}${types.length > named.length ? ", …" : ""}`,
      means: "they wait, without a deadline, for a newer build; a mistyped one waits for ever",
      fix: "a type of a newer version: start its workers. A mistyped one: junban held names the events; tell the producer, publish the right event under a new id, then junban dlq drop SOURCE ID --reason …",
    },
  ];
}

function judgeNews({ gauges, updates }: FleetFacts): Judgement[] {
  const { outboxParked, outboxUnpublished, outboxLagMs } = gauges;
  const found: Judgement[] = [];
  if (outboxParked > 0) {
    found.push({
      code: "UPDATES_PARKED",
      severity: "wrong",
      says: `${counted(outboxParked, "order update")} could not be passed on`,
      means: "subscribers lack a version of those orders, and wait for it or go on with a gap",
      fix: "junban parked tells why; then junban parked retry, or junban parked drop NUMBER --reason … for one that never can be",
    });
  }
  if (outboxUnpublished > 0 && outboxLagMs >= OUTBOX_SLOW_MS) {
    found.push({
      code: "OUTBOX_BEHIND",
      severity: outboxLagMs >= OUTBOX_STANDS_MS ? "wrong" : "warning",
      says: `${counted(outboxUnpublished, "order update waits", "order updates wait")} to be passed on, the oldest for ${lasting(outboxLagMs)}`,
      means:
        "no relay runs, it is slower than the fleet, or nobody takes the updates and their queue is full",
      fix: isUnwanted(updates)
        ? "nobody takes them: see UPDATES_UNWANTED"
        : "see that a relay runs (npm run relay, or workers without JUNBAN_RELAY=off) and that one leads (their junban_relay_leads add up to 1); then look at junban updates",
    });
  }
  return found;
}

function isUnwanted({ incoming, names }: UpdateBacklog): boolean {
  return names.length === 0 && incoming.waiting >= MANY_UPDATES;
}

function judgeSubscribers(updates: UpdateBacklog): Judgement[] {
  const { incoming, names } = updates;
  const found: Judgement[] = [];
  for (const { name, waiting, consumers } of names) {
    if (consumers !== 0) continue;
    found.push({
      code: "SUBSCRIBER_GONE",
      severity: waiting >= MANY_UPDATES ? "wrong" : "warning",
      says: `nobody serves the updates of ${name}; ${counted(waiting, "update waits", "updates wait")}`,
      means: "they pile up in Redis until somebody serves the name or it is forgotten",
      fix: `start its subscriber, or junban updates forget ${name}`,
    });
  }
  if (isUnwanted(updates)) {
    found.push({
      code: "UPDATES_UNWANTED",
      severity: "warning",
      says: `${counted(incoming.waiting, "order update waits", "order updates wait")}, and no name is subscribed`,
      means:
        "they take memory of Redis up to JUNBAN_UPDATES_CAP of them, and stay in the outbox from then on",
      fix: "start a subscriber; JUNBAN_RELAY=off, with no relay beside, spares Redis, and the outbox then keeps all of them",
    });
  }
  return found;
}

function judgeLanes({ losing }: FleetFacts, { crashAlone }: FleetSettings): Judgement[] {
  return losing
    .filter((lane) => turnsLost(lane) >= TURNS_LOST)
    .map((lane) => ({
      code: "LANE_LOSES_TURNS",
      severity: turnsLost(lane) >= crashAlone ? "wrong" : "warning",
      says: `${counted(turnsLost(lane), "turn")} in a row were lost in the lane of ${lane.lcid}`,
      means:
        "its holders vanish, perhaps because of the event at its head; after some more it is given up as failed",
      fix: `junban lane ${lane.lcid} shows its head; look at why workers end there`,
    }));
}

/** What is tried in vain for ever has no row, no failed job and no lost turn: only that it does not move. */
function judgeStanding({ workers, untouched, standing }: FleetFacts): Judgement[] {
  const [first] = standing.longest;
  if (first === undefined || workers === 0 || untouched >= BACKLOG_JOBS) return [];
  const named = standing.longest.map(({ lcid }) => lcid).join(", ");
  return [
    {
      code: "LANES_STAND_STILL",
      severity: first.headAgeMs >= LANE_STANDS_MS ? "wrong" : "warning",
      says: `${counted(standing.count, "lane does", "lanes do")} not move, one for ${lasting(first.headAgeMs)}: ${named}${standing.count > standing.longest.length ? ", …" : ""}`,
      means: `what stands at the head is tried again and again and cannot be committed, or nobody takes it up; these orders wait, ${standing.doOthersMove ? "others go on" : "and no other moves"}`,
      fix: `junban lane ${first.lcid} shows its head; the workers' logs say why in a line with a code that names it, as lcid or among otherLcids (“a lane's events could not be settled”). Mend that, and it goes on by itself`,
    },
  ];
}
