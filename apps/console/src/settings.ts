import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { ConfigError, readConfig } from "@junban/service";
import type { Config } from "@junban/service";
import { isPasswordHash } from "./passwords.ts";

/** `viewer` looks; `operator` also replays, drops and gives back. */
export const ROLES = ["viewer", "operator"] as const;
export type Role = (typeof ROLES)[number];

export interface UserEntry {
  readonly name: string;
  readonly role: Role;
  /** As `hash-password` prints it. */
  readonly password: string;
}

/** A proxy that has asked people who they are. */
export interface ProxySettings {
  readonly secret: string;
  readonly userHeader: string;
  readonly operators: ReadonlySet<string>;
}

export interface ConsoleSettings {
  readonly config: Config;
  readonly users: readonly UserEntry[];
  /** Null: no header is believed. */
  readonly proxy: ProxySettings | null;
}

const USERS = "JUNBAN_CONSOLE_USERS";
const USERS_FILE = "JUNBAN_CONSOLE_USERS_FILE";
const PROXY_SECRET = "JUNBAN_CONSOLE_PROXY_SECRET";
const ORIGIN = "JUNBAN_CONSOLE_ORIGIN";

/** @throws {ConfigError} */
export async function readConsoleSettings(env: NodeJS.ProcessEnv): Promise<ConsoleSettings> {
  const config = readConfig(env);
  checkOrigin(config);
  const proxy = proxyOf(config);
  const users = await readUsers(config);
  if (users.length === 0 && proxy === null) {
    throw problem(USERS_FILE, null, `a file with users, or ${USERS}, or ${PROXY_SECRET}`);
  }
  return { config, users, proxy };
}

/** Names by which only this machine reaches itself. */
export function isLoopback(host: string): boolean {
  if (host === "localhost" || host === "::1" || host === "[::1]") return true;
  return isIP(host) === 4 && host.startsWith("127.");
}

function checkOrigin({ consoleOrigin, consoleHost }: Config): void {
  if (consoleOrigin === "") {
    if (isLoopback(consoleHost)) return;
    const allowed = `set where JUNBAN_CONSOLE_HTTP_HOST (${consoleHost}) is not the loopback: what browsers call the console`;
    throw problem(ORIGIN, null, allowed);
  }
  const { protocol, hostname, origin } = new URL(consoleOrigin);
  if (origin !== consoleOrigin) throw problem(ORIGIN, consoleOrigin, `as browsers write it: ${origin}`);
  // Passwords and sessions do not cross a network in the open.
  if (protocol === "https:" || isLoopback(hostname)) return;
  throw problem(ORIGIN, consoleOrigin, "an address that begins with https://, except on the loopback");
}

function proxyOf(config: Config): ProxySettings | null {
  const { consoleProxySecret: secret, consoleProxyUserHeader: userHeader, consoleProxyOperators } = config;
  if (secret === "") return null;
  if (!/^[!-~]{32,512}$/.test(secret)) {
    throw problem(PROXY_SECRET, "(hidden)", "32 to 512 visible characters, no spaces");
  }
  const operators = new Set(consoleProxyOperators === "" ? [] : consoleProxyOperators.split(","));
  return { secret, userHeader, operators };
}

async function readUsers({ consoleUsers, consoleUsersFile }: Config): Promise<readonly UserEntry[]> {
  if (consoleUsers !== "" && consoleUsersFile !== "") {
    throw problem(USERS_FILE, consoleUsersFile, `nothing beside ${USERS}`);
  }
  if (consoleUsers !== "") return entriesOf(USERS, consoleUsers);
  if (consoleUsersFile === "") return [];
  let text: string;
  try {
    text = await readFile(consoleUsersFile, "utf8");
  } catch {
    throw problem(USERS_FILE, consoleUsersFile, "a file that can be read");
  }
  return entriesOf(USERS_FILE, text);
}

/** What is wrong is told by its place in the list; what is written there may be a password, put in by mistake. */
function entriesOf(variable: string, text: string): readonly UserEntry[] {
  const wrong = (allowed: string): ConfigError => problem(variable, "(hidden)", allowed);
  const list = listOf(text);
  if (list === null) throw wrong("a list of 1 to 1,000 users as JSON");
  const entries = list.map((entry, index) => {
    const { name, role, password, ...others } = Object(entry) as Record<string, unknown>;
    const at = `entry ${index + 1}: `;
    if (typeof name !== "string" || !/^[\w.@+-]{1,64}$/.test(name)) {
      throw wrong(`${at}name, 1 to 64 of 0-9 A-Z a-z _ . @ + -`);
    }
    if (role !== "viewer" && role !== "operator") throw wrong(`${at}role, viewer or operator`);
    if (typeof password !== "string" || !isPasswordHash(password)) {
      throw wrong(`${at}password, as npm run console -- hash-password prints it`);
    }
    if (Object.keys(others).length > 0) throw wrong(`${at}name, role and password, and nothing else`);
    return { name, role, password } as const;
  });
  if (new Set(entries.map(({ name }) => name)).size < entries.length) throw wrong("each name once");
  return entries;
}

function listOf(text: string): readonly unknown[] | null {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) && list.length > 0 && list.length <= 1_000 ? list : null;
  } catch {
    return null;
  }
}

function problem(variable: string, value: string | null, allowed: string): ConfigError {
  return new ConfigError({ problems: [{ variable, value, allowed }] });
}
