import type { FastifyInstance } from 'fastify';
import type { Services } from '../services.ts';
import { tlsDoor } from './server.ts';

/** Listens for HTTP and for TLS with client certificates; answers where. */
export async function openDoors(app: FastifyInstance, services: Pick<Services, 'config' | 'listenerCertificate'>, onStop: (close: () => Promise<void>) => void): Promise<{ http: string; tls: string }> {
  const { host, port, tlsPort } = services.config;
  const http = await app.listen({ host, port });
  const door = tlsDoor(app, await services.listenerCertificate().begin());
  services.listenerCertificate().attach(door);
  await new Promise<void>((resolve, reject) => {
    door.once('error', reject);
    door.listen(tlsPort, host, resolve);
  });
  onStop(
    () =>
      new Promise<void>((resolve) => {
        door.close(() => resolve());
        door.closeIdleConnections();
        setTimeout(() => door.closeAllConnections(), 5_000).unref();
      }),
  );
  const address = door.address() as { port: number };
  return { http, tls: `https://${host}:${address.port}` };
}
