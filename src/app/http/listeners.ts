import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { createTlsListener } from './server.ts';
import type { Config } from '../config/config.ts';
import type { ListenerCertificate } from '../../contexts/certificates/listener-certificate.ts';

export interface ListenersDependencies {
  readonly config: Pick<Config, 'host' | 'port' | 'tlsPort' | 'drainMs'>;
  listenerCertificate(): ListenerCertificate;
}

/** Listens for HTTP and for TLS with client certificates; answers where. */
export async function startListeners(
  app: FastifyInstance,
  services: ListenersDependencies,
  onStop: (close: () => Promise<void>) => void,
): Promise<{ http: string; tls: string }> {
  const { host, port, tlsPort, drainMs } = services.config;
  const http = await app.listen({ host, port });
  const door = createTlsListener(app, await services.listenerCertificate().begin());
  const sockets = trackSockets(door);
  services.listenerCertificate().attach(door);
  await new Promise<void>((resolve, reject) => {
    door.once('error', reject);
    door.listen(tlsPort, host, resolve);
  });
  // Both at once: requests that came by either have the same time to finish. The other half is for what stops after them.
  onStop(async () => {
    await Promise.all([closed(door, sockets, drainMs / 2), app.close()]);
  });
  const address = door.address() as { port: number };
  return { http, tls: `https://${host}:${address.port}` };
}

/** A connection whose TLS handshake never ends is none that the server knows of, and keeps it open all the same. */
function trackSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}

/** Takes no more connections, and cuts those that are left after a while: a half-sent request would be waited for without end. */
async function closed(server: Server, sockets: ReadonlySet<Socket>, afterMs: number): Promise<void> {
  const ended = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  const timer = setTimeout(() => sockets.forEach((socket) => socket.destroy()), afterMs);
  await ended;
  clearTimeout(timer);
}
