import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PASSWORD, startApp, type TestApp, type TestTenant } from '../../dsl/app.ts';
import { newSigningPair } from '../../dsl/saml-identity-provider.ts';
import { samlMetadata } from '../../dsl/saml-metadata.ts';

const hasPrograms = ['curl', 'jq', 'openssl'].every(
  (name) => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0,
);

/** The shell commands of a guide, as somebody copies them. */
const commandsIn = (guide: string): string[] =>
  [...readFileSync(`docs/guides/${guide}.md`, 'utf8').matchAll(/^( *)```sh\n([^]*?)\n\1```/gm)].map(
    ([, , commands]) => commands!,
  );
const commandWith = (guide: string, word: string): string => commandsIn(guide).find((block) => block.includes(word))!;

describe.skipIf(!hasPrograms)('the commands of the guides to single sign-on', () => {
  let app: TestApp;
  let tenant: TestTenant;
  const folder = mkdtempSync(join(tmpdir(), 'castellan-guide-'));
  beforeAll(async () => {
    app = await startApp({ devMode: true });
    tenant = await app.newTenant();
  });
  afterAll(async () => {
    await app.close();
    rmSync(folder, { recursive: true });
  });

  /** What the last command prints. */
  async function pasted(commands: readonly string[], environment: Record<string, string> = {}): Promise<string> {
    const script = commands.join('\n').replaceAll('https://castellan.example', app.url);
    const child = spawn('bash', ['-euc', script], { cwd: folder, env: { ...process.env, ...environment } });
    child.stdin.end(`${tenant.email}\n${PASSWORD}\n`);
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    expect([code, stderr, stdout]).toEqual([0, expect.not.stringContaining('curl:'), expect.any(String)]);
    return stdout.trim().split('\n').at(-1)!;
  }

  it('get a token and a proof, and add an administrator', async () => {
    const added = JSON.parse(await pasted(commandsIn('sso-administrators'))) as Record<string, unknown>;
    expect(added).toMatchObject({ email: 'ann@acme.example', displayName: 'Ann Example', roleType: 'analyst' });
  });

  it.each(['sso-okta', 'sso-saml-providers'])('make a key and a certificate, and store them (%s)', async (guide) => {
    const metadata = samlMetadata({ pairs: [newSigningPair('idp')] });
    const imported = await tenant.admin.post('/api/v1/admin/sso-configs/import', { metadata, name: guide });
    expect(imported.status).toBe(201);
    const [address, ask, sign] = commandsIn('sso-administrators');
    const printed = await pasted([address!, ask!, sign!, commandWith(guide, 'openssl')], { ID: imported.body.id });
    expect(JSON.parse(printed)).toMatchObject({
      id: imported.body.id,
      spCertificate: expect.stringContaining('BEGIN CERTIFICATE'),
      signRequests: guide === 'sso-saml-providers',
    });
    await tenant.admin.delete(`/api/v1/admin/sso-configs/${imported.body.id}`);
  });
});
