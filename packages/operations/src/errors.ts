import type { Family } from "@junban/orders";
import { counted } from "./doctor/finding.ts";

/** Somebody else held the order's lane all the time. Nothing was done; trying again is safe. */
export class LaneBusyError extends Error {
  readonly code = "LANE_BUSY";
  readonly lcid: string;
  readonly waitedMs: number;

  constructor({ lcid, waitedMs }: { readonly lcid: string; readonly waitedMs: number }) {
    super(`the lane of ${lcid} was busy for ${waitedMs / 1_000} s; try again`);
    this.name = "LaneBusyError";
    this.lcid = lcid;
    this.waitedMs = waitedMs;
  }
}

/** Somebody else holds the lane by now, or nobody. Nothing was done. */
export class LaneHolderGoneError extends Error {
  readonly code = "LANE_HOLDER_GONE";
  readonly lcid: string;
  readonly holder: string;

  constructor({ lcid, holder }: { readonly lcid: string; readonly holder: string }) {
    super(`it is not held by ${holder} any more`);
    this.name = "LaneHolderGoneError";
    this.lcid = lcid;
    this.holder = holder;
  }
}

/** No job of that id lies dead in its queue: it was replayed or dropped already, or its id is wrong. */
export class DeadJobNotFoundError extends Error {
  readonly code = "DEAD_JOB_NOT_FOUND";
  readonly family: Family;
  readonly id: string;

  constructor({ family, id }: { readonly family: Family; readonly id: string }) {
    super("there is no dead job of that id");
    this.name = "DeadJobNotFoundError";
    this.family = family;
    this.id = id;
  }
}

/** Somebody serves the name, and would subscribe it again at once. Nothing was done. */
export class SubscriberServedError extends Error {
  readonly code = "SUBSCRIBER_SERVED";
  readonly subscriber: string;
  readonly consumers: number;

  constructor({ name, consumers }: { readonly name: string; readonly consumers: number }) {
    super(`${name} is served by ${counted(consumers, "process", "processes")}; close them first`);
    this.name = "SubscriberServedError";
    this.subscriber = name;
    this.consumers = consumers;
  }
}
