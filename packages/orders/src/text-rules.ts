const SURROGATE_OR_NUL = /[\0\ud800-\udfff]/;
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/; // eslint-disable-line no-control-regex -- finding control characters is its purpose
const REFERENCE = /^[0-9A-Za-z._:@/+=~-]{1,64}$/;
const LCID = /^[0-9A-Za-z._:@/+=~-]{1,128}$/;

export const REFERENCE_RULE = "1 to 64 characters of 0-9 A-Z a-z . _ : @ / + = ~ -";
export const LCID_RULE = "1 to 128 characters of 0-9 A-Z a-z . _ : @ / + = ~ -";

/** Compared byte for byte everywhere, so nothing is trimmed, folded or composed here. */
export function isLcid(text: unknown): text is string {
  return typeof text === "string" && LCID.test(text);
}

export function isReference(text: string): boolean {
  return REFERENCE.test(text);
}

/** Half of a pair cannot be written as UTF-8, so no database, digest or peer would agree on what it was. */
function hasLoneSurrogate(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0xd800 || unit > 0xdfff) continue;
    const next = text.charCodeAt(index + 1);
    const isPair = unit < 0xdc00 && next >= 0xdc00 && next <= 0xdfff;
    if (!isPair) return true;
    index += 1;
  }
  return false;
}

/** Whether PostgreSQL's jsonb can keep the text: it has no NUL and no half of a surrogate pair. */
export function isKeepable(text: string): boolean {
  // Nearly every text passes this one test; only the rest is worth a second look.
  if (!SURROGATE_OR_NUL.test(text)) return true;
  return !text.includes("\0") && !hasLoneSurrogate(text);
}

/** Characters as people and databases count them: a pair of surrogates is one. */
export function hasLength(text: string, bounds: { least: number; most: number }): boolean {
  if (text.length < bounds.least) return false;
  if (text.length <= bounds.most) return true;
  if (text.length > 2 * bounds.most) return false;
  let characters = 0;
  for (const _character of text) characters += 1;
  return characters <= bounds.most;
}

/** A name that may stand in logs, job names and keys. */
export function isName(text: unknown, most: number): text is string {
  return (
    typeof text === "string" && hasLength(text, { least: 1, most }) && !CONTROL.test(text) && isKeepable(text)
  );
}
