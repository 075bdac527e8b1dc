import { createHmac, timingSafeEqual } from "node:crypto";

export interface SignatureCheck {
  /** The `Stripe-Signature` header, such as `t=1764489600,v1=5257…,v1=…`. */
  readonly header: string;
  /** The body as it came, to the byte. */
  readonly payload: Uint8Array;
  /** Several while one replaces another. */
  readonly secrets: readonly string[];
  readonly toleranceMs: number;
  readonly nowMs: number;
}

export type SignatureVerdict = "genuine" | "unreadable" | "untimely" | "forged";

const MOST_CHARACTERS = 4_096;

/**
 * Stripe's scheme, as its documentation describes it under “Verify webhook signatures manually”: HMAC-SHA256 over the
 * timestamp, a dot and the body. One `v1` that fits one secret is enough; other schemes (`v0`) count for nothing. A timestamp
 * that is further away than the tolerance is refused in both directions: it is what keeps a recorded request from being
 * sent again.
 */
export function checkSignature({
  header,
  payload,
  secrets,
  toleranceMs,
  nowMs,
}: SignatureCheck): SignatureVerdict {
  const { timestamp, signatures } = partsOf(header);
  if (timestamp === undefined || signatures.length === 0) return "unreadable";
  if (Math.abs(nowMs - Number(timestamp) * 1_000) > toleranceMs) return "untimely";
  const expected = secrets.map((secret) =>
    createHmac("sha256", secret).update(`${timestamp}.`).update(payload).digest(),
  );
  let isGenuine = false;
  for (const signature of signatures) {
    for (const one of expected) if (timingSafeEqual(one, signature)) isGenuine = true;
  }
  return isGenuine ? "genuine" : "forged";
}

function partsOf(header: string): {
  readonly timestamp: string | undefined;
  readonly signatures: readonly Buffer[];
} {
  const parts = header
    .slice(0, MOST_CHARACTERS)
    .split(",")
    .map((part) => part.trim());
  const timestamps = parts.filter((part) => part.startsWith("t="));
  const signatures = parts
    .filter((part) => /^v1=[0-9a-f]{64}$/i.test(part))
    .map((part) => Buffer.from(part.slice("v1=".length), "hex"));
  // With two of them, the one that was checked might not be the one that was signed.
  const timestamp = timestamps.length === 1 ? /^t=(\d{1,12})$/.exec(timestamps[0] ?? "")?.[1] : undefined;
  return { timestamp, signatures };
}
