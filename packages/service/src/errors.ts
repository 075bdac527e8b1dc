/** What can go wrong in the parts that every process has. Each error has a code and plain data. */

export interface ConfigProblem {
  variable: string;
  /** As it was set, bounded and without passwords; null when it was not set at all. */
  value: string | null;
  /** What would have been right, as half a sentence. */
  allowed: string;
}

/** Thrown when the environment holds values that nobody can mean. Lists every problem at once. The process ends with EXIT.usage. */
export class ConfigError extends Error {
  readonly code = "CONFIG";
  readonly problems: readonly ConfigProblem[];

  constructor(data: { problems: readonly ConfigProblem[] }) {
    super(
      [
        data.problems.length === 1
          ? "1 problem in the configuration"
          : `${data.problems.length} problems in the configuration`,
        ...data.problems.map(
          ({ variable, value, allowed }) => `  ${variable} is ${shownValue(value)}; allowed: ${allowed}`,
        ),
      ].join("\n"),
    );
    this.name = "ConfigError";
    this.problems = data.problems;
  }
}

function shownValue(value: string | null): string {
  if (value === null) return "not set";
  return value === "" ? "empty" : JSON.stringify(value);
}

/** Thrown when a service did not answer within the bound. The process ends with EXIT.unreachable. */
export class UnreachableError extends Error {
  readonly code = "UNREACHABLE";
  readonly service: string;
  readonly address: string;

  constructor(data: { service: string; address: string; limitMs: number }, options?: ErrorOptions) {
    super(`${data.service} at ${data.address} did not answer within ${data.limitMs} ms`, options);
    this.name = "UnreachableError";
    this.service = data.service;
    this.address = data.address;
  }
}

/** Thrown when the health server cannot listen, for instance because another process has the port. */
export class HttpListenError extends Error {
  readonly code = "HTTP_LISTEN";
  readonly host: string;
  readonly port: number;

  constructor(data: { host: string; port: number }, options?: ErrorOptions) {
    super(
      `cannot listen on ${data.host}:${data.port} for health and metrics (JUNBAN_HTTP_HOST, JUNBAN_HTTP_PORT)`,
      options,
    );
    this.name = "HttpListenError";
    this.host = data.host;
    this.port = data.port;
  }
}

/** How a process ends. A supervisor restarts on everything but `done`. */
export const EXIT = {
  done: 0,
  /** It ran and found something wrong, or could not finish in time. */
  wrong: 1,
  /** Bad usage or configuration: a restart alone does not help. */
  usage: 2,
  /** A service could not be reached. */
  unreachable: 3,
} as const;

/** The exit code that belongs to an error which ended a process. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof ConfigError || error instanceof HttpListenError) return EXIT.usage;
  if (error instanceof UnreachableError) return EXIT.unreachable;
  return EXIT.wrong;
}
