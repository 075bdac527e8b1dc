import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A span as it came over the wire. */
export interface ReceivedSpan {
  readonly service: string;
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first of its trace. */
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** 2 is an error. */
  readonly statusCode: number;
  readonly startNanos: bigint;
  readonly endNanos: bigint;
}

/** An OTLP receiver on a port of its own. It ends with the test. */
export interface Receiver {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  /** Everything it was sent, as text. */
  readonly bodies: string[];
  /** How it answers from now on; `hang` takes requests and never answers. */
  answer(how: "well" | "hang" | "refuse"): void;
}

export async function startReceiver(): Promise<Receiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  let how: "well" | "hang" | "refuse" = "well";
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (how === "hang") return;
      if (how === "refuse" || request.url !== "/v1/traces") {
        response.writeHead(400).end();
        return;
      }
      const body = Buffer.concat(chunks).toString("utf8");
      bodies.push(body);
      spans.push(...spansIn(JSON.parse(body) as Exported));
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const answer = (next: typeof how): void => {
    how = next;
  };
  return { url: `http://127.0.0.1:${port}`, spans, bodies, answer };
}

interface Value {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly boolValue?: boolean;
  readonly doubleValue?: number;
}
type Pairs = readonly { readonly key: string; readonly value: Value }[];

interface Exported {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Pairs };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

interface WireSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly attributes: Pairs;
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code?: number };
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

function spansIn({ resourceSpans }: Exported): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)["service.name"]);
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => received(service, span)));
  });
}

function received(service: string, span: WireSpan): ReceivedSpan {
  const { name, kind, traceId, spanId } = span;
  return {
    service,
    name,
    kind,
    traceId,
    spanId,
    parentSpanId: span.parentSpanId ?? "",
    traceState: span.traceState ?? "",
    attributes: valuesOf(span.attributes),
    links: (span.links ?? []).map((link) => ({ traceId: link.traceId, spanId: link.spanId })),
    statusCode: span.status.code ?? 0,
    startNanos: BigInt(span.startTimeUnixNano),
    endNanos: BigInt(span.endTimeUnixNano),
  };
}

function valuesOf(pairs: Pairs): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map(({ key, value: { stringValue, intValue, boolValue, doubleValue } }) => [
      key,
      stringValue ?? (intValue === undefined ? undefined : Number(intValue)) ?? boolValue ?? doubleValue,
    ]),
  );
}
