import { counted, times, whole } from "./figures.ts";
import { runsOf, type Kept } from "./kept.ts";
import { heading, paragraph, table } from "./markdown.ts";
import { BACKLOGS, OWN, runOf } from "./rows.ts";

const BEGIN = "<!-- bench:begin -->";
const END = "<!-- bench:end -->";
const PEERS = ["groupmq", "pg-row-lock", "bullmq-noop"] as const;

/** What the README quotes, its marks included. */
export function blockOf(kept: Kept): string {
  const runs = BACKLOGS.flatMap((name) => runOf(runsOf(kept), name) ?? []);
  const [first] = runs;
  const last = kept.sittings.at(-1);
  const lines = [
    BEGIN,
    "<!-- Written by `npm run bench:report`. -->",
    "",
    ...heading("How fast it is"),
    ...paragraph(
      "Events of a backlog that one worker process decides in a second, and how many times that is what others do on the same servers:",
      "groupmq, which promises publish order too; pg-row-lock, which is BullMQ with a row lock and keeps no order; and bullmq-noop, which is BullMQ doing nothing, the carrier's own ceiling.",
    ),
    ...table(
      ["backlog", "Junban, events/s", ...PEERS.map((peer) => `÷ ${peer}`), "out of order, lost, doubled"],
      runs.map(({ workload, results, ratios }) => {
        const own = results.find(({ name }) => name === OWN);
        return [
          workload,
          own === undefined ? "–" : whole(own.eventsPerSecond),
          ...PEERS.map((peer) => (ratios[peer] === undefined ? "–" : times(ratios[peer]))),
          [own?.inversions, own?.lost, own?.doubled].map((count) => count ?? "–").join(", "),
        ];
      }),
    ),
    ...paragraph(
      first === undefined
        ? null
        : `Medians of ${counted(first.rounds, "round")} on ${whole(first.machine.cores)} cores that the worker shares with Redis, Postgres and the producer, ${last?.startedAt.slice(0, 10)}.`,
      "All figures, how they were measured, and what falls short: [docs/benchmarks.md](docs/benchmarks.md).",
    ),
    END,
  ];
  return lines.join("\n");
}

/** The page with that block in the place of the one between the same first and last line; null when it has no place for one. */
export function withBlock(page: string, block: string): string | null {
  const lines = block.split("\n");
  const [begin = "", end = ""] = [lines[0], lines.at(-1)];
  const from = page.indexOf(begin);
  const to = page.indexOf(end, from);
  if (from === -1 || to === -1) return null;
  return `${page.slice(0, from)}${block}${page.slice(to + end.length)}`;
}
