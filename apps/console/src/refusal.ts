/** Why a request is not answered with what it asked for. Its words are for people and hold nothing that was sent. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly status: number;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.name = "Refusal";
    this.code = code;
    this.status = STATUS[code];
  }
}

const STATUS = {
  MALFORMED: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  FOREIGN_FORM: 403,
  NOT_FOUND: 404,
  RATE_LIMITED: 429,
  SERVICE_AWAY: 503,
  CLOSING: 503,
} as const;

export type RefusalCode = keyof typeof STATUS;
