import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { resources } from '../../src/contexts/resources.ts';
import { bodySchema } from '../../src/platform/resources/schemas.ts';
import { isSecret } from '../../src/platform/resources/fields.ts';
import { permits } from '../../src/contexts/identity/domain/permissions.ts';
import { adminRoles } from '../../src/contexts/identity/domain/roles.ts';
import { startApp, type TestResponse, type TestApp, type TestTenant } from '../dsl/app.ts';
import { samples } from '../platform/resources/samples.ts';

// The application with two more resources, which use every option of a declaration.
vi.mock('../../src/contexts/resources.ts', async (original) => {
  const registry = await original<typeof import('../../src/contexts/resources.ts')>();
  const { gadgets, gadgetSettings, gadgetUse } = await import('../platform/resources/gadget.resource.ts');
  const all = [...registry.resources, gadgets, gadgetSettings];
  return {
    resources: all,
    resourceFamilies: [...all.map(({ events }) => events), gadgetUse],
    resourceModels: all.map(({ model }) => model),
  };
});

type Declared = (typeof resources)[number];
const collections = resources.filter((resource) => resource.kind === 'collection');
const singletons = resources.filter((resource) => resource.kind === 'singleton');
const named = <Resource extends Declared>(list: readonly Resource[]) =>
  list.map((resource) => [resource.declared.noun, resource] as const);
const sampleOf = ({ declared: { noun } }: Declared) => {
  const sample = samples[noun];
  if (!sample) throw new Error(`add a sample for ${noun} to test/platform/resources/samples.ts`);
  return sample;
};

