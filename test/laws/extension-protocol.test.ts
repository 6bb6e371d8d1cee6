import { createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { routeGroups } from '../../src/app/http/routes/index.ts';
import { directionActions, directionOf } from '../../src/contexts/extension-rollouts/domain/direction.ts';
import { conditions } from '../../src/contexts/policies/domain/events.ts';
import { admitBatch, MAX_BATCH_SIZE, rejectionCodes } from '../../src/contexts/telemetry/domain/admission.ts';
import {
  authMethods,
  authOutcomes,
  extensionActions,
  extensionChangeKinds,
  observationKinds,
  userDecisions,
} from '../../src/contexts/telemetry/domain/vocabulary.ts';
import { publicPointOfRequest } from '../../src/platform/pki/certificate-request.ts';

const read = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const text = read('extension-protocol.md');
const vectors = z
  .object({
    passwordHash: z.object({
      credentialSalt: z.string(),
      cases: z.array(z.object({ about: z.string(), password: z.string(), passwordHash: z.string() })),
    }),
    policySignature: z.object({
      jwk: z.looseObject({ kty: z.string(), crv: z.string(), x: z.string() }),
      body: z.string(),
      cases: z.array(z.object({ about: z.string(), signature: z.string(), isValid: z.boolean() })),
    }),
    certificateRequest: z.object({ csr: z.string(), publicPoint: z.string() }),
    events: z.object({
      now: z.iso.datetime(),
      pendingWipeId: z.uuid(),
      accepted: z.array(z.object({ kind: z.string() }).loose()),
      rejected: z.array(z.object({ event: z.unknown(), code: z.enum(rejectionCodes), field: z.string() })),
    }),
    versions: z.array(
      z.object({ about: z.string(), running: z.string(), rollout: z.string(), action: z.enum(directionActions) }),
    ),
  })
  .parse(JSON.parse(read('extension-protocol-vectors.json')));

/** What a developer may do with the text of the page, in the words of WebCrypto. */
async function passwordHashOf(credentialSalt: string, password: string): Promise<string> {
  const key = await crypto.subtle.importKey(
    'raw',
    Buffer.from(credentialSalt, 'hex'),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  );
  const digest = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(password.normalize('NFC')));
  return Buffer.from(digest).toString('hex');
}

describe('the page on the extension protocol', () => {
  it('names every route that devices call, and no other', () => {
    const served = routeGroups
      .flatMap(({ routes }) => routes.map(({ path }) => path))
      .filter((path) => /^\/api\/v1\/(?:ext|enroll)\//.test(path));
    const named = [...text.matchAll(/\/api\/v1\/(?:ext|enroll)\/[a-z/{}-]+[a-z}]/g)].map(([path]) => path);
    expect([...new Set(named)].sort()).toEqual([...new Set(served)].sort());
  });

  it.each([
    ['kinds', observationKinds],
    ['actions', extensionActions],
    ['decisions', userDecisions],
    ['signals', conditions.filter((condition) => condition !== 'any')],
    ['methods', authMethods],
    ['outcomes', authOutcomes],
    ['changes', extensionChangeKinds],
    ['directions', directionActions],
  ])('lists all %s', (_what, values) => {
    expect(values.filter((value) => !text.includes(`\`${value}\``))).toEqual([]);
  });

  it('lists the codes of rejected events', () => {
    expect(rejectionCodes.filter((code) => !text.includes(`\`${code}\``))).toEqual([]);
  });

  it('states the size of a batch', () => {
    expect(text).toContain(`1 to ${MAX_BATCH_SIZE} events`);
  });
});

describe('the test vectors of the extension protocol', () => {
  it.each(vectors.passwordHash.cases)('hash a password: $about', async ({ password, passwordHash }) => {
    expect(await passwordHashOf(vectors.passwordHash.credentialSalt, password)).toBe(passwordHash);
  });

  it.each(vectors.policySignature.cases)('verify the signature of policies: $about', ({ signature, isValid }) => {
    const { jwk, body } = vectors.policySignature;
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    expect(verify(null, Buffer.from(body), key, Buffer.from(signature, 'base64url'))).toBe(isValid);
  });

  it('yield the key of a certificate request', () => {
    const { csr, publicPoint } = vectors.certificateRequest;
    expect(publicPointOfRequest(csr)).toEqual(Buffer.from(publicPoint, 'hex'));
  });

  const rules = {
    now: Date.parse(vectors.events.now),
    days: 89,
    wipeId: vectors.events.pendingWipeId,
    explain: ({ issues }: z.ZodError) => ({ error: issues[0]!.path.join('.'), field: issues[0]!.path.join('.') }),
  };

  it('accept an event of every kind', () => {
    const { accepted } = vectors.events;
    expect(new Set(accepted.map(({ kind }) => kind))).toEqual(new Set(observationKinds));
    expect(admitBatch(accepted, rules).rejected).toEqual([]);
  });

  it.each(vectors.versions)('direct a device: $about', ({ running, rollout, action }) => {
    const completed = {
      rolloutId: '',
      status: 'completed' as const,
      salt: '',
      version: rollout,
      browserType: null,
      rollbackVersion: null,
      returnsOnHalt: false,
      stages: [],
      stage: 0,
      round: 1,
    };
    const device = { deviceId: '', groupIds: [], browserType: null, version: running };
    expect(directionOf(device, [completed])).toEqual({ action, version: action === 'keep' ? running : rollout });
  });

  it.each(vectors.events.rejected)('reject an event for its $field ($code)', ({ event, code, field }) => {
    const { rejected } = admitBatch([event], rules);
    expect(rejected).toMatchObject([{ code, field }]);
  });
});
