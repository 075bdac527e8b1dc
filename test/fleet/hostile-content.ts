/** What nobody sends on purpose: texts, values and whole events that once broke some system of this kind. Plain data only. */

/** Syntax of whatever reads a name next: SQL, Lua, Redis, a shell, a path, a terminal, a browser, a template. */
export const SYNTAX = [
  "'); DROP TABLE orders;--",
  '"; DELETE FROM order_events; --',
  "$(id)",
  "`id`",
  ["$", "{process.exit(1)}"].join(""),
  "{lcid}",
  "}{",
  "*",
  "?[a-z]*",
  "redis.call('FLUSHALL')",
  "]] redis.call('FLUSHALL') --[[",
  "*1\r\n$8\r\nFLUSHALL\r\n",
  "\r\nFLUSHALL\r\n",
  "../../etc/passwd",
  "%s%n%00",
  "<script>alert(1)</script>",
  "{{constructor.constructor('return process')()}}",
] as const;

/** Texts that move a cursor, hide, turn around, or are no text at all. */
export const ODD_TEXT = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\u001b[2J\u001b[1;1H",
  "\u009b2J",
  "\u001b]0;title\u0007",
  "\ud800",
  "\udc00x",
  "\u202egnp.exe",
  "a\u200bb\u200dc\ufeff",
  "Z\u0351\u0364\u0357a\u036b\u0304lgo",
  "e\u0301",
  "\u2028\u2029",
  "順番🧾",
  "x".repeat(257),
  "x".repeat(100_000),
] as const;

/** Names that objects have before anybody gives them some. */
export const BORN_NAMES = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "toJSON",
  "then",
  "length",
] as const;

/** JSON for one value, as it may be written and `JSON.stringify` never would. */
export const VALUES = [
  "null",
  "true",
  "0",
  "-0",
  "1e400",
  "-1e400",
  "1e308",
  "1e-400",
  "1e-20000",
  "9007199254740993",
  "123456789012345678901234567890",
  "10.005",
  '""',
  "[]",
  "{}",
  '"\\u0000"',
  '"\\ud800"',
  '"\\u001b[2J"',
  '{"__proto__":{"isAdmin":true}}',
  '{"constructor":{"prototype":{"isAdmin":true}}}',
  '{"toString":1,"valueOf":null,"toJSON":"x","then":1,"length":-1}',
  '{"a":1,"a":{"__proto__":null},"a":2}',
] as const;

/** A value as many levels deep. */
export function deep(levels: number): string {
  return `${"[".repeat(levels)}${"]".repeat(levels)}`;
}

/** A value of about that many characters. */
export function long(characters: number): string {
  return JSON.stringify("x".repeat(characters));
}

/** One member of an object, its value as raw JSON; members may be repeated, which no object could say. */
export type Member = readonly [name: string, value: string];

export function objectText(members: readonly Member[]): string {
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;
}

/** The members of an authorization that would be applied to a placed order. */
export function soundMembers(identity: { readonly lcid: string; readonly id: string }): Member[] {
  return [
    ["specversion", '"1.0"'],
    ["id", JSON.stringify(identity.id)],
    ["source", '"/hostile"'],
    ["type", '"payment.authorized"'],
    ["lcid", JSON.stringify(identity.lcid)],
    ["data", soundData(identity.id)],
  ];
}

export function soundData(id: string, ...more: readonly Member[]): string {
  return objectText([
    ["authorizationId", JSON.stringify(`h-${id}`)],
    ["amount", "10"],
    ["currency", '"JPY"'],
    ...more,
  ]);
}

/** The text of an event with some of its members replaced, in their place, and further ones added behind. */
export function eventText(
  identity: { readonly lcid: string; readonly id: string },
  over: readonly Member[] = [],
): string {
  const members = soundMembers(identity);
  const added: Member[] = [];
  for (const [name, value] of over) {
    const index = members.findIndex(([known]) => known === name);
    if (index === -1) added.push([name, value]);
    else members[index] = [name, value];
  }
  return objectText([...members, ...added]);
}