describe('every declared resource', () => {
  let app: TestApp;
  let mine: TestTenant;
  let number = 0;
  beforeAll(async () => {
    app = await startApp();
    mine = await app.newTenant();
  });
  afterAll(() => app.close());

  const draftOf = (resource: Declared) => sampleOf(resource).draft((number += 1));
  /** A response from before the read side caught up (choice OP-013) is no failure: wait for the projection. */
  const caughtUp = async (answer: TestResponse): Promise<TestResponse> => {
    if (answer.headers.has('x-stale')) await app.settled();
    return answer;
  };
  const create = async (
    resource: (typeof collections)[number],
    body: unknown,
    tenant = mine,
  ): Promise<TestResponse> => {
    const answer = await caughtUp(await tenant.admin.post(resource.declared.path, body));
    if (!answer.headers.has('x-stale')) return answer;
    return { ...answer, body: (await listed(resource, tenant)).find(({ id }) => id === answer.body.id) };
  };
  const listed = async ({ declared }: (typeof collections)[number], { admin } = mine) =>
    (await admin.get(declared.path)).body[declared.list] as Record<string, unknown>[];
  const secretsOf = ({ declared }: Declared) =>
    Object.keys(declared.fields).filter((name) => isSecret(declared.fields[name]));
  /** The input as a response shows it. */
  const shown = (resource: Declared, said: Readonly<Record<string, unknown>>) => {
    const secrets = secretsOf(resource);
    return Object.fromEntries(
      Object.entries(said).map(([name, value]) =>
        secrets.includes(name) ? [`${name}Configured`, value !== null] : [name, value],
      ),
    );
  };

  it('has a sample for these tests', () => {
    const missing = resources.map(({ declared }) => declared.noun).filter((noun) => !samples[noun]);
    expect(missing, 'add samples to test/platform/resources/samples.ts').toEqual([]);
  });

  it.each(named(resources))('%s limits every field that a caller may send', (_noun, { declared }) => {
    const open: string[] = [];
    const walk = (path: string, schema: Record<string, any>): void => {
      const {
        type,
        properties,
        items,
        anyOf,
        maxLength,
        maxItems,
        enum: values,
        const: value,
        additionalProperties,
        maximum,
      } = schema;
      if (type === 'string' && maxLength === undefined && !values && value === undefined && !schema['format'])
        open.push(path);
      if (type === 'array' && maxItems === undefined) open.push(path);
      if (type === 'integer' && (maximum ?? Infinity) >= Number.MAX_SAFE_INTEGER) open.push(path);
      for (const [name, inner] of Object.entries(properties ?? {})) walk(`${path}.${name}`, inner as object);
      for (const inner of [
        ...(anyOf ?? []),
        ...(items ? [items] : []),
        ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
      ])
        walk(path, inner as object);
    };
    walk(declared.noun, z.toJSONSchema(bodySchema(declared.fields, 'create'), { io: 'input', unrepresentable: 'any' }));
    expect(open).toEqual([]);
  });

  describe.each(named(collections))('%s', (_noun, resource) => {
    const { declared, view } = resource;
    const has = (verb: string) => declared.verbs.includes(verb as never);
    const pathOf = (id: unknown) => `${declared.path}/${String(id)}`;

    it('is created, listed, read, changed and deleted, as far as it declares these verbs', async () => {
      const draft = draftOf(resource);
      const created = await create(resource, draft);
      expect(created.status).toBe(201);
      expect(created.body).toMatchObject(shown(resource, draft));
      expect(view.safeParse(created.body).error).toBeUndefined();
      const { id, createdAt } = created.body as { id: string; createdAt: string };
      expect((await listed(resource)).filter((record) => record['id'] === id)).toEqual([created.body]);
      if (has('read')) expect((await mine.admin.get(pathOf(id))).body).toEqual(created.body);

      if (has('update')) {
        const { change } = sampleOf(resource);
        const changed = await caughtUp(await mine.admin.put(pathOf(id), { ...change, unknownField: true }));
        expect(changed.status).toBe(200);
        expect(changed.body).toEqual({ ...created.body, ...shown(resource, change), updatedAt: expect.any(String) });
        expect(changed.body.updatedAt >= createdAt).toBe(true);
        expect((await mine.admin.put(pathOf(id), {})).body).toEqual(changed.body);
      }

      expect((await caughtUp(await mine.admin.delete(pathOf(id)))).status).toBe(204);
      expect((await mine.admin.delete(pathOf(id))).status).toBe(404);
      expect((await listed(resource)).map((record) => record['id'])).not.toContain(id);
      if (has('update')) expect((await mine.admin.put(pathOf(id), sampleOf(resource).change)).status).toBe(404);
      // Its unique values are free again.
      expect((await create(resource, draft)).status).toBe(201);
    });

    it('ignores fields that are read-only', async () => {
      const forged = {
        id: mine.adminId,
        createdAt: 'then',
        createdBy: mine.tenantId,
        value: 'mine',
        serial: 'mine',
        triggerCount: 9,
        uses: 9,
        unknownField: true,
      };
      const { body, status } = await create(resource, { ...draftOf(resource), ...forged });
      expect(status).toBe(201);
      for (const [name, value] of Object.entries(forged)) expect(body[name]).not.toEqual(value);
    });

    it('rejects wrong types and changes nothing', async () => {
      const before = (await listed(resource)).length;
      const { broken, draft } = sampleOf(resource);
      expect((await create(resource, { ...draft(0), ...broken })).status).toBe(400);
      expect((await create(resource, [])).status).toBe(400);
      expect((await listed(resource)).length).toBe(before);
      if (!has('update')) return;
      const { body: kept } = await create(resource, draftOf(resource));
      expect((await mine.admin.put(pathOf(kept.id), broken)).status).toBe(400);
      expect((await listed(resource)).find((record) => record['id'] === kept.id)).toEqual(kept);
    });

    it('enforces uniqueness: a duplicate is 409, another tenant may use the same value, and one of two concurrent requests wins', async () => {
      if (!declared.unique) return;
      const draft = draftOf(resource);
      expect((await create(resource, draft)).status).toBe(201);
      expect((await create(resource, draft)).status).toBe(409);
      expect((await create(resource, draft, await app.newTenant())).status).toBe(201);
      const contested = draftOf(resource);
      const racers = await Promise.all(Array.from({ length: 4 }, () => create(resource, contested)));
      expect(racers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    });

    it('moves a unique value with a change, and does not let one record take it from another', async () => {
      if (!declared.unique || !has('update')) return;
      const [first, second] = [draftOf(resource), draftOf(resource)];
      const { id } = (await create(resource, first)).body;
      await create(resource, second);
      expect((await mine.admin.put(pathOf(id), second)).status).toBe(409);
      const moved = draftOf(resource);
      expect((await mine.admin.put(pathOf(id), moved)).status).toBe(200);
      expect((await create(resource, moved)).status).toBe(409);
      expect((await create(resource, first)).status).toBe(201);
    });

    it('is listed newest first, with a total', async () => {
      const tenant = await app.newTenant();
      for (let n = 0; n < 3; n += 1) await create(resource, draftOf(resource), tenant);
      const { body } = await tenant.admin.get(declared.path);
      const records = body[declared.list] as { createdAt: string; id: string }[];
      expect(body.total).toBe(3);
      expect(records).toEqual(
        [...records].sort((a, b) => b.createdAt.localeCompare(a.createdAt) || a.id.localeCompare(b.id)),
      );
    });

    it('is narrowed by its filters, and rejects values outside a closed vocabulary', async () => {
      const { body: first } = await create(resource, draftOf(resource));
      await create(resource, { ...draftOf(resource), ...sampleOf(resource).change });
      const everything = await listed(resource);
      for (const name of (declared.filters ?? []) as string[]) {
        const parameter = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
        const { body } = await mine.admin.get(
          `${declared.path}?${parameter}=${encodeURIComponent(String(first[name]))}`,
        );
        expect(body[declared.list]).toEqual(everything.filter((record) => record[name] === first[name]));
        expect(body.total).toBe(body[declared.list].length);
        const none = await mine.admin.get(`${declared.path}?${parameter}=nobody-has-this`);
        if (typeof first[name] === 'boolean' || !(typeof first[name] === 'string' && none.status === 200))
          expect(none.status).toBe(400);
        else expect(none.body).toEqual({ [declared.list]: [], total: 0 });
      }
    });

    it('is not found by another tenant', async () => {
      const { id } = (await create(resource, draftOf(resource))).body;
      const { admin } = await app.newTenant();
      expect((await admin.get(declared.path)).body).toEqual({ [declared.list]: [], total: 0 });
      if (has('update')) expect((await admin.put(pathOf(id), sampleOf(resource).change)).status).toBe(404);
      expect((await admin.delete(pathOf(id))).status).toBe(404);
      expect((await listed(resource)).map((record) => record['id'])).toContain(id);
    });

    it('hides its restricted fields from the roles concerned, and from no others', async () => {
      const { id } = (await create(resource, draftOf(resource))).body;
      const full = (await listed(resource)).find((record) => record['id'] === id)!;
      const hidden = Object.entries((declared.hidden ?? {}) as Record<string, readonly string[]>);
      for (const role of adminRoles.filter((one) => permits(one, declared.access.read))) {
        const { client } = await app.adminWithRole(mine, role);
        const { body, text } = await client.get(declared.path);
        const record = (body[declared.list] as Record<string, unknown>[]).find((one) => one['id'] === id)!;
        const veiled = hidden.filter(([, from]) => from.includes(role)).map(([name]) => name);
        expect(record).toEqual({ ...full, ...Object.fromEntries(veiled.map((name) => [name, null])) });
        for (const name of veiled) expect(text).not.toContain(`"${full[name] as string}"`);
      }
    });
  });

  describe.each(named(singletons))('%s', (_noun, resource) => {
    const { declared, view } = resource;

    it('has defaults, merges the fields that are sent, and keeps the rest', async () => {
      const { admin, adminId } = await app.newTenant();
      const { body: defaults } = await admin.get(declared.path);
      expect(view.safeParse(defaults).error).toBeUndefined();
      expect(defaults.updatedAt).toBeNull();
      const { change, broken } = sampleOf(resource);
      expect((await admin.put(declared.path, broken)).status).toBe(400);
      expect((await admin.get(declared.path)).body).toEqual(defaults);

      const changed = await caughtUp(await admin.put(declared.path, { ...change, unknownField: true }));
      expect(changed.status).toBe(200);
      expect(changed.body).toEqual({
        ...defaults,
        ...shown(resource, change),
        updatedAt: expect.any(String),
        ...(declared.showsEditor ? { updatedBy: adminId } : {}),
      });
      expect((await admin.get(declared.path)).body).toEqual(changed.body);
      expect((await admin.put(declared.path, {})).body).toEqual(changed.body);
    });

    it('writes no event when nothing changes', async () => {
      const { admin } = await app.newTenant();
      const { change } = sampleOf(resource);
      const plain = Object.fromEntries(Object.entries(change).filter(([name]) => !secretsOf(resource).includes(name)));
      await admin.put(declared.path, plain);
      // A change that silences a watch raises an alert, a moment later.
      await app.settled();
      const head = await app.services.store.head();
      await admin.put(declared.path, plain);
      expect(await app.services.store.head(), 'a change to the same values appends an event').toBe(head);
    });
  });

  it('returns the decided state while the read side is behind', async () => {
    const gadget = collections.find(({ declared }) => declared.noun === 'gadget')!;
    const settings = singletons.find(({ declared }) => declared.noun === 'gadgetSettings')!;
    const { admin } = await app.newTenant();
    const { body: before } = await admin.post(gadget.declared.path, draftOf(gadget));
    const writer = await app.services.database.owner.connect();
    try {
      // Readers continue; writers of these tables wait.
      await writer.query('begin');
      await writer.query('lock table gadgets_v1, gadget_settings_v1 in exclusive mode');
      const draft = draftOf(gadget);
      const created = await admin.post(gadget.declared.path, draft);
      expect([created.status, created.headers.get('x-stale')]).toEqual([201, 'true']);
      expect(created.body).toMatchObject({ ...shown(gadget, draft), uses: 0, lastUsedAt: null });
      const changed = await admin.put(`${gadget.declared.path}/${before.id}`, { pieces: 9 });
      expect([changed.status, changed.body.pieces]).toEqual([200, 9]);
      const set = await admin.put(settings.declared.path, { limit: 99 });
      expect([set.status, set.body.limit]).toEqual([200, 99]);
    } finally {
      await writer.query('rollback');
      writer.release();
    }
    await app.settled();
    expect((await admin.get(gadget.declared.path)).body.total).toBe(2);
  });

  it('keeps every secret in the vault only: not in events, rows, responses or claims, and destroys replaced secrets', async () => {
    const { admin, tenantId } = await app.newTenant();
    const spoken: string[] = [];
    const noted = (resource: Declared, body: Readonly<Record<string, unknown>>) => {
      for (const name of secretsOf(resource)) if (typeof body[name] === 'string') spoken.push(body[name]);
      return body;
    };
    const heard: string[] = [];
    const vaultHolds = async () =>
      (
        await app.services.database.owner.query<{ count: number }>(
          'select count(*)::int as count from secrets where tenant_id = $1',
          [tenantId],
        )
      ).rows[0]!.count;
    const before = await vaultHolds();
    for (const resource of resources.filter((one) => secretsOf(one).length > 0)) {
      const { declared } = resource;
      const count = secretsOf(resource).length;
      if (resource.kind === 'singleton') {
        heard.push((await admin.put(declared.path, noted(resource, sampleOf(resource).change))).text);
        expect(await vaultHolds()).toBe(before + count);
        heard.push(
          (await admin.put(declared.path, Object.fromEntries(secretsOf(resource).map((name) => [name, null])))).text,
        );
        expect(await vaultHolds()).toBe(before);
        continue;
      }
      const created = await admin.post(declared.path, noted(resource, draftOf(resource)));
      heard.push(created.text, (await admin.get(declared.path)).text);
      expect(await vaultHolds()).toBe(before + count);
      if (resource.declared.verbs.includes('update'))
        heard.push(
          (await admin.put(`${declared.path}/${created.body.id}`, noted(resource, sampleOf(resource).change))).text,
        );
      expect(await vaultHolds()).toBe(before + count);
      await admin.delete(`${declared.path}/${created.body.id}`);
      expect(await vaultHolds()).toBe(before);
    }
    expect(spoken.length).toBeGreaterThan(2);
    await app.settled();
    const everything = [...heard, ...(await everyRow(app))].join('\n');
    for (const secret of spoken) {
      expect(everything).not.toContain(secret);
      expect(everything).not.toContain(Buffer.from(secret).toString('base64'));
    }
  });
});

/** Every row of every table, as text. */
async function everyRow(app: TestApp): Promise<string[]> {
  const { owner } = app.services.database;
  const { rows: tables } = await owner.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  const texts: string[] = [];
  for (const { name } of tables)
    texts.push(
      ...(await owner.query<{ row: string }>(`select t::text as row from ${name} t`)).rows.map(({ row }) => row),
    );
  return texts;
}
