import type { IncomingHttpHeaders } from "node:http";
import { isLoopback } from "./settings.ts";

/**
 * Whether a request comes from the console's own pages. Behind a known address that is what browsers call it; without one the
 * console is on the loopback, and then only a loopback name will do: any page can give a name of its own the address 127.0.0.1.
 */
export class OwnOrigin {
  readonly #configured: string;

  /** @param configured the address as browsers write it; empty on the loopback. */
  constructor(configured: string) {
    this.#configured = configured;
  }

  get isSecure(): boolean {
    return this.#configured.startsWith("https:");
  }

  /** By which of its ports browsers reach the console: they keep a cookie for a host, and not for a port of it. */
  portOf({ host = "" }: IncomingHttpHeaders): string {
    const { port } = new URL(this.#configured === "" ? "http://localhost" : this.#configured);
    return port === "" ? (/:(\d{1,5})$/.exec(host)?.[1] ?? "") : port;
  }

  isOurHost({ host = "" }: IncomingHttpHeaders): boolean {
    return this.#configured !== "" || isLoopback(host.replace(/:\d{1,5}$/, ""));
  }

  /** Browsers tell with each request that changes something where it comes from; a request that does not tell is not ours. */
  isOurs({ host = "", origin }: IncomingHttpHeaders): boolean {
    return origin === (this.#configured === "" ? `http://${host}` : this.#configured);
  }
}
