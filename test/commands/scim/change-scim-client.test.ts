import { describe, expect, it } from 'vitest';
import { changeScimClient } from '../../../commands/scim/change-scim-client.ts';
import type { ScimClientEvent } from '../../../src/contexts/scim/domain/client-events.ts';
import { given } from '../../dsl/given.ts';

const CLIENT = '66666666-6666-4666-8666-666666666661';
const created: ScimClientEvent = {
  type: 'ScimClientCreated',
  data: {
    clientId: CLIENT,
    name: 'Okta',
    scopes: ['scim:read'],
    profile: 'generic',
    secretId: '66666666-6666-4666-8666-666666666662',
    secretDigest: '0a'.repeat(32),
    issuedAt: '2026-01-02T03:04:05.678Z',
    expiresAt: null,
  },
};
const changed = (data: object, isWidened = false): ScimClientEvent => ({
  type: 'ScimClientChanged',
  data: { clientId: CLIENT, ...data, isWidened },
});

describe('a SCIM client', () => {
  it('is changed in what is named; the event has nothing else', () => {
    given(created)
      .when(changeScimClient, { clientId: CLIENT, name: 'Entra', profile: undefined })
      .then(changed({ name: 'Entra' }));
    const outcome = given(created).when(changeScimClient, { clientId: CLIENT, profile: 'okta', name: 'Okta' });
    outcome.then(changed({ profile: 'okta' }));
  });

  it.each([
    [{}],
    [{ name: 'Okta', profile: 'generic', scopes: ['scim:read'] }],
    [{ scopes: ['scim:read', 'scim:read'] }],
  ] as const)('stays as it is with %j', (wanted) => {
    given(created)
      .when(changeScimClient, { clientId: CLIENT, ...wanted })
      .thenNothing();
  });

  it('is widened by a scope that it does not have now', () => {
    const both = ['scim:read', 'scim:write'] as const;
    given(created)
      .when(changeScimClient, { clientId: CLIENT, scopes: [...both, 'scim:read'] })
      .then(changed({ scopes: [...both] }, true));
    const widened = changed({ scopes: [...both] }, true);
    given(created, widened).when(changeScimClient, { clientId: CLIENT, scopes: both.toReversed() }).thenNothing();
    given(created, widened)
      .when(changeScimClient, { clientId: CLIENT, scopes: ['scim:write'] })
      .then(changed({ scopes: ['scim:write'] }));
    given(created, widened, changed({ scopes: ['scim:write'] }))
      .when(changeScimClient, { clientId: CLIENT, scopes: ['scim:read'] })
      .then(changed({ scopes: ['scim:read'] }, true));
  });

  it('is not found if there was none, or after its end', () => {
    given().when(changeScimClient, { clientId: CLIENT, name: 'x' }).thenRefused('notFound');
    const deleted: ScimClientEvent = { type: 'ScimClientDeleted', data: { clientId: CLIENT } };
    given(created, deleted).when(changeScimClient, { clientId: CLIENT, name: 'x' }).thenRefused('notFound');
    given(created, deleted, changed({ name: 'x' }))
      .when(changeScimClient, { clientId: CLIENT })
      .thenRefused('notFound');
  });

  it('keeps its secrets', () => {
    const state = [created, changed({ name: 'Entra' })].reduce(
      (folded, event) => changeScimClient.aggregate.fold(folded, event),
      changeScimClient.aggregate.initial,
    );
    expect(state.clients.get(CLIENT)).toMatchObject({ name: 'Entra', secrets: [{ secretDigest: '0a'.repeat(32) }] });
  });
});
