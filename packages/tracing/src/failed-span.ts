import { SpanStatusCode, type Span } from "@opentelemetry/api";

/** Marks a span as failed, by the kind of trouble only: a message could quote what was sent. */
export function failWith(span: Span, kind: string): void {
  span.setAttribute("error.type", kind);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** What kind of trouble a thrown thing is: its code where it has one. */
export function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

/** Runs work that a span is about, and ends the span whatever comes of it. */
export async function spanning<Result>(span: Span, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    failWith(span, kindOf(error));
    throw error;
  } finally {
    span.end();
  }
}
