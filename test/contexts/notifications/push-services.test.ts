import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { jwtVerify } from 'jose';
import { afterEach, describe, expect, it } from 'vitest';
import { ApnsPush } from '../../../src/contexts/notifications/push/apns-push.ts';
import { FcmPush } from '../../../src/contexts/notifications/push/fcm-push.ts';
import { GatewayPush } from '../../../src/contexts/notifications/push/gateway-push.ts';
import { openPushServices } from '../../../src/contexts/notifications/push/open-push-services.ts';
import { pushContentOf } from '../../../src/contexts/notifications/push/push-content.ts';
import type { Push, PushService } from '../../../src/contexts/notifications/push/push-service.ts';
import { newLogger } from '../../../src/platform/observability/logger.ts';
import { guardedFetch } from '../../../src/platform/outbound/guarded-fetch.ts';
import { issueServerCertificate } from '../../../src/platform/pki/server-certificate.ts';
import { startApnsPeer, startHttpPushPeer, type Reply } from '../../fixtures/push-peers.ts';

const alertId = '0198a000-0000-7000-8000-000000000001';
const content = pushContentOf({
  kind: 'alert',
  alertId,
  eventId: '0198a000-0000-7000-8000-000000000002',
  change: 'created',
  severity: 'critical',
  occurredAt: '2026-06-01T12:00:00.000Z',
})!;
const pushTo = (platform: 'ios' | 'android', token: string, over: Partial<Push> = {}): Push => ({
  platform,
  token,
  content,
  messageId: randomUUID(),
  ...over,
});
const never = new AbortController().signal;
const fetch = guardedFetch({ allowPrivate: true, timeoutMs: 500, maxBytes: 64 * 1024 });
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
const closed = <T extends { close(): Promise<void> }>(one: T): T => {
  closing.unshift(() => one.close());
  return one;
};
const pem = (key: { export(options: { type: 'pkcs8'; format: 'pem' }): string | Buffer }) =>
  key.export({ type: 'pkcs8', format: 'pem' }).toString();

/** What every service does with what it gets. */
type Case = readonly [what: string, reply: Reply, outcome: object];
const tried = async (service: PushService, push: Push, signal = never) => service.send(push, signal);

describe('the gateway (OP-193)', () => {
  const started = async () => {
    const peer = closed(await startHttpPushPeer());
    return { peer, service: new GatewayPush({ url: `${peer.url}/push`, token: 'gateway secret' }, fetch) };
  };

  it('gets ids, a severity and fixed words, with an idempotency key that is the same at every attempt', async () => {
    const { peer, service } = await started();
    const push = pushTo('android', 'device-token');
    for (let attempt = 0; attempt < 2; attempt += 1)
      expect(await tried(service, push)).toEqual({ kind: 'accepted', response: 'accepted by the gateway (200)' });
    const [first, second] = peer.messages.requests;
    expect(first).toMatchObject({
      path: '/push',
      headers: { authorization: 'Bearer gateway secret', 'idempotency-key': push.messageId },
    });
    expect(second!.headers['idempotency-key']).toBe(push.messageId);
    expect(JSON.parse(first!.body)).toEqual({
      id: push.messageId,
      platform: 'android',
      token: 'device-token',
      notification: { title: 'Critical alert', body: 'Open Castellan to see it.' },
      data: { kind: 'alert', alertId, severity: 'critical', change: 'created' },
      priority: 'high',
    });
  });

  it.each<Case>([
    ['a token that is gone', { status: 410 }, { kind: 'gone' }],
    [
      'too many requests',
      { status: 429, headers: { 'retry-after': '30' } },
      { kind: 'deferred', retryAfterMs: 30_000 },
    ],
    ['an error', { status: 503 }, { kind: 'deferred', reason: 'the gateway asks to try later (503)' }],
    ['a wrong secret', { status: 401 }, { kind: 'deferred' }],
    ['a redirect', { status: 307, headers: { location: 'https://evil.example/' } }, { kind: 'deferred' }],
    ['a message that it does not like', { status: 422, body: { detail: 'device-token' } }, { kind: 'refused' }],
    ['silence', 'hang', { kind: 'deferred', reason: 'the gateway did not respond in time' }],
  ])('says %s', async (_what, reply, outcome) => {
    const { peer, service } = await started();
    peer.messages.replies.push(reply);
    const result = await tried(service, pushTo('android', 'device-token'));
    expect(result).toMatchObject(outcome);
    expect(JSON.stringify(result)).not.toContain('device-token');
  });
});

