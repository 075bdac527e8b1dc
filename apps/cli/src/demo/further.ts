import type { EventEnvelope } from "@junban/orders";
import { counted } from "../printing.ts";
import { span, wrapped, type Line } from "./paint.ts";
import type { Servers } from "./servers.ts";

/** What a person can ask next, while the servers are up. Lines to copy are never broken. */
export function furtherLines(servers: Servers, event: EventEnvelope): readonly Line[] {
  return [
    [span("  Servers and workers stay up. In another terminal, in this folder:")],
    [],
    exported("DATABASE_URL", servers.databaseUrl),
    exported("REDIS_URL", servers.redisUrl),
    ...(servers.prefix === "junban" ? [] : [exported("JUNBAN_PREFIX", servers.prefix)]),
    [],
    ...commands(event),
    [],
    [span("  Ctrl-C ends and removes everything.")],
    [],
  ];
}

/** A worker of a kept demo ended as one does that is asked to. */
export function drainedLines(
  { number, pid }: { readonly number: number; readonly pid: number },
  atWork: number,
): readonly Line[] {
  const others = atWork === 0 ? "no worker is left" : `${counted(atWork, "worker")} left`;
  return [
    [
      span(
        `  Worker ${number} (pid ${pid}) was asked to end and did, with 0; ${others}. The rest stays up until Ctrl-C.`,
      ),
    ],
    [],
  ];
}

/** For those whose servers go now: the same commands, for a run that is kept. The same options give its events the same names. */
export function keepHint(event: EventEnvelope, columns: number): readonly Line[] {
  const text = "Servers and workers are being taken down. To look further, after npm run demo -- --keep:";
  return [
    ...wrapped(text, columns - 3).map((piece) => [span(`  ${piece}`, "quiet")]),
    [],
    ...commands(event),
    [],
  ];
}

function commands(event: EventEnvelope): readonly Line[] {
  return [
    command(`npx junban order ${event.lcid} --history`),
    command(`npx junban event ${event.source} ${event.id}`),
    command("npx junban audit"),
  ];
}

function exported(name: string, value: string): Line {
  return [span(`    export ${name}='${value}'`)];
}

function command(text: string): Line {
  return [span(`    ${text}`, "strong")];
}
