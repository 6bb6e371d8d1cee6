import { randomUUID } from 'node:crypto';
import { multipart } from '../dsl/pictures.ts';
import { ask, type Reply } from '../faults/harness/ask.ts';
import { addresses } from './addresses.ts';
import { flood, type Attack, type Tally } from './attack.ts';
import type { Party } from './party.ts';

const ROWS = 500;
const TOKENS = 100;
const GARBAGE_BYTES = 60 * 1024;

/** A whole tenant with many addresses: floods of sign-ins, imports, single sign-on with garbage, enrollments. */
export const hostileTenant: Attack = {
  async attack(party: Party, signal: AbortSignal): Promise<Tally> {
    const { url, tlsUrl, tenantId, email, headers } = party;
    const from = addresses(60);
    const tally: Tally = {};
    const post = (path: string, body: object, more: Record<string, string> = {}) => ask(url + path, { method: 'POST', headers: more, body, from: from(), timeoutMs: 30_000 });
    await Promise.all([
      flood(tally, signal, 'sign-in as nobody', 12, () => post('/api/v1/auth/login', { email: `${randomUUID()}@mallory.example`, password: 'Wrong-Horse-7!', tenantId })),
      flood(tally, signal, 'wrong sign-in', 4, () => post('/api/v1/auth/login', { email, password: 'Wrong-Horse-7!', tenantId })),
      flood(tally, signal, 'import', 2, () => importPeople(url, headers, from())),
      flood(tally, signal, 'SAML', 4, () => garbage(url, from())),
      flood(tally, signal, 'SSO start', 4, () => ask(`${url}/api/v1/auth/sso/login?tenant_id=${tenantId}`, { from: from(), timeoutMs: 30_000 })),
      flood(tally, signal, 'enrollment', 2, () => enrollMany(party, tlsUrl, from())),
    ]);
    return tally;
  },
};

function importPeople(url: string, headers: Party['headers'], from: string): Promise<Reply> {
  const lines = Array.from({ length: ROWS }, () => `${randomUUID()}@mallory.example,Somebody`);
  const { raw, headers: form } = multipart({ file: Buffer.from(['email,displayName', ...lines].join('\n')), type: 'text/csv' });
  return ask(`${url}/api/v1/admin/users/import`, { method: 'POST', headers: { ...headers, ...form }, raw, from, timeoutMs: 60_000 });
}

function garbage(url: string, from: string): Promise<Reply> {
  const xml = `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol">${'<a>'.repeat(1_000)}${'x'.repeat(GARBAGE_BYTES / 2)}`;
  const raw = new URLSearchParams({ SAMLResponse: Buffer.from(xml).toString('base64'), RelayState: randomUUID() }).toString();
  return ask(`${url}/api/v1/auth/saml/callback`, { method: 'POST', raw, headers: { 'content-type': 'application/x-www-form-urlencoded' }, from, timeoutMs: 30_000 });
}

async function enrollMany({ url, tenantId, headers }: Party, tlsUrl: string, from: string): Promise<Reply> {
  const issued = await ask(`${url}/api/v1/admin/enrollment/bulk-config`, { method: 'POST', headers, body: { count: TOKENS }, from, timeoutMs: 60_000 });
  if (issued.status !== 200) return issued;
  const [{ token }] = issued.body.configs as [{ token: string }];
  const body = { enrollmentToken: token, deviceFingerprint: randomUUID(), browserType: 'chrome', extensionVersion: '1' };
  return ask(`${tlsUrl}/api/v1/enroll/certificate`, { method: 'POST', headers: { 'x-tenant-id': tenantId }, body, from, timeoutMs: 30_000 });
}
