import { TOLD } from "./stage.ts";

const query = (values: Record<string, string>): string => new URLSearchParams(values).toString();

/** Every page of the console's own, on a stage; the raw queues' are Bull Board's. */
export const EVERY_PAGE: readonly string[] = [
  "/",
  "/held",
  "/held?within=2h",
  "/dead",
  "/dead?outcome=alerts",
  "/dead?outcome=rejected",
  "/dead?outcome=jobs",
  "/halted",
  "/parked",
  "/actions",
  "/reasons",
  "/doctor",
  `/order?${query({ lcid: TOLD.order })}`,
  `/order?${query({ lcid: TOLD.halted })}`,
  `/order?${query({ lcid: TOLD.laneHolder })}`,
  "/order?lcid=no-such-order",
  `/event?${query(TOLD.haltedEvent)}`,
  `/event?${query(TOLD.alert)}`,
  "/event?source=/none&id=none",
  `/search?${query({ q: TOLD.haltedEvent.id, source: "/none" })}`,
  "/search?q=no-such-thing",
  "/no-such-page",
];
