import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { EXIT } from "@junban/service";
import { hashPassword, LONGEST_PASSWORD, SHORTEST_PASSWORD } from "./passwords.ts";

export interface HashPasswordOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly errors: Writable;
}

/**
 * Prints the hash of the password on standard input, for the list of users. Never an argument: those stand in the shell's history
 * and in the list of processes.
 */
export async function hashPasswordCommand({ input, output, errors }: HashPasswordOptions): Promise<void> {
  const password = (await text(input)).replace(/\r?\n$/, "");
  if (password.length < SHORTEST_PASSWORD || password.length > LONGEST_PASSWORD || password.includes("\n")) {
    errors.write(`a password is one line of ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters\n`);
    process.exitCode = EXIT.usage;
    return;
  }
  output.write(`${await hashPassword(password)}\n`);
}
