import { createServer } from 'node:net';
import { refusedListening, UnusableHost } from './refused-listening.ts';

/**
 * Listens for a moment and stops: only the machine knows whether this user may listen there. Rejects with a `ConfigError`
 * that says why not.
 */
export function tryToListen(setting: string, host: string, port: number): Promise<void> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(refusedListening(error, setting, host, port) as Error));
    server.listen(port, host, () => server.close(() => resolve()));
  });
}

/** Refuses a `HOST` at which nothing can listen, whatever the port. Anything else is for the listeners to report. */
export async function requireHost(host: string): Promise<void> {
  await tryToListen('HOST', host, 0).catch((error: unknown) => {
    if (error instanceof UnusableHost) throw error;
  });
}
