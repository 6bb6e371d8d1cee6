import { describe, expect, it } from 'vitest';
import { demo } from '../../../src/app/demo/demo.ts';
import { startApp } from '../../dsl/app.ts';
import { testTerminal } from '../../dsl/command-line.ts';
import { licenseSigningKeyForTests } from '../../dsl/licenses.ts';
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
});
