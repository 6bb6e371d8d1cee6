import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { demo } from '../../../src/app/demo/demo.ts';
import { startApp } from '../../dsl/app.ts';
import { castellan, testTerminal } from '../../dsl/command-line.ts';
import { licenseSigningKeyForTests } from '../../dsl/licenses.ts';
import { scratchFolder } from '../../dsl/scratch.ts';
import { startStandIn } from '../../fixtures/eventstoredb/stand-in.ts';

/** The whole path, from set-up to forensics, through the service's own endpoints. The demo itself checks every step. */
async function walk(eventStoreUrl: string | undefined): Promise<string> {
  const printed: string[] = [];
  const app = await startApp({ eventStoreUrl });
  try {
    expect(app.services.store.name).toBe(eventStoreUrl ? 'eventstoredb' : 'postgres');
    await demo(app.services, {
      devices: 12,
      http: app.url,
      tls: app.tlsUrl,
      licenseSigningKey: licenseSigningKeyForTests,
      terminal: testTerminal(),
      say: (line) => printed.push(line),
    });
  } finally {
    await app.close();
  }
  return printed.join('\n');
}

describe('the demo', () => {
  it('succeeds on the embedded store', { timeout: 90_000 }, async () => {
    expect(await walk(undefined)).toContain('found: ');
  });

  it('succeeds on EventStoreDB', { timeout: 90_000 }, async () => {
    const standIn = await startStandIn();
    try {
      expect(await walk(standIn.connectionString)).toContain('found: ');
    } finally {
      await standIn.stop();
    }
  });

  it('says why it does not begin on the log of another installation', { timeout: 90_000 }, async () => {
    const standIn = await startStandIn();
    const folder = scratchFolder('demo-here');
    const app = await startApp({ eventStoreUrl: standIn.connectionString });
    try {
      await app.newTenant();
      const { code, stderr } = await castellan(['demo', '--here', '--yes', '--devices', '2'], {
        env: {
          DATA_DIR: folder,
          PORT: '0',
          TLS_PORT: '0',
          EVENTSTORE_URL: standIn.connectionString,
          LOG_LEVEL: 'silent',
        },
      });
      expect([code, stderr.trim().split('\n')]).toEqual([
        3,
        [
          expect.stringMatching(
            /^castellan: the event log cannot be trusted: .*belongs to another installation.*; `castellan restore status` shows how to recover$/,
          ),
        ],
      ]);
    } finally {
      await app.close();
      await standIn.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
