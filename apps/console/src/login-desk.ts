import type { Attempts } from "./attempts.ts";
import { hashPassword, isPassword } from "./passwords.ts";
import type { Role, UserEntry } from "./settings.ts";

export interface LoginDeskOptions {
  readonly users: readonly UserEntry[];
  readonly byName: Attempts;
  readonly byAddress: Attempts;
}

export interface LoginTry {
  readonly name: string;
  readonly password: string;
  readonly address: string;
}

export type LoginAnswer =
  | { readonly kind: "known"; readonly name: string; readonly role: Role }
  | { readonly kind: "wrong" }
  | { readonly kind: "later"; readonly afterMs: number };

/** Each takes 32 MiB and a core for a moment; more at once would be a way to bring the console down. */
const MOST_AT_ONCE = 2;
const BUSY_MS = 1_000;

/** Asks for names and passwords, of everybody equally slowly, and of nobody too often. */
export class LoginDesk {
  readonly #options: LoginDeskOptions;
  /** Somebody who is not on the list costs the same time as somebody who is. */
  readonly #nobody: Promise<string>;
  #asking = 0;

  constructor(options: LoginDeskOptions) {
    this.#options = options;
    this.#nobody = hashPassword("nobody has this password");
  }

  get hasUsers(): boolean {
    return this.#options.users.length > 0;
  }

  knows(name: string): boolean {
    return this.#options.users.some((user) => user.name === name);
  }

  async ask({ name, password, address }: LoginTry): Promise<LoginAnswer> {
    const { users, byName, byAddress } = this.#options;
    const afterMs = byAddress.take(address) || byName.take(name);
    if (afterMs > 0) return { kind: "later", afterMs };
    if (this.#asking >= MOST_AT_ONCE) return { kind: "later", afterMs: BUSY_MS };
    const user = users.find((entry) => entry.name === name);
    this.#asking += 1;
    try {
      const isRight = await isPassword(password, user?.password ?? (await this.#nobody));
      if (user === undefined || !isRight) return { kind: "wrong" };
    } finally {
      this.#asking -= 1;
    }
    byName.giveBack(name);
    byAddress.giveBack(address);
    return { kind: "known", name: user.name, role: user.role };
  }
}
