import { describe, expect, it } from 'vitest';
import { refuseScimClient } from '../../../commands/scim/refuse-scim-client.ts';
import type { ScimClientEvent } from '../../../src/contexts/scim/domain/client-events.ts';
import { digestOfClientSecret, refusedSecret, scimClients } from '../../../src/contexts/scim/domain/clients.ts';
import type { ScimRefusal } from '../../../src/contexts/scim/domain/refusals.ts';
import { given, NOW } from '../../dsl/given.ts';

const CLIENT = '66666666-6666-4666-8666-666666666661';
const HOUR = 60 * 60_000;
const at = (moment: number) => new Date(moment).toISOString();
const refused = (moment: number, reason: ScimRefusal = 'wrong_secret') => ({
  type: 'ScimClientRefused' as const,
  data: { clientId: CLIENT, reason, secretId: null, at: at(moment) },
});
const refusal = (reason: ScimRefusal = 'wrong_secret') => ({ clientId: CLIENT, reason, secretId: null });

describe('a refusal of a SCIM client', () => {
  it('is recorded the first time, and says until when others are not', () => {
    const outcome = given().when(refuseScimClient, refusal());
    outcome.then(refused(NOW));
    expect(outcome.result()).toEqual({ silentUntil: NOW + HOUR });
  });

  it('is recorded once an hour for each reason', () => {
    const outcome = given(refused(NOW - HOUR + 1)).when(refuseScimClient, refusal());
    outcome.thenNothing();
    expect(outcome.result()).toEqual({ silentUntil: NOW + 1 });
    given(refused(NOW - HOUR))
      .when(refuseScimClient, refusal())
      .then(refused(NOW));
    given(refused(NOW - 2), refused(NOW - 1, 'removed_secret'))
      .when(refuseScimClient, refusal('expired_secret'))
      .then(refused(NOW, 'expired_secret'));
  });

  it('is not recorded again by a process whose clock is behind', () => {
    given(refused(NOW + 5_000))
      .when(refuseScimClient, refusal())
      .thenNothing();
  });

  it('needs the newest events only, however long the stream is', () => {
    const { tail = 0 } = refuseScimClient;
    const [wrong, expired, removed] = ['wrong_secret', 'expired_secret', 'removed_secret'] as const;
    const hours = Array.from({ length: 50 }, (_, hour) => NOW - (50 - hour) * HOUR + 10);
    const stream = hours.flatMap((hour) => [
      refused(hour, wrong),
      refused(hour + 1, expired),
      refused(hour + 2, removed),
    ]);
    for (const reason of [wrong, expired, removed])
      given(...stream.slice(-tail))
        .when(refuseScimClient, refusal(reason))
        .thenNothing();
  });
});

describe('the reason', () => {
  const secret = (secretId: string, text: string, expiresAt: string | null = null) => ({
    clientId: CLIENT,
    secretId,
    secretDigest: digestOfClientSecret(text),
    issuedAt: at(NOW),
    expiresAt,
  });
  const created: ScimClientEvent = {
    type: 'ScimClientCreated',
    data: { ...secret('id-0', 'text-0'), name: 'Okta', scopes: ['scim:read'], profile: 'okta' },
  };
  const issued = (name: number, expiresAt?: string): ScimClientEvent => ({
    type: 'ScimClientSecretIssued',
    data: secret(`id-${name}`, `text-${name}`, expiresAt),
  });
  const removed = (name: number): ScimClientEvent => ({
    type: 'ScimClientSecretRemoved',
    data: { clientId: CLIENT, secretId: `id-${name}` },
  });
  const reasonAfter = (presented: string, ...events: ScimClientEvent[]) => {
    const state = [created, ...events].reduce((folded, event) => scimClients.fold(folded, event), scimClients.initial);
    return refusedSecret(state.clients.get(CLIENT)!, presented);
  };

  it('tells a wrong, an expired and a removed secret apart, and names the secret', () => {
    const history = [issued(1, at(NOW - 1)), removed(0)];
    expect(reasonAfter('guess', ...history)).toEqual({ reason: 'wrong_secret', secretId: null });
    expect(reasonAfter('text-1', ...history)).toEqual({ reason: 'expired_secret', secretId: 'id-1' });
    expect(reasonAfter('text-0', ...history)).toEqual({ reason: 'removed_secret', secretId: 'id-0' });
  });

  it('is known of the newest removed secrets', () => {
    const rotations = Array.from({ length: 12 }, (_, at) => at + 1).flatMap((name) => [
      issued(name),
      removed(name - 1),
    ]);
    expect(reasonAfter('text-11', ...rotations)).toEqual({ reason: 'removed_secret', secretId: 'id-11' });
    expect(reasonAfter('text-2', ...rotations)).toEqual({ reason: 'removed_secret', secretId: 'id-2' });
    expect(reasonAfter('text-1', ...rotations)).toEqual({ reason: 'wrong_secret', secretId: null });
  });
});
