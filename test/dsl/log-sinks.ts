import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

/** A server of a log protocol, within the test's process. */
export interface LogPeer<Received> {
  readonly port: number;
  readonly url: string;
  /** In the order of arrival. */
  readonly received: Received[];
  close(): Promise<void>;
}

/** What a syslog server over TCP does with a connection. */
export type StreamBehaviour = 'reads' | 'resets' | 'hangs' | 'closes';

export interface SyslogPeer extends LogPeer<string> {
  behave(as: StreamBehaviour): void;
  readonly connections: number;
}

/** RFC 6587 §3.4.1: messages with their length before them. Closes when the client has ended, as servers do. */
export async function startSyslog(tls?: { readonly key: string; readonly cert: string }): Promise<SyslogPeer> {
  const received: string[] = [];
  const sockets = new Set<Socket>();
  let behaviour: StreamBehaviour = 'reads';
  let connections = 0;
  const serve = (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    if (behaviour === 'hangs') return void socket.pause();
    if (behaviour === 'closes') return void socket.end();
    // A TLS socket cannot send a reset: it is closed before it has read anything.
    if (behaviour === 'resets')
      return void (tls ? socket.destroy() : socket.once('data', () => socket.resetAndDestroy()));
    let pending = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk]);
      for (;;) {
        const space = pending.indexOf(0x20);
        const length = space > 0 ? Number(pending.subarray(0, space).toString()) : Number.NaN;
        if (Number.isNaN(length) || pending.length < space + 1 + length) return;
        received.push(pending.subarray(space + 1, space + 1 + length).toString());
        pending = pending.subarray(space + 1 + length);
      }
    });
  };
  const server = tls ? createTlsServer(tls, serve) : createServer(serve);
  const port = await listening(server);
  return {
    port,
    url: `127.0.0.1:${port}`,
    received,
    get connections() {
      return connections;
    },
    behave: (as) => {
      behaviour = as;
      for (const socket of sockets) socket.destroy();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      return closed(server);
    },
  };
}

export interface HttpRequestSeen {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface HttpLogPeer extends LogPeer<HttpRequestSeen> {
  /** From now on every request is answered by this. */
  answer(handle: (request: HttpRequestSeen, response: ServerResponse) => void): void;
}

export const accepted = (_request: HttpRequestSeen, response: ServerResponse): void => void response.end('{}');
export const failing =
  (status: number) =>
  (_request: HttpRequestSeen, response: ServerResponse): void =>
    void response.writeHead(status).end('{}');

/** An HTTP server whose answers a test chooses. */
export async function startHttpSink(): Promise<HttpLogPeer> {
  const received: HttpRequestSeen[] = [];
  let answer: (request: HttpRequestSeen, response: ServerResponse) => void = accepted;
  const server = createHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const seen = { path: request.url!, headers: request.headers, body: Buffer.concat(chunks).toString() };
      received.push(seen);
      answer(seen, response);
    });
  });
  const port = await listening(server);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    received,
    answer: (handle) => void (answer = handle),
    close: () => {
      server.closeAllConnections();
      return closed(server);
    },
  };
}

export interface SplunkPeer extends HttpLogPeer {
  /** Events that the indexer has taken. */
  readonly events: { readonly event: unknown; readonly [meta: string]: unknown }[];
  /** Whether the indexer reports what it has taken. */
  acknowledge(does: boolean): void;
}

/** Splunk's HTTP Event Collector with indexer acknowledgement, as its REST reference describes it. */
export async function startSplunk(token: string): Promise<SplunkPeer> {
  const peer = await startHttpSink();
  const events: SplunkPeer['events'] = [];
  let acknowledges = true;
  let nextAck = 0;
  peer.answer(({ path, headers, body }, response) => {
    const reply = (status: number, content: object) => void response.writeHead(status).end(JSON.stringify(content));
    if (headers.authorization !== `Splunk ${token}`) return reply(403, { text: 'Invalid token', code: 4 });
    if (!headers['x-splunk-request-channel']) return reply(400, { text: 'Data channel is missing', code: 10 });
    if (path.startsWith('/services/collector/ack')) {
      const { acks } = JSON.parse(body) as { acks: number[] };
      return reply(200, { acks: Object.fromEntries(acks.map((id) => [id, acknowledges])) });
    }
    if (path !== '/services/collector/event') return reply(404, { text: 'Not found', code: 404 });
    for (const line of body.split('\n')) events.push(JSON.parse(line) as SplunkPeer['events'][number]);
    return reply(200, { text: 'Success', code: 0, ackId: nextAck++ });
  });
  return Object.assign(peer, { events, acknowledge: (does: boolean) => void (acknowledges = does) });
}

export interface ElasticsearchPeer extends HttpLogPeer {
  readonly documents: Map<string, Record<string, unknown>>;
  /** Documents for which this returns a status are not stored. */
  refuse(status: (document: Record<string, unknown>) => number | undefined): void;
}

/** `_bulk` of Elasticsearch, as its API reference describes it: items in order, each with its own status. */
export async function startElasticsearch(apiKey: string, index: string): Promise<ElasticsearchPeer> {
  const peer = await startHttpSink();
  const documents = new Map<string, Record<string, unknown>>();
  let refuse: (document: Record<string, unknown>) => number | undefined = () => undefined;
  peer.answer(({ path, headers, body }, response) => {
    const reply = (status: number, content: object) => void response.writeHead(status).end(JSON.stringify(content));
    if (headers.authorization !== `ApiKey ${apiKey}`) return reply(401, { error: {}, status: 401 });
    if (
      !path.startsWith(`/${index}/_bulk`) ||
      headers['content-type'] !== 'application/x-ndjson' ||
      !body.endsWith('\n')
    )
      return reply(400, { error: {}, status: 400 });
    const lines = body.slice(0, -1).split('\n');
    const items = lines.flatMap((line, at) => (at % 2 === 0 ? [itemOf(line, lines[at + 1]!)] : []));
    return reply(200, { errors: items.some(({ create }) => create.status >= 300), items });
  });
  const itemOf = (action: string, source: string) => {
    const { _id: id } = (JSON.parse(action) as { create: { _id: string } }).create;
    const document = JSON.parse(source) as Record<string, unknown>;
    const refused = refuse(document);
    if (refused) return { create: { status: refused, error: { type: 'mapper_parsing_exception', reason: source } } };
    if (documents.has(id)) return { create: { status: 409, error: { type: 'version_conflict_engine_exception' } } };
    documents.set(id, document);
    return { create: { status: 201 } };
  };
  return Object.assign(peer, { documents, refuse: (status: typeof refuse) => void (refuse = status) });
}

const listening = (server: Server): Promise<number> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));
const closed = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
