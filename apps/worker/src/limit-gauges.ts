import type { Config } from "@junban/service";
import { Gauge } from "prom-client";
import type { Registry } from "prom-client";

/** Limits as this process was given them, so that a rule can say how near another figure is to one without knowing the setting. */
export function exposeLimits(
  registry: Registry,
  { laneCap, pgPool }: Pick<Config, "laneCap" | "pgPool">,
): void {
  const registers = [registry];
  new Gauge({ name: "junban_lane_cap", help: "Requests that may stand in one lane", registers }).set(laneCap);
  new Gauge({ name: "junban_pg_pool_size", help: "Postgres connections for applying", registers }).set(
    pgPool,
  );
}
