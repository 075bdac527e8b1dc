import { attributesOf } from "./binary-mode.ts";
import { Refusal, malformed } from "./refusal.ts";

export interface EventRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly rawHeaders: readonly string[];
  /** Undefined when there was none. */
  readonly body: Buffer | undefined;
}

const STRUCTURED = "application/cloudevents+json";
const BATCH = "application/cloudevents-batch+json";
const JSON_TYPE = /^(?:application\/json|[\w.+-]+\/[\w.+-]+\+json)$/;

/**
 * Reads the events out of a request, by the HTTP binding of CloudEvents 1.0: what the content type does not call an event or a
 * batch is the data of an event whose attributes are headers. Nothing of the events is checked yet.
 *
 * @throws {Refusal}
 */
export function readEvents(
  request: EventRequest,
  { mostEvents }: { mostEvents: number },
): readonly unknown[] {
  const mediaType = mediaTypeOf(request);
  if (mediaType === STRUCTURED) return [jsonOf(request.body)];
  if (mediaType === BATCH) return batchOf(request.body, mostEvents);
  // An event in another format is no event's data.
  const isOtherFormat = mediaType.startsWith("application/cloudevents");
  if (isOtherFormat || request.headers["ce-specversion"] === undefined) throw unsupported();
  return [binaryEvent(request, mediaType)];
}

/** The media type without its parameters; empty when none is named. */
function mediaTypeOf({ headers }: EventRequest): string {
  const [mediaType = "", ...parameters] = String(headers["content-type"] ?? "").split(";");
  const charsets = parameters.flatMap((text) => /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/i.exec(text)?.[1] ?? []);
  if (!charsets.every((charset) => /^(?:utf-?8|us-ascii)$/i.test(charset))) throw unsupported();
  if (!/^(?:identity)?$/i.test(String(headers["content-encoding"] ?? ""))) throw unsupported();
  return mediaType.trim().toLowerCase();
}

function binaryEvent({ rawHeaders, body }: EventRequest, mediaType: string): object {
  const attributes = attributesOf(rawHeaders);
  if (body === undefined || body.length === 0) return { ...attributes };
  if (!JSON_TYPE.test(mediaType)) throw unsupported();
  return { ...attributes, datacontenttype: mediaType, data: jsonOf(body) };
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
