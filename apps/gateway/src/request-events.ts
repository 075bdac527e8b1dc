import { attributesOf } from "./binary-mode.ts";
import { Refusal, malformed } from "./refusal.ts";

export interface EventRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly rawHeaders: readonly string[];
  /** Undefined when there was none. */
  readonly body: Buffer | undefined;
}

/** What a request carries: events as they were written, nothing of them checked yet. */
export interface CarriedEvents {
  readonly mode: "structured" | "binary" | "batch";
  readonly events: readonly unknown[];
}

const STRUCTURED = "application/cloudevents+json";
const BATCH = "application/cloudevents-batch+json";
const JSON_TYPE = /^(?:application\/json|[\w.+-]+\/[\w.+-]+\+json)$/;

/**
 * Reads the events out of a request, by the HTTP binding of CloudEvents 1.0: what the content type does not call an event or a
 * batch is the data of an event whose attributes are headers.
 *
 * @throws {Refusal}
 */
export function readEvents(request: EventRequest, { mostEvents }: { mostEvents: number }): CarriedEvents {
  const contentType = plainJsonType(request);
  if (contentType === STRUCTURED) return { mode: "structured", events: [jsonOf(request.body)] };
  if (contentType === BATCH) return { mode: "batch", events: batchOf(request.body, mostEvents) };
  if (request.headers["ce-specversion"] === undefined) throw unsupported();
  return { mode: "binary", events: [binaryEvent(request, contentType)] };
}

/** The media type without its parameters; empty when none is named. */
function plainJsonType({ headers }: EventRequest): string {
  const [mediaType = "", ...parameters] = String(headers["content-type"] ?? "").split(";");
  const charset = parameters
    .map((text) => /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/i.exec(text)?.[1])
    .find(Boolean);
  if (charset !== undefined && !/^(?:utf-8|us-ascii)$/i.test(charset)) throw unsupported();
  if (!/^(?:identity)?$/i.test(String(headers["content-encoding"] ?? ""))) throw unsupported();
  return mediaType.trim().toLowerCase();
}

function binaryEvent({ rawHeaders, body }: EventRequest, contentType: string): object {
  const attributes = attributesOf(rawHeaders);
  if (body === undefined || body.length === 0) return { ...attributes };
  if (!JSON_TYPE.test(contentType)) throw unsupported();
  return { ...attributes, datacontenttype: contentType, data: jsonOf(body) };
}

function batchOf(body: Buffer | undefined, mostEvents: number): readonly unknown[] {
  const events = jsonOf(body);
  if (!Array.isArray(events)) throw malformed("body", "a list of events");
  if (events.length <= mostEvents) return events;
  const rule = `at most ${mostEvents} events`;
  throw new Refusal({ code: "BATCH_TOO_LARGE", message: "the batch is too large", field: "body", rule });
}

/** Of a key that is repeated in one object the last one counts; `__proto__` is a key like any other, and judged later. */
function jsonOf(body: Buffer | undefined): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(body ?? new Uint8Array());
  } catch {
    throw malformed("body", "UTF-8");
  }
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the body.
    throw malformed("body", "well-formed JSON");
  }
}

function unsupported(): Refusal {
  return new Refusal({
    code: "UNSUPPORTED_MEDIA_TYPE",
    message: "the content is none that this address takes",
    field: "content-type",
    rule: `${STRUCTURED}, ${BATCH}, or ce- headers with JSON; UTF-8, not compressed`,
  });
}
