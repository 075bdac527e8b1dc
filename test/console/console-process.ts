import { fileURLToPath } from "node:url";
import { startProcess } from "@junban/sandbox";
import type { ProcessTree } from "@junban/sandbox";

/** Where a console looks. */
export interface Place {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly prefix: string;
}

export const PASSWORD = "correct horse battery staple";
/** Of that password, at the lowest cost that is taken. */
export const HASH =
  "$scrypt$ln=14,r=8,p=1$c2FsdHNhbHRzYWx0c2FsdA$PJAV4qWLTjSe3lT4xOIAexIMw5uL3hBCiM6HFiXcgrY";

export const USERS = JSON.stringify([
  { name: "olga", role: "operator", password: HASH },
  { name: "vera", role: "viewer", password: HASH },
  { name: "zoe", role: "viewer", password: HASH },
]);

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PROGRAM = fileURLToPath(new URL("../../apps/console/src/main.ts", import.meta.url));

export type Environment = Readonly<Record<string, string>>;

/** Starts the console's own program, without waiting for anything. */
export async function launchConsole(
  env: Environment,
  { args = [], input = "" }: { readonly args?: readonly string[]; readonly input?: string } = {},
): Promise<ProcessTree> {
  return startProcess({
    command: process.execPath,
    args: ["--import", "tsx", "--conditions", "@junban/source", PROGRAM, ...args],
    env: { PATH: process.env["PATH"], JUNBAN_HTTP_PORT: "0", JUNBAN_CONSOLE_HTTP_PORT: "0", ...env },
    cwd: ROOT,
    input,
  });
}

export interface Question {
  readonly method?: string;
  readonly cookie?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The fields of a form. */
  readonly form?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A console as its readers meet it. */
export interface Door {
  /** One request, whose redirections are not followed; a form comes with the console's own origin unless headers say otherwise. */
  ask(path: string, question?: Question): Promise<Answer>;
  /** Logs in and answers with the cookie of the session. */
  logIn(name: string): Promise<string>;
  /** The token that this reader's forms carry. */
  formToken(cookie: string): Promise<string>;
}

export interface Console extends Door {
  readonly tree: ProcessTree;
  readonly url: string;
  readonly healthUrl: string;
}

/** Starts a console and waits until it serves. Whoever starts it ends it. */
export async function openConsole(place: Place, env: Environment = {}): Promise<Console> {
  const tree = await launchConsole({
    DATABASE_URL: place.databaseUrl,
    REDIS_URL: place.redisUrl,
    JUNBAN_PREFIX: place.prefix,
    JUNBAN_CONSOLE_USERS: USERS,
    JUNBAN_CONSOLE_REFRESH_MS: "200",
    ...env,
  });
  const line = await tree.waitForLine("the console serves", { withinMs: 60_000 });
  const { port, httpPort } = JSON.parse(line) as { port: number; httpPort: number };
  const url = `http://127.0.0.1:${port}`;
  return { tree, url, healthUrl: `http://127.0.0.1:${httpPort}`, ...consoleAt(url) };
}

/** A console that somebody else has started. */
export function consoleAt(url: string): Door {
  const ask: Door["ask"] = async (path, question = {}) => exchange(url, path, question);
  return {
    ask,
    logIn: async (name) => logIn(ask, name),
    formToken: async (cookie) => tokenIn((await ask("/held", { cookie })).text),
  };
}

async function exchange(url: string, path: string, question: Question): Promise<Answer> {
  const { form, cookie, method = form === undefined ? "GET" : "POST" } = question;
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: "manual",
    headers: {
      accept: "text/html",
      ...(method === "GET" ? {} : { origin: url }),
      ...(cookie === undefined ? {} : { cookie }),
      ...question.headers,
    },
    ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

async function logIn(ask: Door["ask"], name: string): Promise<string> {
  const door = await ask("/login");
  const stranger = cookieIn(door);
  const token = tokenIn(door.text);
  const answer = await ask("/login", { cookie: stranger, form: { token, name, password: PASSWORD } });
  if (answer.status !== 303) throw new Error(`${name} could not log in: ${answer.status}`);
  return cookieIn(answer);
}

/** The cookie that an answer sets, as a browser would send it. */
export function cookieIn({ headers }: Pick<Answer, "headers">): string {
  return headers.get("set-cookie")?.split(";")[0] ?? "";
}

export function tokenIn(text: string): string {
  return /name="token" value="([^"]+)"/u.exec(text)?.[1] ?? "";
}