describe('FCM HTTP v1', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const started = async () => {
    const peer = closed(await startHttpPushPeer());
    const account = {
      clientEmail: 'castellan@project.example',
      privateKey: pem(privateKey),
      keyId: 'key 1',
      tokenUri: `${peer.url}/token`,
    };
    return { peer, service: new FcmPush({ projectId: 'my-project', account, apiUrl: peer.url }, fetch) };
  };
  const failed = (errorCode: string) => ({
    error: {
      code: 404,
      status: 'NOT_FOUND',
      message: 'said by FCM',
      details: [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode }],
    },
  });

  it('gets a message with the access token of the service account, which is asked for once', async () => {
    const { peer, service } = await started();
    expect(await tried(service, pushTo('android', 'registration-token'))).toEqual({
      kind: 'accepted',
      response: 'accepted by FCM (200)',
    });
    await tried(service, pushTo('android', 'registration-token'));
    expect([peer.tokens.requests.length, peer.messages.requests.length]).toEqual([1, 2]);
    const form = new URLSearchParams(peer.tokens.requests[0]!.body);
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const { payload, protectedHeader } = await jwtVerify(form.get('assertion')!, publicKey, {
      audience: `${peer.url}/token`,
      issuer: 'castellan@project.example',
      algorithms: ['RS256'],
    });
    expect(protectedHeader.kid).toBe('key 1');
    expect(payload['scope']).toBe('https://www.googleapis.com/auth/firebase.messaging');
    expect(peer.messages.requests[0]).toMatchObject({
      path: '/v1/projects/my-project/messages:send',
      headers: { authorization: 'Bearer access 1' },
    });
    expect(JSON.parse(peer.messages.requests[0]!.body)).toEqual({
      message: {
        token: 'registration-token',
        notification: { title: 'Critical alert', body: 'Open Castellan to see it.' },
        data: { kind: 'alert', alertId, severity: 'critical', change: 'created' },
        android: { priority: 'HIGH', ttl: '3600s', collapse_key: alertId },
      },
    });
  });

  it.each<Case>([
    ['a token that is gone', { status: 404, body: failed('UNREGISTERED') }, { kind: 'gone' }],
    ['that the project is unknown', { status: 404, body: { error: {} } }, { kind: 'deferred' }],
    [
      'a quota',
      { status: 429, headers: { 'retry-after': '60' }, body: failed('QUOTA_EXCEEDED') },
      { kind: 'deferred', retryAfterMs: 60_000 },
    ],
    [
      'an error',
      { status: 500, body: failed('INTERNAL') },
      { kind: 'deferred', reason: 'FCM asks to try later (500)' },
    ],
    ['a message that it does not like', { status: 400, body: failed('INVALID_ARGUMENT') }, { kind: 'refused' }],
    ['a token of another sender', { status: 403, body: failed('SENDER_ID_MISMATCH') }, { kind: 'refused' }],
    ['silence', 'hang', { kind: 'deferred', reason: 'FCM did not respond in time' }],
  ])('says %s', async (_what, reply, outcome) => {
    const { peer, service } = await started();
    peer.messages.replies.push(reply);
    const result = await tried(service, pushTo('android', 'registration-token'));
    expect(result).toMatchObject(outcome);
    expect(JSON.stringify(result)).not.toMatch(/said by FCM|registration-token/);
  });

  it('gets another access token after it has refused one', async () => {
    const { peer, service } = await started();
    peer.messages.replies.push({ status: 401 });
    expect(await tried(service, pushTo('android', 'registration-token'))).toMatchObject({ kind: 'deferred' });
    expect(await tried(service, pushTo('android', 'registration-token'))).toMatchObject({ kind: 'accepted' });
    expect(peer.messages.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer access 1',
      'Bearer access 2',
    ]);
  });

  it('gets nothing while Google refuses the account, and the next attempt asks again', async () => {
    const { peer, service } = await started();
    peer.tokens.replies.push({ status: 400, body: { error: 'invalid_grant' } }, 'hang');
    expect(await tried(service, pushTo('android', 'registration-token'))).toEqual({
      kind: 'deferred',
      reason: 'Google does not accept the service account (400)',
    });
    expect(await tried(service, pushTo('android', 'registration-token'))).toMatchObject({ kind: 'deferred' });
    expect(peer.messages.requests).toEqual([]);
    expect(await tried(service, pushTo('android', 'registration-token'))).toMatchObject({ kind: 'accepted' });
  });
});

