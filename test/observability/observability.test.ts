import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { exposedByAll, PROCESSES, type Exposed } from "./processes.ts";
import { findPromtool, promtool } from "./promtool.ts";

const LIMIT_MS = 180_000;
const pathOf = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const RULES = pathOf("deploy/prometheus/alerts.yaml");
const RULE_TESTS = pathOf("deploy/prometheus/alerts.test.yaml");

const page = await readFile(pathOf("docs/observability.md"), "utf8");
const rules = await readFile(RULES, "utf8");
const ruleTests = await readFile(RULE_TESTS, "utf8");
const SCALING = "deploy/kubernetes/components/prometheus-hpa";
const scalingPage = await readFile(pathOf(`${SCALING}/kustomization.yaml`), "utf8");
const autoscaler = await readFile(pathOf(`${SCALING}/autoscaler.yaml`), "utf8");
const scaledOn = /metric: \{ name: (\S+) \}/.exec(autoscaler)?.[1] ?? "no metric";
const dashboard = JSON.parse(await readFile(pathOf("deploy/grafana/junban.json"), "utf8")) as Dashboard;

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly description?: string;
    readonly type: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
}

/** A row of the page's table of metrics. */
interface Documented {
  readonly name: string;
  readonly labels: readonly string[];
  readonly shownBy: readonly string[];
}

const documented: readonly Documented[] = [
  ...page.matchAll(/^\| `(junban_\w+)`(?: by ([^|]+?))? \| ([^|]+?) \|/gm),
].map(([, name = "", labels = "", shownBy = ""]) => ({
  name,
  labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = ""]) => label),
  shownBy: shownBy.split(", "),
}));

const expressions: readonly string[] = dashboard.panels.flatMap(({ targets = [] }) =>
  targets.map(({ expr }) => expr),
);

/** Metrics that an expression names; those of a histogram by the histogram's own name. */
function metricsIn(text: string): string[] {
  const names = [...text.matchAll(/\b(?:junban|process|nodejs)_\w+/g)].map(([name]) => name);
  return [...new Set(names.map((name) => name.replace(/_(bucket|sum|count)$/, "")))];
}

let exposed: ReadonlyMap<string, Exposed>;

describe("metrics", () => {
  test(
    "are those of the table in docs/observability.md, process by process, with these labels and no others",
    async () => {
      exposed = await exposedByAll();
      for (const process of PROCESSES) {
        const shown = [...(exposed.get(process) ?? [])].filter(([name]) => name.startsWith("junban_"));
        const told = documented.filter(({ shownBy }) => shownBy.includes(process));
        expect(shown.map(([name]) => name).toSorted(), process).toEqual(
          told.map(({ name }) => name).toSorted(),
        );
        for (const [name, labels] of shown) {
          const allowed = told.find((metric) => metric.name === name)?.labels ?? [];
          expect(allowed, `${process}: ${name}`).toEqual(expect.arrayContaining([...labels]));
        }
      }
      const all = new Set([...exposed.values()].flatMap((process) => [...process.keys()]));
      // A name that no process shows would be drawn as an empty panel, and would never alert.
      expect(metricsIn(expressions.join("\n")).filter((name) => !all.has(name))).toEqual([]);
      expect(metricsIn(rules).filter((name) => !all.has(name))).toEqual([]);
      // Nor would a fleet ever be scaled by it.
      expect([scaledOn, ...metricsIn(scalingPage)].filter((name) => !all.has(name))).toEqual([]);
    },
    LIMIT_MS,
  );
});

describe("the dashboard", () => {
  test("draws every metric that is our own", () => {
    const drawn = new Set(metricsIn(expressions.join("\n")));
    const undrawn = documented.map(({ name }) => name).filter((name) => !drawn.has(name));
    // How long a row waited before it was read says less than how long the first one has waited.
    expect(undrawn.toSorted()).toEqual(["junban_forward_lag_seconds", "junban_forward_parked_total"]);
  });

  test("says of each panel what it shows", () => {
    const mute = dashboard.panels.filter(
      ({ type, description = "" }) => type !== "row" && description === "",
    );
    expect(mute.map(({ title }) => title)).toEqual([]);
  });
});

describe("promtool", () => {
  beforeAll(async () => {
    await findPromtool();
  }, LIMIT_MS);

  test("finds nothing wrong with the rules", async () => {
    expect(await promtool(["check", "rules", RULES])).toContain("SUCCESS");
  });

  test("can read every expression of the dashboard", async () => {
    const folder = await mkdtemp(join(tmpdir(), "junban-dashboard-"));
    onTestFinished(async () => rm(folder, { recursive: true, force: true }));
    const file = join(folder, "expressions.yaml");
    const readable = expressions.map((expr, index) => ({
      record: `dashboard:${index}`,
      expr: expr.replaceAll("$__rate_interval", "5m"),
    }));
    // JSON is YAML as well.
    await writeFile(file, JSON.stringify({ groups: [{ name: "dashboard", rules: readable }] }));
    expect(await promtool(["check", "rules", file])).toContain(`SUCCESS: ${expressions.length} rules found`);
  });

  test("sees each alert fire when it should, and stay quiet when it should", async () => {
    expect(await promtool(["test", "rules", RULE_TESTS])).toContain("SUCCESS");
  });
});

describe("alerts", () => {
  const blocks = rules.split("- alert: ").slice(1);
  const names = blocks.map((block) => block.split("\n", 1)[0] ?? "");

  test("each have a case in which they fire and one in which they stay quiet", () => {
    const cases = [...ruleTests.matchAll(/^ {2}- name: (.+)$/gm)].map(([, name]) => name);
    expect(cases).toEqual(names.flatMap((name) => [`${name} fires`, `${name} stays quiet`]));
  });

  test("each say how urgent they are, what is the matter, and where to read on", () => {
    for (const block of blocks) {
      expect(block).toMatch(/severity: (critical|warning)\n/);
      expect(block).toMatch(/summary: \S/);
      expect(block).toMatch(/runbook: docs\/operations\.md#[a-z-]+\n/);
    }
  });

  test("are those of the table in docs/observability.md", () => {
    expect([...page.matchAll(/^\| `(Junban\w+)` \|/gm)].map(([, name]) => name)).toEqual(names);
  });
});
