import type { Socket } from "node:net";
import type { FastifyError } from "fastify";
import { Refusal, malformed } from "./refusal.ts";

/** What a request ran into, as a refusal; null when it is a fault of ours. */
export function refusalOf(error: FastifyError | Error): Refusal | null {
  if (error instanceof Refusal) return error;
  const code: unknown = Reflect.get(error, "code");
  const status: unknown = Reflect.get(error, "statusCode");
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") {
    return new Refusal({ code: "BODY_TOO_LARGE", message: "the body is too large", field: "body" });
  }
  if (code === "FST_ERR_BAD_URL") return malformed("path", "percent-encoded UTF-8");
  if (status === 415) {
    return new Refusal({
      code: "UNSUPPORTED_MEDIA_TYPE",
      message: "the content type cannot be read",
      field: "content-type",
      rule: "a media type",
    });
  }
  // Cut off, or not as long as it said.
  return typeof status === "number" && status < 500
    ? malformed("body", "a whole body of the length it has")
    : null;
}

/** Answers what never became a request: too slow, too long, or not HTTP. */
export function refuseConnection(error: Error, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { status, told } = connectionRefusal(Reflect.get(error, "code"));
  const text = JSON.stringify({ error: told });
  const head = [
    `HTTP/1.1 ${status} ${REASONS[status] ?? "Bad Request"}`,
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(text)}`,
    "cache-control: no-store",
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`);
}

const REASONS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  408: "Request Timeout",
  431: "Request Header Fields Too Large",
};

function connectionRefusal(code: unknown): Refusal {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new Refusal({ code: "REQUEST_TIMEOUT", message: "the request did not arrive in time" });
  }
  if (code === "HPE_HEADER_OVERFLOW") {
    return new Refusal({ code: "HEADERS_TOO_LARGE", message: "the headers are too large" });
  }
  return malformed("request", "HTTP/1.1");
}

/** What kind of fault, and where. Its message could hold what was sent, so it is left out. */
export function faultOf(error: Error): { readonly kind: string; readonly at: string } {
  const at = /^ {4}at .*$/m.exec(error.stack ?? "")?.[0].trim() ?? "unknown";
  return { kind: error.name, at };
}
