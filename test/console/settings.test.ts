import { ConfigError } from "@junban/service";
import { expect, test } from "vitest";
import { readConsoleSettings } from "../../apps/console/src/settings.ts";
import { HASH, USERS } from "./console-process.ts";

const ADDRESSES = { DATABASE_URL: "postgres://127.0.0.1/junban", REDIS_URL: "redis://127.0.0.1" };
const user = (over: object): string =>
  JSON.stringify([{ name: "olga", role: "operator", password: HASH, ...over }]);
const OPEN = { JUNBAN_CONSOLE_USERS: USERS, JUNBAN_CONSOLE_HTTP_HOST: "0.0.0.0" };

test("users, a proxy, or both say who may come in", async () => {
  const settings = await readConsoleSettings({
    ...ADDRESSES,
    ...OPEN,
    JUNBAN_CONSOLE_ORIGIN: "https://console.example",
    JUNBAN_CONSOLE_PROXY_SECRET: "s".repeat(32),
    JUNBAN_CONSOLE_PROXY_OPERATORS: "olga,otto@example.com",
  });
  expect(settings.users.map(({ name, role }) => `${name} ${role}`)).toContain("olga operator");
  expect(settings.proxy?.userHeader).toBe("x-forwarded-user");
  expect([...(settings.proxy?.operators ?? [])]).toEqual(["olga", "otto@example.com"]);
});

test.each<[string, Record<string, string>, string]>([
  ["nobody may come in", {}, "JUNBAN_CONSOLE_USERS_FILE is not set"],
  ["two lists", { JUNBAN_CONSOLE_USERS: USERS, JUNBAN_CONSOLE_USERS_FILE: "/users.json" }, "nothing beside"],
  [
    "a file that is not there",
    { JUNBAN_CONSOLE_USERS_FILE: "/no/such/users.json" },
    "a file that can be read",
  ],
  ["users that are no list", { JUNBAN_CONSOLE_USERS: "olga:secret-word" }, "a list of 1 to 1,000 users"],
  [
    "a name twice",
    { JUNBAN_CONSOLE_USERS: `[${user({}).slice(1, -1)},${user({}).slice(1, -1)}]` },
    "each name once",
  ],
  ["a name that breaks the rule", { JUNBAN_CONSOLE_USERS: user({ name: "olga (proxy)" }) }, "entry 1: name"],
  [
    "a password that is no hash",
    { JUNBAN_CONSOLE_USERS: user({ password: "secret-word" }) },
    "entry 1: password",
  ],
  [
    "a hash that would take minutes",
    { JUNBAN_CONSOLE_USERS: user({ password: HASH.replace("14", "24") }) },
    "password",
  ],
  [
    "a role that is none",
    { JUNBAN_CONSOLE_USERS: user({ role: "secret-word" }) },
    "role, viewer or operator",
  ],
  ["something else about a user", { JUNBAN_CONSOLE_USERS: user({ admin: true }) }, "and nothing else"],
  [
    "a short secret of a proxy",
    { JUNBAN_CONSOLE_PROXY_SECRET: "secret-word" },
    "JUNBAN_CONSOLE_PROXY_SECRET",
  ],
  ["an open address that is not known", OPEN, "JUNBAN_CONSOLE_ORIGIN is not set"],
  ["an open address without TLS", { ...OPEN, JUNBAN_CONSOLE_ORIGIN: "http://console.example" }, "https://"],
  ["an origin with a path", { ...OPEN, JUNBAN_CONSOLE_ORIGIN: "https://console.example/" }, "without a path"],
  ["a misspelt variable", { JUNBAN_CONSOLE_USER: USERS }, "did you mean JUNBAN_CONSOLE_USERS?"],
])("refuses %s, and names it without telling a secret", async (_what, env, said) => {
  const reading = readConsoleSettings({ ...ADDRESSES, ...env });
  await expect(reading).rejects.toThrow(ConfigError);
  await expect(reading).rejects.toThrow(said);
  await expect(reading).rejects.not.toThrow("secret-word");
});
