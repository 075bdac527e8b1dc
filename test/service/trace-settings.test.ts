import { ConfigError, readConfig } from "@junban/service";
import { describe, expect, test } from "vitest";

const ADDRESSES = { DATABASE_URL: "postgres://localhost/orders", REDIS_URL: "redis://localhost" };
const ON = { sampler: "parentbased_always_on", ratio: 1 };

const tracesOf = (env: NodeJS.ProcessEnv): unknown => readConfig({ ...ADDRESSES, ...env }).traces;

function problemsOf(env: NodeJS.ProcessEnv): readonly unknown[] {
  try {
    readConfig({ ...ADDRESSES, ...env });
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe("traces", () => {
  test.each([
    {},
    { OTEL_TRACES_EXPORTER: "none" },
    { OTEL_TRACES_EXPORTER: "none", OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" },
    { OTEL_SDK_DISABLED: "true", OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" },
    { OTEL_TRACES_SAMPLER: "always_on" },
    { OTEL_TRACES_EXPORTER: "", OTEL_EXPORTER_OTLP_ENDPOINT: "" },
  ])("are off with %j", (env) => {
    expect(tracesOf(env)).toBeNull();
  });

  test.each([
    { OTEL_TRACES_EXPORTER: "otlp" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" },
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://collector/v1/traces" },
    { OTEL_SDK_DISABLED: "false", OTEL_TRACES_EXPORTER: "otlp" },
  ])("are exported with %j", (env) => {
    expect(tracesOf(env)).toEqual(ON);
  });

  test("are picked as the standard's variables say", () => {
    const env = { OTEL_TRACES_EXPORTER: "otlp", OTEL_TRACES_SAMPLER: "parentbased_traceidratio" };
    expect(tracesOf({ ...env, OTEL_TRACES_SAMPLER_ARG: "0.25" })).toEqual({
      sampler: "parentbased_traceidratio",
      ratio: 0.25,
    });
  });

  test.each([
    ["OTEL_SDK_DISABLED", "perhaps"],
    ["OTEL_TRACES_EXPORTER", "jaeger"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://collector"],
    ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "nowhere"],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
    ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf"],
    ["OTEL_EXPORTER_OTLP_TIMEOUT", "1e4"],
    ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "0"],
    ["OTEL_TRACES_SAMPLER", "sometimes"],
    ["OTEL_TRACES_SAMPLER_ARG", "1.5"],
  ])("%s=%s is a problem that names variable, value and what is allowed", (variable, value) => {
    expect(problemsOf({ [variable]: value })).toEqual([
      { variable, value, allowed: expect.stringMatching(/\w/) as string },
    ]);
  });

  test.each(["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"])(
    "a value of %s that is no list of headers is a problem, and not shown",
    (variable) => {
      expect(problemsOf({ [variable]: "authorization=Bearer x,second=2" })).toEqual([]);
      expect(problemsOf({ [variable]: "canary-password" })).toMatchObject([{ variable, value: "(hidden)" }]);
    },
  );
});
