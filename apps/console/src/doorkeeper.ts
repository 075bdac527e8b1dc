import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { parseCookie, stringifySetCookie } from "cookie";
import type { OwnOrigin } from "./own-origin.ts";
import type { Session, Sessions } from "./sessions.ts";
import type { ProxySettings, Role } from "./settings.ts";

/** Somebody who is known here. */
export interface Person {
  readonly name: string;
  readonly role: Role;
  /** What every form of theirs has to carry. */
  readonly formToken: string;
  /** Fires when they are to be forgotten. */
  readonly ended: AbortSignal;
  /** Null for those whom a proxy vouches for: it has to end their session. */
  readonly cookie: string | null;
}

export interface DoorkeeperOptions {
  readonly sessions: Sessions;
  readonly proxy: ProxySettings | null;
  readonly origin: OwnOrigin;
}

type Headers = IncomingHttpHeaders;

type CookieKind = "session" | "stranger";

const PROXY_NAME = /^[\w.@+/:-]{1,128}$/;
const COOKIE_LENGTH = 43;

/** Knows who asks: by the cookie of a session, or by the word of a proxy that proves itself. */
export class Doorkeeper {
  readonly #options: DoorkeeperOptions;
  /** Of this process, like the sessions. */
  readonly #key = randomBytes(32);
  /** Nobody but the proxy knows when it forgets somebody. */
  readonly #never = new AbortController().signal;

  constructor(options: DoorkeeperOptions) {
    this.#options = options;
  }

  personOf(headers: Headers): Person | null {
    return this.#vouchedFor(headers) ?? this.#loggedIn(headers);
  }

  /** The cookie that begins a session, as a header. */
  sessionCookie(headers: Headers, session: Pick<Session, "name" | "role">): string {
    return this.#written(this.#name(headers, "session"), this.#options.sessions.begin(session));
  }

  /** Ends a session on both sides. */
  endSession(headers: Headers, { cookie }: Person): string {
    if (cookie !== null) this.#options.sessions.end(cookie);
    return this.#written(this.#name(headers, "session"), "", { maxAge: 0 });
  }

  /** A stranger's form needs a token as well, or somebody else's page could log a browser in as its own user. */
  strangerToken(headers: Headers): { readonly formToken: string; readonly setCookie: string | null } {
    const known = this.#cookie(headers, "stranger");
    if (known !== null) return { formToken: this.#tokenOf(known), setCookie: null };
    const fresh = randomBytes(32).toString("base64url");
    const setCookie = this.#written(this.#name(headers, "stranger"), fresh);
    return { formToken: this.#tokenOf(fresh), setCookie };
  }

  isStrangersForm(headers: Headers, token: string): boolean {
    const cookie = this.#cookie(headers, "stranger");
    return cookie !== null && isSame(token, this.#tokenOf(cookie));
  }

  #vouchedFor(headers: Headers): Person | null {
    const { proxy } = this.#options;
    const secret = headers["x-junban-proxy-secret"];
    if (proxy === null || typeof secret !== "string" || !isSame(secret, proxy.secret)) return null;
    const name = headers[proxy.userHeader];
    if (typeof name !== "string" || !PROXY_NAME.test(name)) return null;
    const role = proxy.operators.has(name) ? "operator" : "viewer";
    // Not the name of a user of ours, even if it is spelt the same.
    const formToken = this.#tokenOf(`proxy ${name}`);
    return { name: `${name} (proxy)`, role, formToken, ended: this.#never, cookie: null };
  }

  #loggedIn(headers: Headers): Person | null {
    const cookie = this.#cookie(headers, "session");
    const session = cookie === null ? null : this.#options.sessions.of(cookie);
    if (cookie === null || session === null) return null;
    const { name, role, ended } = session;
    return { name, role, formToken: this.#tokenOf(cookie), ended, cookie };
  }

  #cookie(headers: Headers, kind: CookieKind): string | null {
    const { cookie } = headers;
    const value = cookie === undefined ? undefined : parseCookie(cookie)[this.#name(headers, kind)];
    return value?.length === COOKIE_LENGTH ? value : null;
  }

  /**
   * With this prefix a browser takes the cookie from nobody but this very host, over TLS. Without it the name holds the port, so that
   * consoles on several ports of one machine do not overwrite each other's.
   */
  #name(headers: Headers, kind: CookieKind): string {
    const { origin } = this.#options;
    return origin.isSecure ? `__Host-junban-${kind}` : `junban-${kind}-${origin.portOf(headers)}`;
  }

  #written(name: string, value: string, more: { readonly maxAge?: number } = {}): string {
    const { isSecure } = this.#options.origin;
    return stringifySetCookie({
      name,
      value,
      path: "/",
      httpOnly: true,
      sameSite: "strict",
      secure: isSecure,
      ...more,
    });
  }

  #tokenOf(cookie: string): string {
    return createHmac("sha256", this.#key).update(cookie).digest("base64url");
  }
}

export function isSame(given: string, right: string): boolean {
  const [one, other] = [given, right].map((text) => createHash("sha256").update(text).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}
