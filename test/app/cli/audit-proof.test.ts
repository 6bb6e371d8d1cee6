import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../src/contexts/audit/domain/entry.ts';
import { ProofLines, type ProofLine } from '../../../src/contexts/audit/domain/proof.ts';
import { ProofKey } from '../../../src/contexts/audit/proof-key.ts';
import { startApp, type TestApp, type TestTenant } from '../../dsl/app.ts';
import { castellan } from '../../dsl/command-line.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

let app: TestApp;
let acme: TestTenant;
let folder: string;
let userId: string;
let proof: string[];
let publicKey: string;

const run = (...words: string[]) => castellan(words, {}, (work) => work(app.application));
const prove = async (...words: string[]) => {
  await app.settled();
  const { code, stdout } = await run('audit', 'proof', '--tenant', 'acme', ...words);
  expect(code).toBe(0);
  return stdout.trimEnd().split('\n');
};

beforeAll(async () => {
  folder = scratchFolder('proof');
  app = await startApp();
  acme = await app.newTenant({ name: 'Acme' });
  const { body } = await acme.admin.post('/api/v1/admin/users', { email: 'kim@acme.example', displayName: 'Kim Kay' });
  userId = body.id as string;
  proof = await prove();
  publicKey = (JSON.parse(proof.at(-1)!) as { publicKey: string }).publicKey;
});
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true });
});

let files = 0;
const fileOf = (lines: readonly string[]): string => {
  const file = path.join(folder, `proof-${(files += 1)}.jsonl`);
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
};
/** What a third party does: the script alone, without anything of the installation. */
function verified(lines: readonly string[], ...more: string[]): { code: number | null; said: string } {
  const words = ['examples/audit-proof/verify.mjs', fileOf(lines), ...more];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', env: {} });
  return { code: status, said: stdout + stderr };
}
const changed = (n: number, change: (line: string) => string): string[] =>
  proof.map((line, at) => (at === n ? change(line) : line));

describe('a proof of an audit log (OP-605)', () => {
  it('is checked without the installation', () => {
    expect(verified(proof, '--key', publicKey)).toEqual({
      code: 0,
      said: expect.stringMatching(new RegExp(`^holds: ${proof.length - 1} entries of ${acme.tenantId}, made at `)),
    });
    expect(verified(proof).said).toContain(publicKey);
  });

  it('may end with the outcome of the command, and with nothing else', async () => {
    const withOutcome = await prove('--json');
    expect(verified(withOutcome, '--key', publicKey).code).toBe(0);
    expect(verified([...proof, proof[0]!]).code).toBe(1);
  });

  it.each([
    ['a changed record', () => changed(1, (line) => line.replace('"timestamp":"2', '"timestamp":"3'))],
    ['a changed digest', () => changed(1, (line) => line.replace(/"content":"./, '"content":"g'))],
    ['a missing entry', () => proof.filter((_, at) => at !== 2)],
    ['a missing last entry', () => proof.filter((_, at) => at !== proof.length - 2)],
    ['entries in another order', () => [proof[1]!, proof[0]!, ...proof.slice(2)]],
    ['no statement', () => proof.slice(0, -1)],
    ['another statement', () => changed(proof.length - 1, (line) => line.replace('entries', 'Entries'))],
    ['a line that is no object', () => changed(0, () => '7')],
    ['a key that is none', () => changed(proof.length - 1, (line) => line.replace(publicKey, 'AAAA'))],
  ])('does not hold with %s', (_title, lines) => {
    expect(verified(lines())).toEqual({ code: 1, said: expect.stringMatching(/^DOES NOT HOLD: /) });
  });

  it('does not hold if somebody else signed it', () => {
    expect(verified(proof, '--key', new ProofKey(randomBytes(32)).publicKey).code).toBe(1);
  });

  it('begins with all entries of an earlier one, also after a person was erased', async () => {
    expect((await acme.admin.delete(`/api/v1/admin/users/${userId}?erase=true`)).status).toBe(204);
    await expect.poll(async () => (await prove()).join('\n'), { timeout: 20_000 }).not.toContain('Kim Kay');
    const later = await prove();
    expect(proof.join('\n')).toContain('Kim Kay');
    expect(verified(later, '--key', publicKey, '--earlier', fileOf(proof)).code).toBe(0);
    expect(verified(proof, '--earlier', fileOf(later)).code).toBe(1);
  });

  it('shows that history was rewritten since an earlier one, even by somebody with all keys', () => {
    const key = new ProofKey(randomBytes(32));
    const made = (action: string) => {
      const lines = new ProofLines();
      const printed = [1, 2, 3].map((sequence) => lines.line(entry(sequence, action), shown(sequence)));
      return signed(key, printed, lines);
    };
    expect(verified(made('alert.resolved'), '--earlier', fileOf(made('alert.resolved'))).code).toBe(0);
    expect(verified(made('alert.deleted'), '--earlier', fileOf(made('alert.resolved')))).toEqual({
      code: 1,
      said: expect.stringContaining('history was rewritten'),
    });
  });

  it('is not made of a chain that is invalid', async () => {
    await app.services.database.owner.query(
      `update audit_log set action = 'door.closed' where tenant_id = $1 and sequence = 2`,
      [acme.tenantId],
    );
    const { code, stdout, stderr } = await run('audit', 'proof', '--tenant', 'acme');
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('BROKEN')]);
  });

  it('needs an owner, and explains how it is checked', async () => {
    expect((await run('audit', 'proof')).code).toBe(2);
    expect(spawnSync(process.execPath, ['examples/audit-proof/verify.mjs']).status).toBe(2);
    expect(spawnSync(process.execPath, ['examples/audit-proof/verify.mjs', path.join(folder, 'none')]).status).toBe(3);
  });
});

const hashOf = (sequence: number): string => String(sequence).repeat(64);
const shown = (sequence: number) => ({ sequence, previousHash: hashOf(sequence - 1), hash: hashOf(sequence) });
const entry = (sequence: number, action: string): AuditEntry => ({
  ...shown(sequence),
  id: 'an-event',
  timestamp: '2026-11-28T00:00:00.000Z',
  actorId: null,
  actorType: 'system',
  action,
  resourceType: 'alert',
  resourceId: 'an-alert',
  details: '{}',
  event: '[]',
  ipAddress: null,
  userAgent: null,
});
function signed(key: ProofKey, lines: readonly ProofLine[], proven: ProofLines): string[] {
  const statement = JSON.stringify(proven.statement('an-owner', new Date()));
  const end = { statement, publicKey: key.publicKey, signature: key.sign(statement) };
  return [...lines, end].map((line) => JSON.stringify(line));
}
