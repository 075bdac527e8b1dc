const HIDDEN = "***";

/** The address with its password, and password-like parameters, replaced. Text that is no address is searched for some. */
export function withoutPassword(url: string): string {
  if (!URL.canParse(url)) return withoutPasswords(url);
  const parsed = new URL(url);
  if (parsed.password === "" && parsed.search === "") return url;
  if (parsed.password !== "") parsed.password = HIDDEN;
  for (const name of parsed.searchParams.keys()) {
    if (/pass|secret|token/i.test(name)) parsed.searchParams.set(name, HIDDEN);
  }
  return parsed.href;
}

/**
 * Any text with the passwords of the addresses in it replaced. A password may itself hold an unescaped `@`, `/` or `:`, so
 * everything up to the last `@` of the word goes.
 */
export function withoutPasswords(text: string): string {
  return text.replaceAll(
    /([a-z][a-z0-9+.-]*:\/\/)([^\s:@/]*):[^\s]*@/gi,
    (_found, scheme: string, user: string) => `${scheme}${user}:${HIDDEN}@`,
  );
}

/** Free text, such as the message of an error, without passwords, e-mail addresses and card numbers. */
export function withoutPersonalData(text: string): string {
  return withoutPasswords(text)
    .replaceAll(/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, (found) =>
      found.includes(`:${HIDDEN}`) ? found : `${HIDDEN}@${HIDDEN}`,
    )
    .replaceAll(/\b\d(?:[ -]?\d){12,18}\b/g, (found) => (isCardNumber(found) ? HIDDEN : found));
}

/** The check digit of ISO/IEC 7812 (Luhn); without it every timestamp in milliseconds would look like a card. */
function isCardNumber(text: string): boolean {
  const digits = Array.from(text.replaceAll(/[ -]/g, ""), Number).toReversed();
  const sum = digits.reduce((total, digit, index) => {
    if (index % 2 === 0) return total + digit;
    return total + (digit > 4 ? digit * 2 - 9 : digit * 2);
  }, 0);
  return sum % 10 === 0;
}
