import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedApp } from '../../dsl/app.ts';
import type { Client } from '../../dsl/http-client.ts';

const PAIR = ['certificate', 'privateKey'];
const LARGE = 'x'.repeat(70_000);
const FUTURE = '2100-01-01T00:00:00Z';

describe('rules between fields are named beside other wrong fields:', () => {
  let admin: Client;
  let anonymous: Client;
  beforeAll(async () => {
    const app = await sharedApp();
    ({ admin } = await app.newTenant());
    ({ anonymous } = app);
  });

  const base = '/api/v1/admin';
  it.each<[string, string, object, string[]]>([
    ['a certificate without its key', `${base}/certificates/ca`, { certificate: 'x' }, ['privateKey', 'certificate']],
    [
      'a certificate and a key of another type',
      `${base}/certificates/ca`,
      { certificate: 'x', privateKey: 5 },
      ['privateKey', 'certificate'],
    ],
    [
      'the same of the listener',
      `${base}/tls/certificate`,
      { certificate: 'x', privateKey: 5, chain: 5 },
      ['privateKey', 'chain', 'certificate'],
    ],
    ['a text that is none, beside a key', `${base}/certificates/ca`, { certificate: 'a\0', privateKey: 'x' }, PAIR],
    [
      'the same of the chain of the listener',
      `${base}/tls/certificate`,
      { certificate: 'x', privateKey: 'x', chain: '\ud800' },
      ['certificate', 'privateKey', 'chain'],
    ],
    ['a certificate that is too large, and no key', `${base}/tls/certificate`, { certificate: LARGE }, PAIR],
    [
      'one that is too large, and another one that is wrong',
      `${base}/tls/certificate`,
      { certificate: LARGE, privateKey: 'x' },
      PAIR,
    ],
    ['the same of the CA', `${base}/certificates/ca`, { certificate: 'x', privateKey: LARGE }, PAIR],
    [
      'an end that is past, beside the name',
      `${base}/scim/clients`,
      { name: 5, expiresAt: '2020-01-01T00:00:00Z' },
      ['name', 'expiresAt'],
    ],
    [
      'an end that is past, beside a text that is none',
      `${base}/scim/clients`,
      { name: 'a\0', expiresAt: '2020-01-01T00:00:00Z' },
      ['name', 'expiresAt'],
    ],
    [
      'the beginning of a replay that is to come',
      `${base}/alert-notifications/webhooks/replay`,
      { from: FUTURE, types: ['x'] },
      ['types.0', 'from'],
    ],
    [
      'the beginning of a backfill that is to come',
      `${base}/integrations/log-destinations/${randomUUID()}/backfill`,
      { from: FUTURE, to: 5 },
      ['to', 'from'],
    ],
    ['one of two codes', '/api/v1/auth/mfa/verify', {}, ['mfaToken', 'code']],
    ['the same, with another type', '/api/v1/auth/mfa/verify', { mfaToken: 5 }, ['mfaToken', 'code']],
    [
      'the repetition of a short password',
      `${base}/change-password`,
      { currentPassword: 'long enough', newPassword: 'short', confirmPassword: 'other' },
      ['newPassword', 'confirmPassword'],
    ],
    [
      'the repetition, where the old one is missing',
      `${base}/change-password`,
      { newPassword: 'Correct-Horse-9!', confirmPassword: 'other' },
      ['currentPassword', 'confirmPassword'],
    ],
    [
      'a custom rotation',
      `${base}/on-call/schedules`,
      { name: '', rotationType: 'custom', participants: [randomUUID()] },
      ['name', 'rotationDays'],
    ],
    [
      'an end before its start',
      `${base}/on-call/overrides`,
      { scheduleId: 'x', adminUserId: randomUUID(), startsAt: '2026-02-01T00:00:00Z', endsAt: '2026-01-01T00:00:00Z' },
      ['scheduleId', 'endsAt'],
    ],
    ['one of two ways', `${base}/enrollment/tokens/revoke`, { batchId: randomUUID(), all: true }, ['batchId']],
    ['the rule or its id', `${base}/alert-notifications/push-rules/test`, {}, ['rule']],
    [
      'the range of a replay',
      `${base}/alert-notifications/webhooks/replay`,
      { from: '2026-02-01T00:00:00Z', to: '2026-01-01T00:00:00Z', dryRun: 5 },
      ['dryRun', 'from'],
    ],
    [
      'the range of a backfill',
      `${base}/integrations/log-destinations/${randomUUID()}/backfill`,
      { from: '2026-02-01T00:00:00Z', to: '2026-01-01T00:00:00Z' },
      ['to'],
    ],
    [
      'the pattern of a signature',
      `${base}/signatures`,
      { name: '', type: 'url', pattern: '(', patternType: 'regex' },
      ['name', 'pattern'],
    ],
    [
      'the pattern of a ClickFix signature',
      `${base}/clickfix-signatures`,
      { name: '', pattern: '(', patternType: 'regex' },
      ['name', 'pattern'],
    ],
    [
      'the contradictions of a rollout',
      `${base}/extension-rollouts`,
      { version: '2.0', rollbackVersion: '2.0', browserType: 5, stages: [{ percent: 50 }, { percent: 10 }, {}] },
      ['browserType', 'stages.1.percent', 'stages.2.percent', 'rollbackVersion'],
    ],
    [
      'an unknown protocol',
      `${base}/sso-configs`,
      { protocol: 'x', name: 5, isEnabled: 'z' },
      ['protocol', 'name', 'isEnabled'],
    ],
    ['an unknown protocol of a test', `${base}/sso-configs/test`, { protocol: 5, name: 5 }, ['protocol', 'name']],
    [
      'a protocol that is no text',
      `${base}/sso-configs`,
      { protocol: 'oidc\0', emailDomains: 5, isEnabled: 'z', emailsVerified: 5 },
      ['emailDomains', 'isEnabled', 'protocol'],
    ],
    [
      'an unknown type of directory',
      `${base}/directory-sources`,
      { type: 'x', name: '', config: 5, syncIntervalMinutes: 'x' },
      ['type', 'name', 'config', 'syncIntervalMinutes'],
    ],
    ['a directory without a type', `${base}/directory-sources`, {}, ['type', 'name', 'config']],
    [
      'an unknown type of log destination',
      `${base}/integrations/log-destinations`,
      { type: 'x', name: '', config: 5, eventTypes: ['x'] },
      ['type', 'name', 'config', 'eventTypes.0'],
    ],
    [
      'a log destination without a type',
      `${base}/integrations/log-destinations`,
      { name: '' },
      ['type', 'name', 'config'],
    ],
  ])('%s', async (_what, path, body, fields) => {
    const client = path.startsWith(base) ? admin : anonymous;
    const refused = await client.post(path, body);
    expect([refused.status, (refused.body.fields ?? []).map(({ field }: { field: string }) => field)]).toEqual([
      400,
      expect.arrayContaining(fields),
    ]);
    expect(refused.body.fields).toHaveLength(fields.length);
  });

  it('the policy of an action', async () => {
    const refused = await admin.put(`${base}/alerts/${randomUUID()}/policy-action`, {
      action: 'created',
      policyName: 5,
    });
    expect(refused.body.fields.map(({ field }: { field: string }) => field)).toEqual(['policyName', 'policyId']);
  });

  it('the end of a further secret of a SCIM client', async () => {
    const body = { expiresAt: '2020-01-01T00:00:00Z', extra: 'a\0' };
    const refused = await admin.post(`${base}/scim/clients/${randomUUID()}/secrets`, body);
    expect(refused.body.fields.map(({ field }: { field: string }) => field).sort()).toEqual(['expiresAt', 'extra']);
  });

  it('the range of a list', async () => {
    const refused = await admin.get(`${base}/alerts?start_date=2026-02-01&end_date=2026-01-01&page=x`);
    expect(refused.body.fields.map(({ field }: { field: string }) => field).sort()).toEqual(['page', 'start_date']);
  });
});
