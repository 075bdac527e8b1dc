import { request } from "node:http";
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { expectDescribed } from "./description.ts";

export interface Question {
  /** Default POST. */
  readonly method?: string;
  /** Default `/events`. */
  readonly path?: string;
  /** A list is sent as several headers of that name, and what is undefined not at all. */
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly document: AnswerDocument;
}

export interface AnswerDocument {
  readonly error?: { readonly code: string; readonly field?: string; readonly rule?: string };
  readonly results?: readonly { readonly status: number; readonly [field: string]: unknown }[];
  readonly [field: string]: unknown;
}

/** One request on a connection of its own; the answer has to be one that the OpenAPI document describes. */
export async function exchange(port: number, question: Question): Promise<Answer> {
  const { method = "POST", path = "/events", body = "" } = question;
  const given = Object.entries(question.headers ?? {}).filter(([, value]) => value !== undefined);
  const headers = Object.fromEntries(given);
  const answer = await new Promise<Answer>((resolve, reject) => {
    const asking = request({ host: "127.0.0.1", port, method, path, agent: false, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        const document = JSON.parse(text) as AnswerDocument;
        resolve({ status: response.statusCode ?? 0, headers: response.headers, document });
      });
    });
    asking.on("error", reject);
    asking.end(body);
  });
  expectDescribed({ method, path, ...answer });
  return answer;
}

/** A connection on which a test writes what it likes, and hears everything until its end. */
export function openConnection(port: number): { readonly socket: Socket; readonly heard: Promise<string> } {
  const socket = connect(port, "127.0.0.1");
  const heard = new Promise<string>((resolve) => {
    let text = "";
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      text += chunk;
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(text));
  });
  return { socket, heard };
}

/** What was heard on a connection, as an answer that the document describes. */
export function answerIn(heard: string, path = "/events"): Answer {
  const [head = "", text = ""] = heard.split("\r\n\r\n");
  const [first = "", ...lines] = head.split("\r\n");
  const headers: IncomingHttpHeaders = Object.fromEntries(
    lines.map((line) => {
      const [name = "", ...value] = line.split(": ");
      return [name.toLowerCase(), value.join(": ")];
    }),
  );
  const status = Number(first.split(" ")[1]);
  const document = JSON.parse(text) as AnswerDocument;
  expectDescribed({ method: "POST", path, status, headers, document });
  return { status, headers, document };
}
