/** Why a whole request is refused. Each code belongs to one status. */
const STATUS_OF = {
  MALFORMED: 400,
  BAD_SIGNATURE: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN_SOURCE: 403,
  NOT_FOUND: 404,
  REQUEST_TIMEOUT: 408,
  BODY_TOO_LARGE: 413,
  BATCH_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL: 500,
  CLOSING: 503,
} as const;

export type RefusalCode = keyof typeof STATUS_OF;

/** What an answer says of a refusal. Never repeats a value that was sent. */
export interface Refused {
  readonly code: string;
  readonly message: string;
  /** Where the fault is: a field of an event, the name of a header, `path`, `body`, or `request` for what is no HTTP. */
  readonly field?: string;
  /** What is allowed there. */
  readonly rule?: string;
}

interface RefusalData extends Omit<Refused, "code"> {
  readonly code: RefusalCode;
  readonly retryAfterSeconds?: number;
}

/** Thrown when a request is refused as a whole: nothing of it was published. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly status: number;
  readonly told: Refused;
  readonly retryAfterSeconds: number | undefined;

  constructor({ retryAfterSeconds, ...told }: RefusalData) {
    super(told.message);
    this.name = "Refusal";
    this.code = told.code;
    this.status = STATUS_OF[told.code];
    this.told = told;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export function malformed(field: string, rule: string): Refusal {
  return new Refusal({ code: "MALFORMED", message: "the request cannot be read", field, rule });
}
