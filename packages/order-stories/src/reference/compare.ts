import type { LineFigures, OrderFigures } from "./figures.ts";
import { type ReferenceOrder, type ReferenceOutcome, identityOf } from "./reference.ts";

/** An order as some system under test reports it. */
export type ActualOrder = OrderFigures;

/** An event's outcome as some system under test reports it. */
export interface ActualOutcome {
  readonly source: string;
  readonly id: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly version: number | null;
}

/** One sentence for each difference; empty when everything agrees. Orders are matched by lcid. */
export function compareOrders(
  reference: ReadonlyMap<string, ReferenceOrder>,
  actual: Iterable<ActualOrder>,
): readonly string[] {
  const found = new Map([...actual].map((order) => [order.lcid, order]));
  const missing = [...reference.keys()]
    .filter((lcid) => !found.has(lcid))
    .map((lcid) => `${lcid}: is missing`);
  const differing = [...found.values()].flatMap((order) => {
    const expected = reference.get(order.lcid);
    return expected === undefined ? [`${order.lcid}: is not expected`] : compareOrder(expected, order);
  });
  return [...missing, ...differing];
}

export function compareOrder(expected: OrderFigures, actual: ActualOrder): readonly string[] {
  const figures = figureNames.filter((name) => expected[name] !== actual[name]);
  const differences = figures.map((name) =>
    difference(`${expected.lcid}: ${name}`, expected[name], actual[name]),
  );
  return [...differences, ...compareLines(expected, actual)];
}

/** One sentence for each event whose outcome, reason or version differs. The reason of a duplicate is not compared. */
export function compareOutcomes(
  reference: ReadonlyMap<string, ReferenceOrder>,
  actual: Iterable<ActualOutcome>,
): readonly string[] {
  const expected = new Map([...reference.values()].flatMap((order) => [...order.outcomes]));
  const found = new Map([...actual].map((outcome) => [identityOf(outcome), outcome]));
  const missing = [...expected.keys()].filter((identity) => !found.has(identity));
  const differing = [...found].flatMap(([identity, outcome]) => {
    const wanted = expected.get(identity);
    if (wanted === undefined) return [`${identity}: is not expected`];
    const [said, heard] = [sentenceOf(wanted), sentenceOf(outcome)];
    return said === heard ? [] : [difference(identity, said, heard)];
  });
  return [...missing.map((identity) => `${identity}: has no outcome`), ...differing];
}

const figureNames = [
  "version",
  "status",
  "paymentStatus",
  "fulfilmentStatus",
  "payableMinor",
  "authorizedMinor",
  "capturedMinor",
  "voidedMinor",
  "refundedMinor",
  "refundDueMinor",
  "voidDueMinor",
  "releaseDue",
  "held",
] as const satisfies readonly (keyof OrderFigures)[];

const lineFigureNames = [
  "quantity",
  "peak",
  "cancelled",
  "reserved",
  "released",
  "shipped",
] as const satisfies readonly (keyof LineFigures)[];

function compareLines(expected: OrderFigures, actual: ActualOrder): readonly string[] {
  const found = new Map(actual.lines.map((line) => [line.lineId, line]));
  const known = new Set(expected.lines.map((line) => line.lineId));
  const surplus = actual.lines.filter((line) => !known.has(line.lineId));
  const differing = expected.lines.flatMap((line) => {
    const name = `${expected.lcid} line ${line.lineId}`;
    const other = found.get(line.lineId);
    if (other === undefined) return [`${name}: is missing`];
    const figures = lineFigureNames.filter((figure) => line[figure] !== other[figure]);
    return figures.map((figure) => difference(`${name}: ${figure}`, line[figure], other[figure]));
  });
  return [...differing, ...surplus.map((line) => `${expected.lcid} line ${line.lineId}: is not expected`)];
}

function sentenceOf({ outcome, reason, version }: ReferenceOutcome | ActualOutcome): string {
  if (outcome === "applied") return `applied as version ${version}`;
  return outcome === "duplicate" || reason === null ? outcome : `${outcome} ${reason}`;
}

function difference(what: string, expected: string | number, actual: string | number): string {
  return `${what} should be ${expected}, is ${actual}`;
}
