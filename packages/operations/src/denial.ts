/** Before version 6 Redis has no word for a wrong password. */
const DENIED_BY_REDIS = /(?:^|[\s(])(?:WRONGPASS|NOAUTH|NOPERM) |invalid password/;
/** Who may not in, and a database that is not there. */
const DENIED_BY_POSTGRES = /^(?:28|3D)[0-9A-Z]{3}$/;
const DEEPEST_CAUSE = 5;

/** Whether a server is there and lets nobody in by what it was told: waiting does not help, a right name or password does. */
export function isDenied(error: unknown): boolean {
  let one = error;
  for (let depth = 0; depth < DEEPEST_CAUSE && one instanceof Error; depth += 1) {
    const code: unknown = Reflect.get(one, "code");
    if (DENIED_BY_REDIS.test(one.message)) return true;
    if (typeof code === "string" && DENIED_BY_POSTGRES.test(code)) return true;
    one = one.cause;
  }
  return false;
}
