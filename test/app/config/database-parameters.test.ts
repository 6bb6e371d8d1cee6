import { rmSync } from 'node:fs';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/app/config/config.ts';
import { connectionOf } from '../../../src/platform/database/logins.ts';
import { licensePublicKeyPem } from '../../dsl/licenses.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

const dataDir = scratchFolder('database-parameters');
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const OWN = {
  DATA_DIR: dataDir,
  MASTER_KEY: 'a'.repeat(64),
  AUDIT_HMAC_KEY: 'b'.repeat(64),
  LICENSE_PUBLIC_KEY: licensePublicKeyPem,
};

const isAccepted = (url: string): boolean => {
  try {
    readConfig({ ...OWN, DATABASE_URL: url });
    return true;
  } catch {
    return false;
  }
};

/** What the driver makes of a URL: its parameters, and the first message that it sends to the server. */
function understood(url: string): string {
  const client = new pg.Client(connectionOf(url)) as unknown as {
    readonly connectionParameters: object;
    getStartupConf(): object;
  };
  const { password } = client.connectionParameters as { password?: string };
  return JSON.stringify([client.connectionParameters, password, client.getStartupConf()]);
}

/** With a value that is not the default of any. */
const PARAMETERS = [
  ['application_name', 'x'],
  ['client_encoding', 'latin1'],
  ['fallback_application_name', 'x'],
  ['host', '127.0.0.2'],
  ['idle_in_transaction_session_timeout', '7'],
  ['lock_timeout', '7'],
  ['options', '-c work_mem=1MB'],
  ['password', 'x'],
  ['port', '7'],
  ['query_timeout', '7'],
  ['ssl', 'true'],
  ['sslmode', 'verify-full'],
  ['sslnegotiation', 'postgres'],
  ['statement_timeout', '7'],
  ['user', 'x'],
] as const;

describe('the parameters of DATABASE_URL', () => {
  const base = 'postgresql://castellan@127.0.0.1/castellan';

  it.each(PARAMETERS)('that are accepted reach the driver: %s', (name, value) => {
    const url = `${base}?${name}=${encodeURIComponent(value)}`;
    expect(isAccepted(url)).toBe(true);
    if (name !== 'sslnegotiation') expect(understood(url)).not.toBe(understood(base));
  });

  it.each([
    'connect_timeout',
    'keepalives',
    'binary',
    'database',
    'dbname',
    'hostaddr',
    'target_session_attrs',
    'schema',
  ])('that are refused would not reach it: %s', (name) => {
    const url = `${base}?${name}=7`;
    expect(isAccepted(url)).toBe(false);
  });
});
