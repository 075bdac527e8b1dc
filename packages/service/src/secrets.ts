const HIDDEN = "***";

/** Whether a text is an address with a scheme and a host; `user:password@host` also parses as one, with the scheme `user`. */
export function isAddress(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) && URL.canParse(text);
}

/** The address with its password, and password-like parameters, replaced. Other text is searched for addresses. */
export function withoutPassword(url: string): string {
  if (!isAddress(url)) {
    return withoutPasswords(url).replace(/^([^\s:@/]{0,256}):\S{0,1024}@/, `$1:${HIDDEN}@`);
  }
  const parsed = new URL(url);
  // Redis knows no name without a password: whoever writes one meant the password.
  const isPassword = parsed.password === "" && parsed.username !== "" && /^rediss?:$/.test(parsed.protocol);
  if (parsed.password === "" && parsed.search === "" && !isPassword) return url;
  if (isPassword) parsed.username = HIDDEN;
  if (parsed.password !== "") parsed.password = HIDDEN;
  for (const name of parsed.searchParams.keys()) {
    if (/pass|secret|token/i.test(name)) parsed.searchParams.set(name, HIDDEN);
  }
  return parsed.href;
}

/**
 * Any text with the passwords of the addresses in it replaced. A password may itself hold an unescaped `@`, `/` or `:`, so
 * everything up to the last `@` of the word goes. Every part of the pattern is bounded: an error message can be megabytes of
 * one letter, and an unbounded pattern would take minutes over it.
 */
export function withoutPasswords(text: string): string {
  return text
    .replaceAll(/\b(rediss?:\/\/)[^\s:@/]{1,1024}@/gi, `$1${HIDDEN}@`)
    .replaceAll(
      /\b([a-z][a-z0-9+.-]{0,30}:\/\/)([^\s:@/]{0,256}):\S{0,1024}@/gi,
      (_found, scheme: string, user: string) => `${scheme}${user}:${HIDDEN}@`,
    );
}

/**
 * The beginning of a long text. What the cut went through is dropped rather than shown by half: half an address, e-mail
 * address or card number would no longer be recognised as one.
 */
export function beginningOf(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit);
  const lastWord = cut.lastIndexOf(" ");
  const whole =
    lastWord > limit / 2
      ? cut.slice(0, lastWord)
      : cut.replace(/\b[a-z][a-z0-9+.-]{0,30}:\/\/\S{0,2000}$/i, "");
  return `${whole.replace(/[\d -]{1,40}$/, "")}… (${text.length} characters)`;
}

/** A text without e-mail addresses, and with card numbers reduced to the four digits by which people tell them apart. */
export function withoutPersonalData(text: string): string {
  return text
    .replaceAll(/[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g, `${HIDDEN}@${HIDDEN}`)
    .replaceAll(/(?<!\d)\d(?:[ ._-]?\d){12,18}(?!\d)/g, (found) =>
      isCardNumber(found) ? `${HIDDEN}${found.slice(-4)}` : found,
    );
}

/** A text without what opens doors: bearer tokens, keys with a known form, and values that are called a password or the like. */
export function withoutTokens(text: string): string {
  return text
    .replaceAll(/\b(bearer) +[\w.~+/=-]{8,2000}/gi, `$1 ${HIDDEN}`)
    .replaceAll(/\b(basic) +(?=\S{0,200}[\d=])[\w.~+/=-]{8,2000}/gi, `$1 ${HIDDEN}`)
    .replaceAll(/\beyJ[\w-]{5,2000}\.[\w-]{5,2000}(?:\.[\w-]{1,2000})?/g, HIDDEN)
    .replaceAll(/\b[sr]k_(?:live|test)_\w{8,200}/g, HIDDEN)
    .replaceAll(
      /\b(\w{0,40}(?:password|passwd|pwd|secret|token|api_?key))(["']? ?[=:] ?["']?)[^\s"',;&]{1,2000}/gi,
      `$1$2${HIDDEN}`,
    );
}

/**
 * The first digits that card schemes give out, and the check digit of ISO/IEC 7812 (Luhn): without them a timestamp in
 * milliseconds, or every tenth order number, would look like a card.
 */
function isCardNumber(text: string): boolean {
  const plain = text.replaceAll(/[ ._-]/g, "");
  if (!/^(?:[3-6]|2[2-7])/.test(plain)) return false;
  const digits = Array.from(plain, Number).toReversed();
  const sum = digits.reduce((total, digit, index) => {
    if (index % 2 === 0) return total + digit;
    return total + (digit > 4 ? digit * 2 - 9 : digit * 2);
  }, 0);
  return sum % 10 === 0;
}
