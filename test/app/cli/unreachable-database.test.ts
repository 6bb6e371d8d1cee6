import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { licensePublicKeyPem } from '../../dsl/licenses.ts';

/** Runs `castellan database roles`. Returns the exit status and standard error. */
async function databaseRoles(databaseUrl: string): Promise<[number | null, string]> {
  const command = spawn(process.execPath, ['scripts/run.mjs', 'src/cli.ts', 'database', 'roles'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      NODE_ENV: 'production',
      DATABASE_URL: databaseUrl,
      MASTER_KEY: '11'.repeat(32),
      AUDIT_HMAC_KEY: '22'.repeat(32),
      LICENSE_PUBLIC_KEY: licensePublicKeyPem,
    },
  });
  const [[status], errors] = await Promise.all([once(command, 'exit'), text(command.stderr)]);
  return [status as number | null, errors];
}

it('says in one sentence that the database cannot be reached', async () => {
  const [status, errors] = await databaseRoles('postgresql://owner@127.0.0.1:1/castellan');
  expect([status, errors.trim().split('\n')]).toEqual([
    1,
    [expect.stringMatching(/^castellan: the database cannot be reached \(.*ECONNREFUSED.*\)$/)],
  ]);
}, 60_000);
