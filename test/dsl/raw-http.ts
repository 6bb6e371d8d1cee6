import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends these bytes on a separate connection, and reads until the server ends it. */
export async function sendRaw(url: string, bytes: string): Promise<RawResponse> {
  const { hostname: host, port, protocol } = new URL(url);
  const socket =
    protocol === 'https:'
      ? connectTls({ host, port: Number(port), rejectUnauthorized: false })
      : connect(Number(port), host);
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString()));
  socket.on('error', () => undefined);
  await once(socket, protocol === 'https:' ? 'secureConnect' : 'connect');
  socket.write(bytes);
  if (!socket.closed) await once(socket, 'close');
  return responseIn(received);
}

/** The first response that was received on a connection, with all that follows as its body. */
export function responseIn(received: string): RawResponse {
  const [head = '', ...rest] = received.split('\r\n\r\n');
  const [line = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((header) => [
      header.slice(0, header.indexOf(':')).toLowerCase(),
      header.slice(header.indexOf(':') + 1).trim(),
    ]),
  );
  return { status: Number(line.split(' ')[1]), headers, body: rest.join('\r\n\r\n') };
}

export const rawRequest = (method: string, path: string, headers = '', body = '') =>
  `${method} ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${headers}\r\n${body}`;
