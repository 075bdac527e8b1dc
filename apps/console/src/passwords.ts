import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";

export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 256;

interface Cost {
  /** The logarithm of scrypt's N. */
  readonly logN: number;
  readonly r: number;
  readonly p: number;
}

/** 32 MiB for each attempt, as OWASP's cheat sheet on storing passwords has it for three rounds. */
const COST: Cost = { logN: 15, r: 8, p: 3 };
const KEY_BYTES = 32;
const SALT_BYTES = 16;

/** As the PHC's string format writes it. The costs are bounded, so that a list of users cannot make a login take minutes. */
const HASH = /^\$scrypt\$ln=(1[4-7]),r=(8),p=([1-9])\$([\w+/-]{22})\$([\w+/-]{43})$/;

export function isPasswordHash(text: string): boolean {
  return HASH.test(text);
}

/** The text that stands for a password in the list of users: `$scrypt$ln=15,r=8,p=3$SALT$KEY`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await derived(password, salt, COST);
  const { logN, r, p } = COST;
  return `$scrypt$ln=${logN},r=${r},p=${p}$${textOf(salt)}$${textOf(key)}`;
}

export async function isPassword(password: string, hash: string): Promise<boolean> {
  const [, logN = "", r = "", p = "", salt = "", key = ""] = HASH.exec(hash) ?? [];
  if (key === "" || password.length > LONGEST_PASSWORD) return false;
  const cost = { logN: Number(logN), r: Number(r), p: Number(p) };
  const given = await derived(password, Buffer.from(salt, "base64"), cost);
  return timingSafeEqual(given, Buffer.from(key, "base64"));
}

async function derived(password: string, salt: Buffer, { logN, r, p }: Cost): Promise<Buffer> {
  const N = 2 ** logN;
  // What is typed on one keyboard composed and on another decomposed is the same word.
  const bytes = Buffer.from(password.normalize("NFC"));
  return new Promise((resolve, reject) => {
    scrypt(bytes, salt, KEY_BYTES, { N, r, p, maxmem: 256 * N * r }, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}

function textOf(bytes: Buffer): string {
  return bytes.toString("base64").replaceAll("=", "");
}
