import type { ReceivedSpan } from "./receiver.ts";

/** The spans of one trace, told as `parent > child` by their names, sorted; the first has no parent. */
export function picture(spans: readonly ReceivedSpan[], traceId: string): string[] {
  const own = spans.filter((span) => span.traceId === traceId);
  const names = new Map(own.map(({ spanId, name }) => [spanId, name]));
  return own
    .map(({ name, parentSpanId }) => {
      if (parentSpanId === "") return name;
      return `${names.get(parentSpanId) ?? "somebody unknown"} > ${name}`;
    })
    .toSorted();
}

/** The one span of that name, in that trace if one is given. */
export function spanNamed(spans: readonly ReceivedSpan[], name: string, traceId?: string): ReceivedSpan {
  const found = spans.filter((span) => span.name === name && (traceId ?? span.traceId) === span.traceId);
  const [only] = found;
  if (only === undefined || found.length > 1) throw new Error(`${found.length} spans are named ${name}`);
  return only;
}
