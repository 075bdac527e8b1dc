import type { EventEnvelope } from "@junban/orders";
import { span, type Line } from "./paint.ts";
import type { Servers } from "./servers.ts";

/** What a person can ask next, while the servers are up. */
export function furtherLines(servers: Servers, event: EventEnvelope): readonly Line[] {
  return [
    [span("  Servers and workers stay up. In another terminal, in this folder:")],
    [],
    exported("DATABASE_URL", servers.databaseUrl),
    exported("REDIS_URL", servers.redisUrl),
    ...(servers.prefix === "junban" ? [] : [exported("JUNBAN_PREFIX", servers.prefix)]),
    command(`npx junban order ${event.lcid} --history`, "an order, and all that happened to it"),
    command(`npx junban event ${event.source} ${event.id}`, "what became of one event"),
    command("npx junban audit", "every order against its own history"),
    [],
    [span("  Ctrl-C ends and removes everything.")],
    [],
  ];
}

/** For those whose servers are gone already. */
export function keepHint(): Line {
  return [
    span("  To look around afterwards (junban order, event, audit), keep the servers: ", "quiet"),
    span("npm run demo -- --keep"),
  ];
}

function exported(name: string, value: string): Line {
  return [span(`    export ${name}='${value}'`)];
}

function command(text: string, remark: string): Line {
  return [span(`    ${text}`, "strong"), span(`   # ${remark}`, "quiet")];
}
