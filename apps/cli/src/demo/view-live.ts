import { createLogUpdate } from "log-update";
import { drawFrame } from "./frame.ts";
import { painterFor, span } from "./paint.ts";
import { clock, type Scene, type View } from "./scene.ts";

/** Eight pictures a second look alive and cost next to nothing. */
const EVERY_MS = 125;

/** A terminal: what happened stays above, and below it one picture is rewritten in place. */
export function createLiveView(stream: NodeJS.WriteStream, startedAtMs: number): View {
  const paint = painterFor(stream);
  const draw = createLogUpdate(stream);
  let frame = "";
  return {
    everyMs: EVERY_MS,
    note: (text) => {
      const [first = "", ...more] = text.split("\n");
      const time = clock(performance.now() - startedAtMs);
      const lines = [
        [span(`  ${time}  `, "quiet"), span(first)],
        ...more.map((line) => [span(`${" ".repeat(time.length + 4)}${line}`)]),
      ];
      draw.persist(lines.map((line) => paint(line)).join("\n"));
      if (frame !== "") draw(frame);
    },
    show: (scene: Scene) => {
      const { columns = 80, rows = 24 } = stream;
      frame = drawFrame(scene, { columns, rows })
        .map((line) => paint(line))
        .join("\n");
      draw(frame);
    },
    end: () => {
      if (frame !== "") draw.clear();
      frame = "";
      draw.done();
    },
  };
}
