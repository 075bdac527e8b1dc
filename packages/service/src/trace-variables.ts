import { z } from "zod";
import { milliseconds, oneOf, secret, url, type Variable } from "./variable-kinds.ts";

/** How spans are picked, in the words of OpenTelemetry. */
const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

/** What is exported of the way of events. */
export interface TraceSettings {
  readonly sampler: (typeof SAMPLERS)[number];
  /** Share of traces that the samplers with a ratio pick, 0 to 1. */
  readonly ratio: number;
}

const HTTP = ["http:", "https:"];
const ANY_PATH = { pathname: /^/, note: "" };
// The exporter that is installed speaks this one, which every collector understands on its HTTP port.
const PROTOCOLS = ["http/json"] as const;

/**
 * The standard variables of OpenTelemetry that this house looks at. What is not among them (attributes of the resource,
 * certificates, compression) is the library's own business. Set to nothing they count as not set, as the standard wants it.
 */
export const TRACE_VARIABLES = {
  sdkDisabled: oneOf("OTEL_SDK_DISABLED", "false", ["true", "false"]),
  exporter: { ...oneOf<string>("OTEL_TRACES_EXPORTER", "none", ["otlp", "none"]), fallback: "" },
  endpoint: address("OTEL_EXPORTER_OTLP_ENDPOINT"),
  tracesEndpoint: address("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
  protocol: oneOf("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json", PROTOCOLS),
  tracesProtocol: oneOf("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json", PROTOCOLS),
  headers: headers("OTEL_EXPORTER_OTLP_HEADERS"),
  tracesHeaders: headers("OTEL_EXPORTER_OTLP_TRACES_HEADERS"),
  timeoutMs: milliseconds("OTEL_EXPORTER_OTLP_TIMEOUT", 10_000, { min: 1, max: 60_000 }),
  tracesTimeoutMs: milliseconds("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", 10_000, { min: 1, max: 60_000 }),
  sampler: oneOf("OTEL_TRACES_SAMPLER", "parentbased_always_on", SAMPLERS),
  ratio: share("OTEL_TRACES_SAMPLER_ARG"),
} as const satisfies Record<string, Variable<unknown>>;

type TraceValues = {
  readonly [Key in keyof typeof TRACE_VARIABLES]: z.output<(typeof TRACE_VARIABLES)[Key]["schema"]>;
};

/** Off unless somebody asked for it: the standard would export to a collector on this machine that nobody may have started. */
export function traceSettingsOf(values: TraceValues): TraceSettings | null {
  const { sdkDisabled, exporter, endpoint, tracesEndpoint, sampler, ratio } = values;
  const hasAddress = endpoint !== "" || tracesEndpoint !== "";
  const isWanted = exporter === "otlp" || (exporter !== "none" && hasAddress);
  return isWanted && sdkDisabled === "false" ? { sampler, ratio } : null;
}

function address(name: string): Variable<string> {
  return { ...url(name, HTTP, ANY_PATH), fallback: "" };
}

/** A collector's password is among them as a rule. */
function headers(name: string): Variable<string> {
  const pair = String.raw`[^=,\s]+=[^,]*`;
  const schema = z.string().regex(new RegExp(`^${pair}(,${pair})*$`));
  return { ...secret(name, "headers as name=value, separated by commas"), schema };
}

function share(name: string): Variable<number> {
  return {
    name,
    fallback: 1,
    allowed: "a number from 0 to 1",
    schema: z
      .string()
      .regex(/^\d(\.\d+)?$/)
      .transform(Number)
      .pipe(z.number().max(1)),
  };
}