describe('APNs', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const certificate = issueServerCertificate({ hostNames: ['localhost'], ipAddresses: [], now: Date.now(), days: 2 });
  const TOKEN = 'AB'.repeat(32);
  const started = async () => {
    const peer = closed(await startApnsPeer(certificate));
    const service = closed(
      new ApnsPush({
        key: pem(privateKey),
        keyId: 'KEY1234567',
        teamId: 'TEAM123456',
        topic: 'example.castellan',
        url: peer.url,
        ca: certificate.certificatePem,
      }),
    );
    return { peer, service };
  };

  it('gets a notification over one connection, with a provider token that is signed once', async () => {
    const { peer, service } = await started();
    const push = pushTo('ios', TOKEN);
    expect(await tried(service, push)).toEqual({ kind: 'accepted', response: 'accepted by APNs (200)' });
    await Promise.all(Array.from({ length: 20 }, () => tried(service, pushTo('ios', TOKEN))));
    expect([peer.messages.requests.length, peer.connections()]).toEqual([21, 1]);
    const { path, headers, body } = peer.messages.requests[0]!;
    expect(path).toBe(`/3/device/${TOKEN.toLowerCase()}`);
    expect(headers).toMatchObject({
      'apns-topic': 'example.castellan',
      'apns-push-type': 'alert',
      'apns-priority': '10',
      'apns-id': push.messageId,
      'apns-collapse-id': alertId,
    });
    expect(JSON.parse(body)).toEqual({
      aps: {
        alert: { title: 'Critical alert', body: 'Open Castellan to see it.' },
        sound: 'default',
        'interruption-level': 'time-sensitive',
        'thread-id': alertId,
      },
      kind: 'alert',
      alertId,
      severity: 'critical',
      change: 'created',
    });
    const token = headers.authorization!.replace('bearer ', '');
    const { protectedHeader } = await jwtVerify(token, publicKey, {
      issuer: 'TEAM123456',
      algorithms: ['ES256'],
    });
    expect(protectedHeader.kid).toBe('KEY1234567');
    expect(new Set(peer.messages.requests.map((request) => request.headers.authorization)).size).toBe(1);
  });

  it.each<Case>([
    ['a token that is gone', { status: 410, body: { reason: 'Unregistered', timestamp: 1 } }, { kind: 'gone' }],
    [
      'a wrong token, which a wrong environment causes too',
      { status: 400, body: { reason: 'BadDeviceToken' } },
      { kind: 'refused' },
    ],
    [
      'too many requests',
      { status: 429, headers: { 'retry-after': '5' }, body: { reason: 'TooManyRequests' } },
      { kind: 'deferred', retryAfterMs: 5_000 },
    ],
    [
      'an error',
      { status: 503, body: { reason: 'ServiceUnavailable' } },
      { kind: 'deferred', reason: 'APNs asks to try later (503)' },
    ],
    ['that the topic is wrong', { status: 400, body: { reason: 'TopicDisallowed' } }, { kind: 'deferred' }],
  ])('says %s', async (_what, reply, outcome) => {
    const { peer, service } = await started();
    peer.messages.replies.push(reply);
    expect(await tried(service, pushTo('ios', TOKEN))).toMatchObject(outcome);
  });

  it('that is silent is given up, and the next push opens another connection', async () => {
    const { peer, service } = await started();
    peer.messages.replies.push('hang');
    expect(await tried(service, pushTo('ios', TOKEN), AbortSignal.timeout(300))).toEqual({
      kind: 'deferred',
      reason: 'APNs did not respond in time',
    });
    expect(await tried(service, pushTo('ios', TOKEN))).toMatchObject({ kind: 'accepted' });
  });

  it('that cuts the connection is connected to again', async () => {
    const { peer, service } = await started();
    expect(await tried(service, pushTo('ios', TOKEN))).toMatchObject({ kind: 'accepted' });
    peer.messages.replies.push('hang');
    const waiting = tried(service, pushTo('ios', TOKEN));
    await expect.poll(() => peer.messages.requests.length).toBe(2);
    peer.cut();
    expect(await waiting).toEqual({ kind: 'deferred', reason: 'APNs cannot be reached' });
    expect(await tried(service, pushTo('ios', TOKEN))).toMatchObject({ kind: 'accepted' });
  });

  it('gets another provider token after it has refused one', async () => {
    const { peer, service } = await started();
    peer.messages.replies.push({ status: 403, body: { reason: 'ExpiredProviderToken' } });
    expect(await tried(service, pushTo('ios', TOKEN))).toMatchObject({ kind: 'deferred' });
    await tried(service, pushTo('ios', TOKEN));
    const tokens = peer.messages.requests.map(({ headers }) => headers.authorization);
    expect(new Set(tokens).size).toBe(2);
  });

  it('is not asked about a text that is no token of its', async () => {
    const { peer, service } = await started();
    expect(await tried(service, pushTo('ios', '../3/other'))).toMatchObject({ kind: 'refused' });
    expect(peer.messages.requests).toEqual([]);
  });

  it('with a certificate that nobody vouches for gets nothing', async () => {
    const peer = closed(await startApnsPeer(certificate));
    const settings = { key: pem(privateKey), keyId: 'k', teamId: 't', topic: 'x', url: peer.url };
    const service = closed(new ApnsPush(settings));
    expect(await tried(service, pushTo('ios', TOKEN))).toEqual({
      kind: 'deferred',
      reason: 'the certificate of APNs was not accepted (untrusted)',
    });
    expect(peer.messages.requests).toEqual([]);
  });
});

