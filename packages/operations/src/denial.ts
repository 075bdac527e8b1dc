/** Before version 6 Redis has no word for a wrong password. */
const DENIED_BY_REDIS = /(?:^|[\s(])(?:WRONGPASS|NOAUTH|NOPERM) |invalid password/;
/** Who may not in, and a database that is not there. */
const DENIED_BY_POSTGRES = /^(?:28|3D)[0-9A-Z]{3}$/;
const TOO_MANY_CONNECTIONS = "53300";
const DEEPEST_CAUSE = 5;

/** Whether a server is there and lets nobody in by what it was told: waiting does not help, a right name or password does. */
export function isDenied(error: unknown): boolean {
  return causesOf(error).some(
    (one) => DENIED_BY_REDIS.test(one.message) || DENIED_BY_POSTGRES.test(codeOf(one)),
  );
}

/** Whether Postgres is there and has no connection left for whoever asks. */
export function isFull(error: unknown): boolean {
  return causesOf(error).some((one) => codeOf(one) === TOO_MANY_CONNECTIONS);
}

function causesOf(error: unknown): readonly Error[] {
  const found: Error[] = [];
  for (let one = error; one instanceof Error && found.length < DEEPEST_CAUSE; one = one.cause) {
    found.push(one);
  }
  return found;
}

function codeOf(error: Error): string {
  const code: unknown = Reflect.get(error, "code");
  return typeof code === "string" ? code : "";
}
