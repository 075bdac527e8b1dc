import { ExportResultCode, type ExportResult } from "@opentelemetry/core";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";

/** The two lines that an outage is worth. A pino logger fits. */
export interface OutageLogger {
  info(fields: object, line: string): void;
  warn(fields: object, line: string): void;
}

/** Says once that spans cannot be exported, and once that they can again. The library itself drops them without a word. */
export class WatchedExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #logger: OutageLogger;
  #isAway = false;

  constructor(exporter: SpanExporter, logger: OutageLogger) {
    this.#exporter = exporter;
    this.#logger = logger;
  }

  export(spans: ReadableSpan[], resultCallback: (result: ExportResult) => void): void {
    this.#exporter.export(spans, (result) => {
      this.#heard(result);
      resultCallback(result);
    });
  }

  async shutdown(): Promise<void> {
    await this.#exporter.shutdown();
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.();
  }

  #heard({ code, error }: ExportResult): void {
    const isAway = code !== ExportResultCode.SUCCESS;
    if (isAway === this.#isAway) return;
    this.#isAway = isAway;
    if (isAway) this.#logger.warn({ why: error?.message }, "spans cannot be exported and are dropped");
    else this.#logger.info({}, "spans are exported again");
  }
}
