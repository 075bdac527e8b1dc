import { canonicalText, digestOf } from "./digest.ts";
import { MAX_EVENT_BYTES, readEnvelope } from "./envelope.ts";
import type { EventEnvelope, RuleBroken } from "./envelope.ts";
import { previewOf } from "./excerpt.ts";
import { interpret } from "./interpret.ts";
import { NOT_JSON_RULE, readStructure, SIZE_RULE } from "./structure.ts";

/** What stands in a lane for an event. */
export interface OrderRequest {
  /** 22 characters; also the inbox's digest of the body. */
  readonly key: string;
  readonly lcid: string;
  readonly type: string;
  /** JSON text of at most MAX_EVENT_BYTES. */
  readonly body: string;
}

interface Written {
  readonly envelope: EventEnvelope;
  readonly body: string;
}

/**
 * Turns a usable envelope into its place in line. Two events have one key exactly when source, id, type, lcid, schema version
 * and data are the same, so a repeat finds its place and another body under a used id gets one of its own. An event that is
 * too large, too deep or not JSON at all is represented by its identity and an `invalidpayload` attribute, which interpret()
 * answers with `invalid`. The request of a request's body is that request again. Never throws.
 */
export function requestOf(envelope: EventEnvelope): OrderRequest {
  const { envelope: written, body } = write(envelope);
  const { source, id, lcid, type } = written;
  // Neither source nor id can contain the separator.
  const key = digestOf(`${source}\0${id}\0${contentOf(written)}`);
  return { key, lcid, type, body };
}

/**
 * Whether two deliveries under one identity say the same: type, lcid and the known data fields, in whatever order their keys
 * come. What this build cannot read must agree in all its data.
 */
export function sameBody(a: EventEnvelope, b: EventEnvelope): boolean {
  const left = write(a).envelope;
  const right = write(b).envelope;
  const leftMeaning = interpret(left);
  const rightMeaning = interpret(right);
  if (leftMeaning.kind === "known" && rightMeaning.kind === "known") {
    return canonicalText(leftMeaning.event) === canonicalText(rightMeaning.event);
  }
  return contentOf(left) === contentOf(right);
}

/** Written by hand in the order of its sorted keys; the canonical text of the part of an event that its key stands for. */
function contentOf({ data, invalidpayload, lcid, schemaversion, type }: EventEnvelope): string {
  const verdict = invalidpayload === undefined ? "" : `,"invalidpayload":${canonicalText(invalidpayload)}`;
  const version = canonicalText(schemaversion ?? 1);
  return `{"data":${canonicalText(data)}${verdict},"lcid":"${lcid}","schemaversion":${version},"type":${canonicalText(type)}}`;
}

function write(envelope: EventEnvelope): Written {
  try {
    return writePlain(envelope) ?? writePlain(replain(envelope)) ?? writeStandIn(envelope, NOT_JSON);
  } catch {
    // Something inside threw while being read: not an event, but it has an identity, and so it gets an answer.
    return writeStandIn(envelope, NOT_JSON);
  }
}

const NOT_JSON: RuleBroken = { field: "event", rule: NOT_JSON_RULE };

/** Null when only the form of the event stands in the way: a date, an instance of a class. */
function writePlain(envelope: EventEnvelope): Written | null {
  const structure = readStructure(envelope, "writable");
  if (structure.kind === "faulty") {
    return structure.fault.ofForm ? null : writeStandIn(envelope, structure.fault);
  }
  const body = JSON.stringify(envelope);
  const fits = structure.mostBytes <= MAX_EVENT_BYTES || Buffer.byteLength(body) <= MAX_EVENT_BYTES;
  return fits ? { envelope, body } : writeStandIn(envelope, { field: "event", rule: SIZE_RULE });
}

/** Reads an event back from its own JSON, which is what its consumer will see of it. */
function replain(envelope: EventEnvelope): EventEnvelope {
  const reading = readEnvelope(JSON.parse(JSON.stringify(envelope)));
  return reading.kind === "usable" ? reading.envelope : standInFor(envelope, NOT_JSON);
}

function writeStandIn(envelope: EventEnvelope, broken: RuleBroken): Written {
  const standIn = standInFor(envelope, broken);
  return { envelope: standIn, body: JSON.stringify(standIn) };
}

function standInFor(envelope: EventEnvelope, { field, rule }: RuleBroken): EventEnvelope {
  const { id, source, type, lcid, data } = envelope;
  const invalidpayload = { field, rule, excerpt: previewOf(data) };
  return { specversion: "1.0", id, source, type, lcid, invalidpayload };
}
