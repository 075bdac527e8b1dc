import type { ClockReading } from "@junban/event-queues";
import { lasting, type Finding } from "./finding.ts";

const WARNING_MS = 1_000;
const WRONG_MS = 60_000;

/** What a server's clock is ahead of this host's (below zero: behind), beyond what the way there and back explains. */
function aheadMs({ askedAtMs, serverMs, answeredAtMs }: ClockReading): number {
  if (serverMs < askedAtMs) return serverMs - askedAtMs;
  return Math.max(0, serverMs - answeredAtMs);
}

/** Whether this host, Redis and Postgres agree about the time. */
export function judgeClocks(
  clocks: Readonly<Partial<Record<"Redis" | "Postgres", ClockReading>>>,
): Finding[] {
  return Object.entries(clocks).flatMap(([server, clock]): Finding[] => {
    const ahead = aheadMs(clock);
    const apartMs = Math.abs(ahead);
    if (apartMs < WARNING_MS) return [];
    return [
      {
        code: "CLOCKS_APART",
        about: "clocks",
        severity: apartMs >= WRONG_MS ? "wrong" : "warning",
        says: `the clock of ${server} is ${lasting(apartMs)} ${ahead > 0 ? "ahead of" : "behind"} this host's`,
        means:
          "latencies and ages are told wrongly by so much, and what waits for a deadline waits so much longer or shorter; order and exactly-once do not depend on clocks",
        fix: "let all machines keep time with NTP",
      },
    ];
  });
}
