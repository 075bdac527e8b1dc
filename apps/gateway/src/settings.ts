import { readFile } from "node:fs/promises";
import { ConfigError, readConfig } from "@junban/service";
import type { Config } from "@junban/service";
import type { TokenEntry } from "./token-book.ts";

export interface GatewaySettings {
  readonly config: Config<"redis">;
  readonly tokens: readonly TokenEntry[];
  /** None: Stripe's address does not exist. */
  readonly stripeSecrets: readonly string[];
}

const TOKENS = "JUNBAN_GATEWAY_TOKENS";
const TOKENS_FILE = "JUNBAN_GATEWAY_TOKENS_FILE";
const STRIPE_SECRETS = "JUNBAN_GATEWAY_STRIPE_SECRETS";

/** @throws {ConfigError} */
export async function readGatewaySettings(env: NodeJS.ProcessEnv): Promise<GatewaySettings> {
  const config = readConfig(env, ["redis"]);
  return { config, tokens: await readTokens(config), stripeSecrets: readStripeSecrets(config.stripeSecrets) };
}

async function readTokens({
  gatewayTokens,
  gatewayTokensFile,
}: Config<"redis">): Promise<readonly TokenEntry[]> {
  if (gatewayTokens !== "" && gatewayTokensFile !== "") {
    throw problem(TOKENS_FILE, gatewayTokensFile, `nothing beside ${TOKENS}`);
  }
  if (gatewayTokens !== "") return entriesOf(TOKENS, gatewayTokens);
  if (gatewayTokensFile === "") throw problem(TOKENS_FILE, null, `a file with tokens, or ${TOKENS}`);
  let text: string;
  try {
    text = await readFile(gatewayTokensFile, "utf8");
  } catch {
    throw problem(TOKENS_FILE, gatewayTokensFile, "a file that can be read");
  }
  return entriesOf(TOKENS_FILE, text);
}

/** What is wrong is told by its place in the list; what is written there may be a token, put in by mistake. */
function entriesOf(variable: string, text: string): readonly TokenEntry[] {
  const wrong = (allowed: string): ConfigError => problem(variable, "(hidden)", allowed);
  const list = listOf(text);
  if (list === null) throw wrong("a list of 1 to 1,000 tokens as JSON");
  const entries = list.map((entry, index) => {
    const { name, sha256, sources, ...others } = Object(entry) as Record<string, unknown>;
    const at = `entry ${index + 1}: `;
    if (!isText(name, /^[\w./:@-]{1,64}$/)) throw wrong(`${at}name, 1 to 64 of 0-9 A-Z a-z _ . / : @ -`);
    if (!isText(sha256, /^[0-9a-f]{64}$/i)) throw wrong(`${at}sha256, 64 hexadecimal digits`);
    if (!isListOfSources(sources)) throw wrong(`${at}sources, 1 to 100 texts of 1 to 256 characters`);
    if (Object.keys(others).length > 0) throw wrong(`${at}name, sha256 and sources, and nothing else`);
    return { name, sha256: sha256.toLowerCase(), sources };
  });
  if (new Set(entries.map(({ sha256 }) => sha256)).size < entries.length) throw wrong("each sha256 once");
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

function readStripeSecrets(text: string): readonly string[] {
  if (text === "") return [];
  const secrets = text.split(",").map((secret) => secret.trim());
  if (secrets.every((secret) => /^\S{16,512}$/.test(secret))) return secrets;
  throw problem(STRIPE_SECRETS, "(hidden)", "secrets of 16 to 512 characters, separated by commas");
}

function isText(value: unknown, pattern: RegExp): value is string {
  return typeof value === "string" && pattern.test(value);
}

function isListOfSources(value: unknown): value is readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > 100) return false;
  return value.every((source) => isText(source, /^[\s\S]{1,256}$/));
}

function problem(variable: string, value: string | null, allowed: string): ConfigError {
  return new ConfigError({ problems: [{ variable, value, allowed }] });
}
