import { z } from "zod";

/** One environment variable: how it is read, what it is when it is not set, and what a person is told who got it wrong. */
export interface Variable<T> {
  name: string;
  schema: z.ZodType<T>;
  allowed: string;
  fallback: T;
  /** Its value is never shown, not even to whoever got it wrong. */
  isSecret?: boolean;
}

export function milliseconds(
  name: string,
  fallback: number,
  range: { min: number; max: number },
): Variable<number> {
  return whole(name, fallback, { ...range, unit: "milliseconds" });
}

export function whole(
  name: string,
  fallback: number,
  range: { min: number; max: number; unit: string },
): Variable<number> {
  const { min, max, unit } = range;
  return {
    name,
    fallback,
    allowed: `a whole number ${min}…${max} (${unit})`,
    // Plain digits: Number() would also take "1e4", "0x10" and " 7 ".
    schema: z
      .string()
      .regex(/^\d{1,15}$/)
      .transform(Number)
      .pipe(z.number().min(min).max(max)),
  };
}

export function text(
  name: string,
  fallback: string,
  rule: { pattern: RegExp; allowed: string },
): Variable<string> {
  return { name, fallback, allowed: rule.allowed, schema: z.string().regex(rule.pattern) };
}

/** Not set by default. What is right inside, whoever uses it says. */
export function secret(name: string, allowed: string): Variable<string> {
  return { name, fallback: "", allowed, isSecret: true, schema: z.string().min(1).max(65_536) };
}

export function oneOf<const T extends string>(
  name: string,
  fallback: NoInfer<T>,
  values: readonly T[],
): Variable<T> {
  return { name, fallback, allowed: values.join(", "), schema: z.enum(values) };
}

export function url(
  name: string,
  protocols: readonly string[],
  { pathname, note }: { pathname: RegExp; note: string },
): Omit<Variable<string>, "fallback"> {
  return {
    name,
    allowed: `an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}${note}`,
    schema: z.string().refine((value) => {
      if (!URL.canParse(value)) return false;
      const address = new URL(value);
      return protocols.includes(address.protocol) && pathname.test(address.pathname);
    }),
  };
}
