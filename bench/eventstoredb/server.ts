import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { controlProgram, type Control } from '../../test/fixtures/eventstoredb/control-program.ts';
import { startPeer } from '../peers/peer.ts';

export interface EventStoreServer {
  readonly url: string;
  /** For the names of rows. */
  readonly name: string;
  /** Targets apply to a real server; the stand-in's figures are only reported. */
  target(words: string): string;
  stop(): Promise<void>;
}

/**
 * A server with an empty log, started by the program of `EVENTSTORE_TEST_CONTROL`. Without one the server that
 * `EVENTSTORE_TEST_URL` names, or else a stand-in in a process of its own.
 */
export async function startEventStoreServer(): Promise<EventStoreServer> {
  const control = controlProgram();
  if (control) return startControlled(control);
  const given = process.env['EVENTSTORE_TEST_URL'];
  if (given !== undefined) return { ...REAL, url: given, stop: async () => undefined };
  const standIn = await startPeer('eventstoredb-stand-in.ts', {});
  const port = await standIn.ask({});
  return {
    url: `esdb://127.0.0.1:${port}?tls=false`,
    name: 'the stand-in',
    target: (words) => `report; on a real server ${words}`,
    stop: () => standIn.stop(),
  };
}

const REAL = { name: 'EventStoreDB', target: (words: string) => words };

async function startControlled(run: Control): Promise<EventStoreServer> {
  const folder = mkdtempSync('/var/tmp/castellan-bench-node-');
  const data = join(folder, 'data');
  return {
    ...REAL,
    url: await run('start', data),
    async stop() {
      await run('stop', data);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
