import { expect, it } from 'vitest';
import { scimClientsModel } from '../../../projections/scim/scim-clients.ts';
import { NOW, recorded, rowsAfter, TENANT, type EventFor } from '../../dsl/given.ts';

const [CLIENT, OTHER, SECRET] = [1, 2, 3].map((n) => `66666666-6666-4666-8666-66666666666${n}`) as [
  string,
  string,
  string,
];
const ADMIN = '22222222-2222-4222-8222-222222222222';
const at = (n: number) => new Date(NOW + n * 1_000).toISOString();
const created = (clientId: string, n: number) =>
  recorded(
    {
      type: 'ScimClientCreated',
      data: {
        clientId,
        name: 'Okta',
        scopes: ['scim:read'],
        profile: 'generic',
        secretId: SECRET,
        secretDigest: '0a'.repeat(32),
        issuedAt: at(n),
        expiresAt: null,
      },
    },
    n,
  );
const refused = (reason: 'wrong_secret' | 'expired_secret', n: number, clientId = CLIENT) =>
  recorded({ type: 'ScimClientRefused', data: { clientId, reason, secretId: null, at: at(n) } }, n);
const after = (...events: EventFor<typeof scimClientsModel>[]) => rowsAfter(scimClientsModel, events, 1);

it('shows a client without its secret', () => {
  expect(after(created(CLIENT, 1))).toEqual([
    {
      tenant_id: TENANT,
      client_id: CLIENT,
      name: 'Okta',
      scopes: ['scim:read'],
      profile: 'generic',
      secrets: [{ secretId: SECRET, issuedAt: at(1), issuedBy: ADMIN, expiresAt: null }],
      created_at: at(1),
      created_by: ADMIN,
      last_refused_at: null,
      last_refusal: null,
    },
  ]);
});

it('shows what was changed, and leaves the rest', () => {
  const [before] = after(created(CLIENT, 1));
  const changed = { clientId: CLIENT, profile: 'okta', isWidened: false } as const;
  expect(after(created(CLIENT, 1), recorded({ type: 'ScimClientChanged', data: changed }, 2))).toEqual([
    { ...before, profile: 'okta' },
  ]);
});

it('shows the last refusal of each client, and none of a deleted one', () => {
  const rows = after(
    created(CLIENT, 1),
    created(OTHER, 2),
    refused('wrong_secret', 3),
    refused('expired_secret', 4),
    refused('wrong_secret', 5, OTHER),
    recorded({ type: 'ScimClientDeleted', data: { clientId: OTHER } }, 6),
    refused('wrong_secret', 7, OTHER),
  );
  expect(rows).toMatchObject([{ client_id: CLIENT, last_refused_at: at(4), last_refusal: 'expired_secret' }]);
});
