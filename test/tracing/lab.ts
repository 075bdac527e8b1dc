import { startTracing } from "@junban/tracing";
import type { Tracing } from "@junban/tracing";
import { onTestFinished, vi } from "vitest";
import { startReceiver } from "./receiver.ts";
import type { Receiver } from "./receiver.ts";

export const SERVICE = "the-test";

/** A line of a log, by its text and its fields. */
export type Said = readonly [line: string, fields: object];

export interface TracedProcess {
  readonly receiver: Receiver;
  readonly tracing: Tracing;
  readonly said: Said[];
  /** Sends what is left, so that it is with the receiver. */
  flush(): Promise<void>;
}

/** This test's own process as one that is traced. */
export async function traceThisProcess(): Promise<TracedProcess> {
  const receiver = await startReceiver();
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const said: Said[] = [];
  const say = (fields: object, line: string): void => void said.push([line, fields]);
  const tracing = await startTracing({
    settings: { sampler: "parentbased_always_on", ratio: 1 },
    serviceName: SERVICE,
    logger: { info: say, warn: say },
  });
  if (tracing === null) throw new Error("traces are off");
  onTestFinished(async () => tracing.close());
  return { receiver, tracing, said, flush: async () => tracing.close() };
}
