import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { LAST_WORDS_MS } from './plugins/cut-short.ts';
import { inUrl, refusedListening } from './refused-listening.ts';
import { createTlsListener } from './server.ts';
import type { Config } from '../config/config.ts';
import type { ListenerCertificate } from '../../contexts/certificates/listener-certificate.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';

export interface ListenersDependencies {
  readonly config: Pick<Config, 'host' | 'port' | 'tlsPort' | 'drainMs'>;
  readonly jobs: Pick<Jobs, 'stop'>;
  listenerCertificate(): ListenerCertificate;
}

/** Listens for HTTP, and for TLS with client certificates. Returns both URLs. */
export async function startListeners(
  app: FastifyInstance,
  services: ListenersDependencies,
  onStop: (close: () => Promise<void>) => void,
): Promise<{ http: string; tls: string }> {
  const { host, port, tlsPort, drainMs } = services.config;
  const http = await app.listen({ host, port }).catch(refused('PORT', host, port));
  const listener = createTlsListener(app, await services.listenerCertificate().begin());
  const sockets = trackSockets(listener);
  services.listenerCertificate().attach(listener);
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(tlsPort, host, resolve);
  }).catch(refused('TLS_PORT', host, tlsPort));
  // Both at once, so that their requests have the same time. So do jobs, which requests only store.
  onStop(async () => {
    await Promise.all([closed(listener, sockets, drainMs + LAST_WORDS_MS), app.close(), services.jobs.stop(drainMs)]);
  });
  const address = listener.address() as { port: number };
  return { http, tls: `https://${inUrl(host)}:${address.port}` };
}

const refused =
  (setting: string, host: string, port: number) =>
  (error: unknown): never => {
    throw refusedListening(error, setting, host, port);
  };

/** Node does not list connections whose TLS handshake is not finished, but they keep the server from closing. */
function trackSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}

/** Closes the server. Destroys remaining connections after `afterMs`, because half-sent requests may never end. */
async function closed(server: Server, sockets: ReadonlySet<Socket>, afterMs: number): Promise<void> {
  const ended = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  const timer = setTimeout(() => sockets.forEach((socket) => socket.destroy()), afterMs);
  await ended;
  clearTimeout(timer);
}
