import type { CallNode } from "./cpu-profile.ts";
import { IDLE, layerOf, placeOf } from "./layers.ts";

const WIDTH = 1_600;
const ROW = 16;
const LEGEND = 24;
/** Narrower ones cannot be seen. */
const LEAST_WIDTH = 0.3;
const CHARACTER = 6.2;

/** Calls of the same function under the same caller, taken together. */
interface Frame {
  readonly name: string;
  readonly place: string;
  readonly layer: string;
  selfUs: number;
  totalUs: number;
  readonly children: Map<string, Frame>;
}

/** Callers above, what they called below; as wide as the time it took. Idle time is left out. */
export function flameSvg(root: CallNode, { title }: { readonly title: string }): string {
  const top = mergedInto(new Map(), root, "node");
  for (const [key, child] of top.children) {
    if (child.layer !== IDLE) continue;
    top.children.delete(key);
    top.totalUs -= child.totalUs;
  }
  const colours = coloursOf(top);
  const boxes: string[] = [];
  const depth = draw({ frame: top, startUs: 0, depth: 0 }, { wholeUs: top.totalUs, colours, boxes });
  const height = LEGEND * 2 + (depth + 1) * ROW;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="10">`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    `<text x="4" y="16" font-size="13">${escaped(title)}</text>`,
    ...legend(colours),
    ...boxes,
    "</svg>",
    "",
  ].join("\n");
}

function mergedInto(siblings: Map<string, Frame>, node: CallNode, asker: string): Frame {
  const layer = layerOf(node, asker);
  const place = placeOf(node);
  const key = `${node.functionName} ${place}`;
  const frame = siblings.get(key) ?? {
    name: node.functionName,
    place,
    layer,
    selfUs: 0,
    totalUs: 0,
    children: new Map<string, Frame>(),
  };
  siblings.set(key, frame);
  frame.selfUs += node.selfUs;
  for (const child of node.children) mergedInto(frame.children, child, node.url === "" ? asker : layer);
  frame.totalUs = [...frame.children.values()].reduce((sum, { totalUs }) => sum + totalUs, frame.selfUs);
  return frame;
}

interface Canvas {
  readonly wholeUs: number;
  readonly colours: ReadonlyMap<string, string>;
  readonly boxes: string[];
}

/** Answers the deepest row drawn. */
function draw(
  { frame, startUs, depth }: { readonly frame: Frame; readonly startUs: number; readonly depth: number },
  canvas: Canvas,
): number {
  const { wholeUs, colours, boxes } = canvas;
  const scale = wholeUs === 0 ? 0 : WIDTH / wholeUs;
  const width = frame.totalUs * scale;
  if (width < LEAST_WIDTH) return depth;
  const x = (startUs * scale).toFixed(1);
  const y = LEGEND * 2 + depth * ROW;
  const share = ((100 * frame.totalUs) / wholeUs).toFixed(2);
  const self = ((100 * frame.selfUs) / wholeUs).toFixed(2);
  const tip = `${frame.name} — ${frame.place} — ${frame.layer}: ${share} %, itself ${self} %`;
  const text = frame.name.slice(0, Math.max(0, Math.floor((width - 4) / CHARACTER)));
  boxes.push(
    `<g><title>${escaped(tip)}</title><rect x="${x}" y="${y}" width="${width.toFixed(1)}" height="${ROW - 1}" fill="${colours.get(frame.layer) ?? "#ccc"}"/>${
      text.length < 3
        ? ""
        : `<text x="${(startUs * scale + 2).toFixed(1)}" y="${y + 11}">${escaped(text)}</text>`
    }</g>`,
  );
  let deepest = depth;
  let atUs = startUs;
  for (const child of [...frame.children.values()].toSorted((left, right) => right.totalUs - left.totalUs)) {
    deepest = Math.max(deepest, draw({ frame: child, startUs: atUs, depth: depth + 1 }, canvas));
    atUs += child.totalUs;
  }
  return deepest;
}

/** Hues far from each other for the layers with the most time. */
function coloursOf(top: Frame): ReadonlyMap<string, string> {
  const times = new Map<string, number>();
  const add = ({ layer, selfUs, children }: Frame): void => {
    times.set(layer, (times.get(layer) ?? 0) + selfUs);
    for (const child of children.values()) add(child);
  };
  add(top);
  const GOLDEN_ANGLE = 137.5;
  return new Map(
    [...times]
      .toSorted(([, left], [, right]) => right - left)
      .map(([layer], index) => [
        layer,
        `hsl(${((20 + index * GOLDEN_ANGLE) % 360).toFixed(0)} 70% ${68 + (index % 3) * 8}%)`,
      ]),
  );
}

function legend(colours: ReadonlyMap<string, string>): readonly string[] {
  let x = 4;
  return [...colours].slice(0, 16).map(([layer, colour]) => {
    const width = layer.length * CHARACTER + 10;
    const box = `<rect x="${x}" y="${LEGEND}" width="${width}" height="${ROW}" fill="${colour}"/><text x="${x + 5}" y="${LEGEND + 12}">${escaped(layer)}</text>`;
    x += width + 4;
    return box;
  });
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
