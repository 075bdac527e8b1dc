import { setTimeout as sleep } from "node:timers/promises";
import type { Publisher, UpdatesPublisher } from "@junban/event-queues";
import type { Tracer, TracerProvider } from "@opentelemetry/api";
import { tracedApply } from "./traced-apply.ts";
import { tracedHandler } from "./traced-handler.ts";
import { tracedJobs } from "./traced-jobs.ts";
import { TracedPublisher } from "./traced-publisher.ts";
import { TracedUpdates } from "./traced-updates.ts";
import type { Apply, ProcessJob, Tracing, UpdateHandler } from "./tracing.ts";

/** Longest wait for the receiver of what is left, out of a process's grace. */
const LAST_SPANS_MS = 1_000;

/** Spans of one tracer's, around whatever is given here. */
export class SpanTracing implements Tracing {
  readonly #tracer: Tracer;
  readonly #close: () => Promise<void>;

  constructor({
    provider,
    close,
  }: {
    readonly provider: TracerProvider;
    readonly close: () => Promise<void>;
  }) {
    this.#tracer = provider.getTracer("junban");
    this.#close = close;
  }

  publisher(publisher: Publisher): Publisher {
    return new TracedPublisher({ publisher, tracer: this.#tracer });
  }

  jobs(process: ProcessJob): ProcessJob {
    return tracedJobs(this.#tracer, process);
  }

  apply(apply: Apply): Apply {
    return tracedApply(this.#tracer, apply);
  }

  updates(updates: UpdatesPublisher): UpdatesPublisher {
    return new TracedUpdates({ updates, tracer: this.#tracer });
  }

  handler<Update extends { readonly payload: unknown }, Context>(
    options: { readonly name: string },
    handler: UpdateHandler<Update, Context>,
  ): UpdateHandler<Update, Context> {
    return tracedHandler(this.#tracer, options, handler);
  }

  async close(): Promise<void> {
    const given = new AbortController();
    const late = sleep(LAST_SPANS_MS, undefined, { signal: given.signal }).catch(() => undefined);
    // What could not be sent was told by the exporter already, and nothing else waits for it.
    await Promise.race([this.#close().catch(() => undefined), late]);
    given.abort();
  }
}
