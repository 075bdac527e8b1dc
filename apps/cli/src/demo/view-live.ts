import { createLogUpdate } from "log-update";
import { drawFrame } from "./frame.ts";
import { painterFor, span, wrapped } from "./paint.ts";
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
      const time = clock(performance.now() - startedAtMs);
      const margin = time.length + 4;
      const cells = stream.columns - margin - 1;
      const lines = text.split("\n").flatMap((line) => wrapped(line, cells));
      const painted = lines.map((line, index) =>
        paint([span(index === 0 ? `  ${time}  ` : " ".repeat(margin), "quiet"), span(line)]),
      );
      draw.persist(painted.join("\n"));
      if (frame !== "") draw(frame);
    },
    show: (scene: Scene) => {
      frame = drawFrame(scene, { columns: stream.columns, rows: stream.rows })
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
