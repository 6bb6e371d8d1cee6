import { randomUUID } from 'node:crypto';
import { multipart } from '../dsl/pictures.ts';
import { newSigningPair } from '../dsl/saml-identity-provider.ts';
import { ask, type Reply } from '../faults/harness/ask.ts';
import { addresses } from './addresses.ts';
import { flood, type Attack, type Tally } from './attack.ts';
import type { Party } from './party.ts';

const ROWS = 500;
const TOKENS = 100;
const SIGNATURES = 500;
/** Tokens of one batch that are used at once. */
const ENROLLED_AT_ONCE = 8;
/** The most that the callback accepts. */
const GARBAGE_BYTES = 40 * 1024;

/** A whole tenant with many addresses: floods of sign-ins, imports, signature packs, enrollments and invalid SSO. */
export const hostileTenant: Attack = {
  /** It has an identity provider, so that its responses match requests and must be parsed. */
  async prepare({ url, headers, password }: Party): Promise<void> {
    const confirmed = await ask(`${url}/api/v1/admin/verify-password`, { method: 'POST', headers, body: { password } });
    const { certificatePem } = newSigningPair('idp.mallory.example');
    const body = {
      protocol: 'saml',
      idpEntityId: 'https://idp.mallory.example',
      idpSsoUrl: 'https://idp.mallory.example/sso',
      idpCertificate: certificatePem,
      isEnabled: true,
    };
    const more = { 'x-reauth-token': String(confirmed.body.reAuthToken) };
    const { status, text } = await ask(`${url}/api/v1/admin/sso-configs`, {
      method: 'POST',
      headers: { ...headers, ...more },
      body,
    });
    if (status !== 201) throw new Error(`no provider: ${status} ${text}`);
  },
  async attack(party: Party, signal: AbortSignal): Promise<Tally> {
    const { url, tlsUrl, tenantId, email, headers } = party;
    const from = addresses(60);
    const tally: Tally = {};
    const post = (path: string, body: object, more: Record<string, string> = {}) =>
      ask(url + path, { method: 'POST', headers: more, body, from: from(), timeoutMs: 30_000 });
    await Promise.all([
      flood(tally, signal, 'sign-in as nobody', 12, () =>
        post('/api/v1/auth/login', { email: `${randomUUID()}@mallory.example`, password: 'Wrong-Horse-7!', tenantId }),
      ),
      flood(tally, signal, 'wrong sign-in', 4, () =>
        post('/api/v1/auth/login', { email, password: 'Wrong-Horse-7!', tenantId }),
      ),
      flood(tally, signal, 'import', 2, () => importPeople(url, headers, from())),
      flood(tally, signal, 'signature pack', 4, () => uploadPack(url, headers, from())),
      flood(tally, signal, 'revocation list', 4, () =>
        ask(`${url}/api/v1/admin/certificates/ca/crl`, { headers, from: from(), timeoutMs: 30_000 }),
      ),
      flood(tally, signal, 'SAML', 4, () => garbage(party, from)),
      flood(tally, signal, 'SSO start', 4, () => startSaml(party, from())),
      flood(tally, signal, 'enrollment', 2, () => enrollMany(party, tlsUrl, from())),
    ]);
    return tally;
  },
};

function importPeople(url: string, headers: Party['headers'], from: string): Promise<Reply> {
  const lines = Array.from({ length: ROWS }, () => `${randomUUID()}@mallory.example,Somebody`);
  const { raw, headers: form } = multipart({
    file: Buffer.from(['email,displayName', ...lines].join('\n')),
    type: 'text/csv',
  });
  return ask(`${url}/api/v1/admin/users/import`, {
    method: 'POST',
    headers: { ...headers, ...form },
    raw,
    from,
    timeoutMs: 60_000,
  });
}

function uploadPack(url: string, headers: Party['headers'], from: string): Promise<Reply> {
  const signatures = Array.from({ length: SIGNATURES }, (_, n) => ({
    name: `Kit ${n}`,
    type: 'domain',
    pattern: `kit-${n}.example`,
    patternType: 'exact',
  }));
  const pack = { name: 'Kits', version: randomUUID(), signatures };
  const { raw, headers: form } = multipart({ file: Buffer.from(JSON.stringify(pack)), type: 'application/json' });
  return ask(`${url}/api/v1/admin/signatures/upload`, {
    method: 'POST',
    headers: { ...headers, ...form },
    raw,
    from,
    timeoutMs: 60_000,
  });
}

const startSaml = ({ url, tenantId }: Party, from: string): Promise<Reply> =>
  ask(`${url}/api/v1/auth/saml/login?tenant_id=${tenantId}`, { from, timeoutMs: 30_000 });

/** An invalid document, in response to a real request. */
async function garbage(party: Party, from: () => string): Promise<Reply> {
  const started = await startSaml(party, from());
  if (started.status !== 302) return started;
  const relayState = new URL(started.location!).searchParams.get('RelayState') ?? '';
  const xml = `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol">${'<a b="c">'.repeat(Math.floor(GARBAGE_BYTES / 18))}${'</a>'.repeat(Math.floor(GARBAGE_BYTES / 18))}</samlp:Response>`;
  const raw = new URLSearchParams({
    SAMLResponse: Buffer.from(xml).toString('base64'),
    RelayState: relayState,
  }).toString();
  return ask(`${party.url}/api/v1/auth/saml/callback`, {
    method: 'POST',
    raw,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    from: from(),
    timeoutMs: 30_000,
  });
}

async function enrollMany({ url, tenantId, headers }: Party, tlsUrl: string, from: string): Promise<Reply> {
  const issued = await ask(`${url}/api/v1/admin/enrollment/bulk-config`, {
    method: 'POST',
    headers,
    body: { count: TOKENS },
    from,
    timeoutMs: 60_000,
  });
  if (issued.status !== 200) return issued;
  const tokens = (issued.body.configs as { token: string }[]).slice(0, ENROLLED_AT_ONCE);
  const enroll = ({ token }: { token: string }) =>
    ask(`${tlsUrl}/api/v1/enroll/certificate`, {
      method: 'POST',
      headers: { 'x-tenant-id': tenantId },
      body: {
        enrollmentToken: token,
        deviceFingerprint: randomUUID(),
        browserType: 'chrome',
        extensionVersion: '1',
      },
      from,
      timeoutMs: 30_000,
    });
  const [first] = await Promise.all(tokens.map(enroll));
  return first!;
}
