import { once } from "node:events";
import { type AddressInfo, type Server, type Socket, connect, createServer } from "node:net";
import { type ProxyDirection, type TcpProxy, startProxy } from "@junban/sandbox";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ProxyConnection } from "../../packages/sandbox/src/proxy-connection.ts";
import { eventually } from "../support/index.ts";

/** What a client or a server has seen of a connection. */
class Peer {
  readonly socket: Socket;
  received = "";
  failure: string | undefined;
  isClosed = false;
  hasEnded = false;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (chunk) => (this.received += chunk.toString()));
    socket.on("error", (error: NodeJS.ErrnoException) => (this.failure = error.code));
    socket.on("end", () => (this.hasEnded = true));
    socket.on("close", () => (this.isClosed = true));
  }
}

let server: Server;
let accepted: Peer[];
let clients: Peer[];
let proxy: TcpProxy;

beforeEach(async () => {
  accepted = [];
  clients = [];
  server = createServer({ allowHalfOpen: true }, (socket) => accepted.push(new Peer(socket)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  proxy = await startProxy({ port: (server.address() as { port: number }).port });
});

afterEach(async () => {
  await proxy.close();
  for (const peer of [...accepted, ...clients]) peer.socket.destroy();
  server.close();
});

async function openConnection(): Promise<{ client: Peer; behind: Peer }> {
  const count = accepted.length;
  const client = new Peer(connect({ port: proxy.port, host: "127.0.0.1" }));
  clients.push(client);
  const behind = await eventually(() => accepted[count] ?? false);
  return { client, behind };
}

async function say(from: Peer, to: Peer, text: string): Promise<void> {
  from.socket.write(text);
  await eventually(() => to.received.endsWith(text));
}

test("passes both ways and hands on the end of a stream", async () => {
  const { client, behind } = await openConnection();
  await say(client, behind, "question");
  await say(behind, client, "answer");
  client.socket.end();
  await eventually(() => behind.hasEnded);
  await say(behind, client, "last words");
  behind.socket.end();
  await eventually(() => client.isClosed && proxy.connections() === 0);
  expect(client.failure).toBeUndefined();
});

test("its address is the server's with another port", async () => {
  const other = await startProxy({ url: "postgres://user:secret@127.0.0.1:5432/orders?x=1" });
  expect(other.url).toBe(`postgres://user:secret@127.0.0.1:${other.port}/orders?x=1`);
  await other.close();
  await other.close();
});

test("cut resets what is open and refuses what comes, until it heals", async () => {
  const { client, behind } = await openConnection();
  proxy.cut();
  await eventually(() => client.isClosed && behind.isClosed);
  expect(client.failure).toBe("ECONNRESET");
  const refused = new Peer(connect({ port: proxy.port, host: "127.0.0.1" }));
  await eventually(() => refused.isClosed);
  expect(accepted).toHaveLength(1);

  proxy.heal();
  const again = await openConnection();
  await say(again.client, again.behind, "hello");
});

test("drop swallows bytes and ends without a word, and healing resets only those who lost something", async () => {
  const talking = await openConnection();
  const leaving = await openConnection();
  const silent = await openConnection();
  proxy.drop();
  talking.client.socket.write("lost");
  leaving.client.socket.destroy();
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(talking.behind.received).toBe("");
  expect(talking.client.isClosed || talking.behind.isClosed).toBe(false);
  expect(leaving.behind.hasEnded || leaving.behind.isClosed).toBe(false);

  proxy.heal();
  await eventually(() => talking.client.isClosed && talking.behind.isClosed && leaving.behind.isClosed);
  await say(silent.client, silent.behind, "still here");
});

test("one direction can be dropped alone: the request arrives, the reply does not", async () => {
  const { client, behind } = await openConnection();
  proxy.drop("toClient");
  await say(client, behind, "COMMIT");
  behind.socket.write("done");
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(client.received).toBe("");
  await say(client, behind, "anybody?");
});

test("delay holds every chunk back and keeps the order", async () => {
  const { client, behind } = await openConnection();
  proxy.delayMs(150);
  const startMs = performance.now();
  for (const text of ["one ", "two ", "three"]) client.socket.write(text);
  await eventually(() => behind.received === "one two three", { everyMs: 5 });
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(145);
  proxy.heal();
  await say(client, behind, "four");
});

test("the hook sees every chunk with its direction and decides: cut before the request arrives", async () => {
  const seen: [ProxyDirection, string, number][] = [];
  proxy.onData((direction, chunk, connection) => {
    seen.push([direction, chunk.toString(), connection]);
    return chunk.includes("COMMIT") ? "cut" : "pass";
  });
  const { client, behind } = await openConnection();
  await say(client, behind, "BEGIN");
  client.socket.write("COMMIT");
  await eventually(() => client.isClosed && behind.isClosed);
  expect(behind.received).toBe("BEGIN");
  expect(seen).toEqual([
    ["toServer", "BEGIN", 1],
    ["toServer", "COMMIT", 1],
  ]);
});

test("the hook may let the request through and cut before the reply", async () => {
  let committed = false;
  proxy.onData(async (direction, chunk) => {
    if (direction === "toServer" && chunk.includes("COMMIT")) committed = true;
    return direction === "toClient" && committed ? "cut" : undefined;
  });
  const { client, behind } = await openConnection();
  await say(client, behind, "COMMIT");
  behind.socket.write("done");
  await eventually(() => client.isClosed);
  expect(client.received).toBe("");
});

test("a server that is down looks like a connection that is reset", async () => {
  server.close();
  const client = new Peer(connect({ port: proxy.port, host: "127.0.0.1" }));
  await eventually(() => client.isClosed);
  expect(client.failure).toBe("ECONNRESET");
});

test("megabytes pass unharmed, and a reader that pauses holds the sender back", async () => {
  const { client, behind } = await openConnection();
  behind.socket.pause();
  const block = Buffer.alloc(1 << 20, "x");
  let flushed = 0;
  for (let count = 0; count < 32; count++) client.socket.write(block, () => (flushed += 1));
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(flushed).toBeLessThan(32);
  behind.socket.resume();
  await eventually(() => behind.received.length === 32 << 20);
});

test("a connection that is reset in the moment in which it passes an end on is over all the same", async () => {
  const [towardsClient, towardsServer] = await Promise.all([openSocket(), openSocket()]);
  let over = 0;
  const connection = new ProxyConnection(
    { client: towardsClient.near, server: towardsServer.near },
    { delayMs: () => 0, verdict: async () => "pass", isDropping: () => false },
    () => (over += 1),
  );
  const end = towardsServer.near.end.bind(towardsServer.near);
  towardsServer.near.end = () => {
    end();
    connection.reset();
    return towardsServer.near;
  };
  towardsClient.far.end();
  await eventually(() => over === 1);
  towardsClient.far.destroy();
  towardsServer.far.destroy();
});

/** Both ends of a connection. */
async function openSocket(): Promise<{ near: Socket; far: Socket }> {
  const listener = createServer({ allowHalfOpen: true });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as AddressInfo;
  const arrived = once(listener, "connection") as Promise<[Socket]>;
  const near = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const [far] = await arrived;
  far.on("error", () => undefined);
  far.resume();
  listener.close();
  return { near, far };
}