describe('without a service', () => {
  it('the receipt says that nothing was sent, and the log does not show the token', async () => {
    const lines: string[] = [];
    const log = newLogger('info', { write: (line: string) => void lines.push(line) } as never);
    const services = openPushServices({ gateway: undefined, fcm: undefined, apns: undefined }, log);
    const outcome = await tried(services.ios, pushTo('ios', 'device-token'));
    expect(outcome).toMatchObject({ kind: 'refused', reason: expect.stringContaining('nothing was sent') });
    expect(lines.join('')).toContain('a push was not sent');
    expect(lines.join('')).not.toContain('device-token');
  });
});

describe('the content of a push', () => {
  it('holds ids, severities and fixed words only', () => {
    const occurredAt = '2026-06-01T12:00:00.000Z';
    const id = alertId;
    const page = { kind: 'page', pageId: id, alertId, eventId: id, severity: 'high', step: 2, occurredAt } as const;
    expect(pushContentOf(page)).toMatchObject({
      title: 'Page: high alert',
      isUrgent: true,
      data: { kind: 'page', step: '2' },
    });
    const heldBack = { critical: 0, high: 1, medium: 0, low: 0 };
    expect(pushContentOf({ kind: 'digest', from: occurredAt, to: occurredAt, heldBack, alertIds: [id] })?.title).toBe(
      '1 more message about alerts',
    );
    const notice = { kind: 'notice', notice: 'nobody_on_call', alertId, eventId: id, occurredAt } as const;
    expect(pushContentOf(notice)).toBeUndefined();
  });
});
