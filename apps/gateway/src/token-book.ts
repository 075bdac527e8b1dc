import { createHash, timingSafeEqual } from "node:crypto";

/** One line of the list of tokens. The token itself is nowhere: only its hash is kept. */
export interface TokenEntry {
  /** Whose it is, for those who keep the list. */
  readonly name: string;
  /** SHA-256 of the token, 64 hexadecimal digits. */
  readonly sha256: string;
  /** The sources whose events it may publish, compared byte for byte. */
  readonly sources: readonly string[];
}

/** Somebody whose token is known. */
export interface Sender {
  readonly name: string;
  maySend(source: string): boolean;
}

/**
 * Of 32 characters or more, so that nobody can use a password that somebody thought of: it would be guessed from its hash. The
 * characters are those of RFC 6750.
 */
const TOKEN = /^Bearer ([\w.~+/-]{32,512}=*)$/i;

/**
 * Knows senders by the hashes of their tokens.
 *
 * Plain SHA-256 on purpose. A slow hash protects what people choose, at the price of a door at which every wrong token costs
 * us; a token made by a machine has more possibilities than anybody can try, however fast. Every hash of the list is compared,
 * each in constant time, so that neither a token's beginning nor its place in the list shows in the time an answer takes.
 */
export class TokenBook {
  readonly #pages: readonly { readonly hash: Buffer; readonly sender: Sender }[];

  constructor(entries: readonly TokenEntry[]) {
    this.#pages = entries.map(({ name, sha256, sources }) => {
      const allowed = new Set(sources);
      return { hash: Buffer.from(sha256, "hex"), sender: { name, maySend: (source) => allowed.has(source) } };
    });
  }

  /** The sender whose token an `Authorization` header carries; null when it carries none that is known. */
  senderOf(authorization: string | undefined): Sender | null {
    const token = TOKEN.exec(authorization ?? "")?.[1];
    if (token === undefined) return null;
    const hash = createHash("sha256").update(token).digest();
    let found: Sender | null = null;
    for (const page of this.#pages) {
      if (timingSafeEqual(page.hash, hash)) found = page.sender;
    }
    return found;
  }
}
