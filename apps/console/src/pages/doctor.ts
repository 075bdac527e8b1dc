import { counted, sized } from "@junban/operations";
import type { Examination, Finding } from "@junban/operations";
import { html } from "../html.ts";
import type { Content, Html } from "../html.ts";
import { count } from "../words.ts";
import { chip, facts, nothing, page, table } from "./layout.ts";
import type { Reader } from "./layout.ts";

/** What `junban doctor` finds, as it finds it. */
export function doctorPage({ facts: seen, findings }: Examination, reader: Reader): Html {
  const content = html`<h1>Doctor</h1>
    <p class="lead">
      Redis, Postgres, their clocks and the fleet, examined just now. What is wrong comes first; nothing is
      changed by looking.
    </p>
    ${facts(lookedAt(seen))}
    ${findings.length === 0 ? nothing("Nothing is wrong.") : table("Findings", COLUMNS, findings)}`;
  return page({ title: "Doctor", reader, at: "/doctor", content });
}

const COLUMNS = [
  {
    title: "Finding",
    of: ({ severity, says, code }: Finding): Content =>
      html`${chip(severity, severity === "wrong" ? "bad" : "wait")} ${says}<br /><small>${code}</small>`,
  },
  { title: "Means", of: ({ means }: Finding): Content => means },
  { title: "Fix", of: ({ fix }: Finding): Content => fix },
] as const;

function lookedAt({ redis, postgres, fleet }: Examination["facts"]): readonly (readonly [string, Content])[] {
  const limit = (bytes: number | null): string => (bytes === null ? "no limit" : sized(bytes));
  return [
    [
      "Redis",
      redis.kind === "read"
        ? `${redis.value.version}, ${sized(redis.value.usedBytes)} used of ${limit(redis.value.limitBytes)}`
        : "not reached",
    ],
    [
      "Postgres",
      postgres.kind === "read"
        ? `${postgres.value.version}, ${count(postgres.value.connections)} of ${count(postgres.value.connectionLimit)} connections open`
        : "not reached",
    ],
    [
      "Fleet",
      fleet.kind === "read"
        ? `${fleet.value.workers === null ? "workers not told" : counted(fleet.value.workers, "worker")}, ${counted(fleet.value.queued, "job")} queued`
        : "not read",
    ],
  ];
}
