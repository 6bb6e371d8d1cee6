import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isSecret, type Fields } from '../../src/platform/resources/fields.ts';
import { resources } from '../../src/contexts/resources.ts';
import { attachTenantAsOperator } from '../../src/app/cli/organization-commands.ts';
import { sharedApp, type TestResponse, type TestApp, type TestTenant } from '../dsl/app.ts';
import { newOrganization, type TestOrganization } from '../dsl/organization.ts';
import { everyRoute, named } from './every-route.ts';

/** Values of headers count as secrets: they are keys as often as not. */
const SECRET_NAME = /secret|password|token|apikey|signingkey|credential|^headers$/i;
const ADDRESS_NAME = /url|uri|host|address|endpoint|issuer|server/i;

/** Routes whose secret goes to an address in the same body. A change of the address alone must be refused. */
const PROTECTED: Readonly<Record<string, { readonly secret: string; readonly address: string }>> = {
  'PUT /api/v1/admin/sso-configs/{configID}': { secret: 'clientSecret', address: 'issuerUrl' },
  'PUT /api/v1/org/tenants/{tenantId}/sso-configs/{configId}': { secret: 'clientSecret', address: 'issuerUrl' },
  'PUT /api/v1/org/sso-configs/{configId}': { secret: 'clientSecret', address: 'issuerUrl' },
};

/** Other routes that change something and take both, each with the reason why no stored secret can move. */
const HARMLESS: Readonly<Record<string, string>> = {
  'PUT /api/v1/admin/alert-notifications/settings':
    'its password goes to smtpHost: test/app/http/notifications/notification-settings.test.ts tries each address',
  'PUT /api/v1/admin/integrations/log-destinations/{destID}':
    'its fields are those of its type: test/app/http/log-destinations/log-destinations.test.ts tries each address, and headers',
  'PUT /api/v1/admin/directory-sources/{sourceID}':
    'its fields are those of its type: test/app/http/directory-sources/directory-sources.test.ts tries each address',
};

const namesIn = (schema: z.ZodType | undefined): string[] => {
  const found: string[] = [];
  const walk = (part: Record<string, unknown>): void => {
    for (const [name, inner] of Object.entries((part['properties'] ?? {}) as Record<string, object>)) {
      found.push(name);
      walk(inner as Record<string, unknown>);
    }
    for (const inner of [
      ...((part['anyOf'] ?? []) as object[]),
      ...((part['oneOf'] ?? []) as object[]),
      ...(part['items'] ? [part['items'] as object] : []),
    ])
      walk(inner as Record<string, unknown>);
  };
  if (schema) walk(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Record<string, unknown>);
  return found;
};

const takesBoth = (names: readonly string[]): boolean =>
  names.some((name) => SECRET_NAME.test(name)) && names.some((name) => ADDRESS_NAME.test(name));

describe('a stored secret is only sent to the address that it was entered for', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let north: TestOrganization;
  beforeAll(async () => {
    app = await sharedApp();
    tenant = await app.newTenant();
    north = await newOrganization(app);
    await attachTenantAsOperator(app.services, { slug: north.slug, tenant: tenant.tenantId });
    await app.settled();
  });
  afterAll(() => app.close());

  it('covers every change that takes a secret and an address', () => {
    const changes = everyRoute.filter(
      ({ method, body }) => (method === 'PUT' || method === 'PATCH') && takesBoth(namesIn(body)),
    );
    expect(
      changes.map(named).sort(),
      'a route that takes a secret and an address belongs under HARMLESS of this file if a resource declares it with sentTo, otherwise under PROTECTED with a test',
    ).toEqual([...Object.keys(PROTECTED), ...Object.keys(HARMLESS)].sort());
  });

  it('is declared by every resource that has both', () => {
    const silent = resources.flatMap(({ declared }) => {
      const fields = Object.entries(declared.fields as Fields);
      const addresses = fields
        .filter(([name, field]) => !isSecret(field) && ADDRESS_NAME.test(name))
        .map(([name]) => name);
      return fields
        .filter(([, field]) => isSecret(field) && field.sentTo.length === 0 && addresses.length > 0)
        .map(([name]) => `${declared.noun}.${name}`);
    });
    expect(silent, 'name the address to which the service sends this secret: secret(…, { sentTo: [address] })').toEqual(
      [],
    );
  });

  it.each(Object.entries(PROTECTED))(
    '%s rejects another address without the secret, and changes nothing',
    async (route, { secret, address }) => {
      const [method, path] = route.split(' ') as ['PUT', string];
      const of = path.replace('{tenantId}', tenant.tenantId);
      const base = of.slice(0, of.lastIndexOf('/'));
      const isOrganizations = path.startsWith('/api/v1/org/');
      const send = (verb: 'POST' | 'PUT', at: string, body: object): Promise<TestResponse> =>
        isOrganizations ? north.write(verb, at, body) : tenant.admin.send(verb, at, { body });
      const read = async (at: string): Promise<unknown> =>
        (await (isOrganizations ? north.owner : tenant.admin).get(at)).body;

      const created = await send('POST', base, {
        name: randomUUID(),
        issuerUrl: 'https://idp.example',
        clientId: 'castellan',
        clientSecret: 'hush-hush-hush',
        isEnabled: false,
      });
      expect(created.status).toBe(201);
      const one = `${base}/${created.body.id as string}`;
      const refused = await send(method, one, { name: 'Moved', [address]: 'https://elsewhere.example' });
      expect([refused.status, refused.body.error]).toEqual([
        400,
        `validation failed: ${secret}: is required where ${address} changes; null removes it`,
      ]);
      expect(await read(one)).toEqual(created.body);

      const moved = await send(method, one, { [address]: 'https://elsewhere.example', [secret]: 'hush-hush-hush' });
      expect([moved.status, moved.body[address], moved.body[`${secret}Configured`]]).toEqual([
        200,
        'https://elsewhere.example',
        true,
      ]);
      const emptied = await send(method, one, { [address]: 'https://nowhere.example', [secret]: null });
      expect([emptied.status, emptied.body[address], emptied.body[`${secret}Configured`]]).toEqual([
        200,
        'https://nowhere.example',
        false,
      ]);
      expect((await send(method, one, { [address]: 'https://anywhere.example' })).status).toBe(200);
    },
  );
});
