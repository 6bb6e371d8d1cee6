import { describe, expect, expectTypeOf, it } from 'vitest';
import type { EventOf } from '../../../src/platform/kernel/event.ts';
import { invalid } from '../../../src/platform/kernel/failure.ts';
import type { RecordDraft } from '../../../src/platform/resources/fields.ts';
import { context, rowsAfter, TENANT } from '../../dsl/given.ts';
import { given, recorded } from './gadget-histories.ts';
import { gadgets, gadgetUse } from './gadget.resource.ts';
import { memoryVault } from './memory-vault.ts';

type GadgetEvent = EventOf<typeof gadgets.events>;
const id = '33333333-3333-4333-8333-333333333333';
const reference = '44444444-4444-4444-8444-444444444444';
const draft = {
  name: 'Anvil',
  kind: 'round',
  weight: 2.5,
  pieces: 1,
  isEnabled: true,
  labels: ['heavy'],
} as const satisfies Partial<RecordDraft<typeof gadgets.declared.fields>>;
const mutableDraft = { ...draft, labels: [...draft.labels] };
const values = { ...mutableDraft, serial: 'serial-of-the-service', tokenRef: null };
const created: GadgetEvent = { type: 'GadgetCreated', data: { id, ...values } };
const withToken: GadgetEvent = { type: 'GadgetUpdated', data: { id, tokenRef: reference } };
const made = { serial: 'serial-of-the-service', tokenRef: null };

const unbounded = { one: async () => undefined, several: async () => [] };
/** A gadget names no other record. */
const aggregates = { load: () => Promise.reject(new Error('nothing is read')) };

describe('creating a declared record', () => {
  it('records the whole record in one event and claims its unique values, case-folded', () => {
    const outcome = given().when(gadgets.create, { ...mutableDraft, name: 'AnVIL' }, made);
    outcome.then({ type: 'GadgetCreated', data: { id, ...values, name: 'AnVIL' } });
    outcome.thenTakes(
      { kind: 'gadget.name', value: '["anvil"]' },
      { kind: 'gadget.kind+weight', value: '["round",2.5]' },
    );
  });

  it('has no effect when the same command is sent again', () => {
    given(created).when(gadgets.create, mutableDraft, made).thenNothing();
  });

  it('applies the rule to the complete record', () => {
    given()
      .when(gadgets.create, { ...mutableDraft, kind: 'square', pieces: 5 }, made)
      .thenRefused('invalid', invalid('pieces', 'must be at most 4 when square').message);
  });

  it('rejects fields that the application generates', () => {
    const forged = { ...mutableDraft, serial: 'forged' } as RecordDraft<typeof gadgets.declared.fields>;
    given().when(gadgets.create, forged, made).then(created);
  });

  it('stores the secret in the vault, bound to the record, and generates its generated fields', async () => {
    const vault = memoryVault();
    const facts = await gadgets.create.prepare!(
      { ...mutableDraft, token: 'hunter2hunter2' },
      { vault, aggregates, freeNumbers: unbounded },
      context(),
    );
    expect(facts).toMatchObject({
      serial: 'serial-of-the-service',
      tokenRef: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect([...vault.kept.values()]).toEqual([{ owner: `gadget/${id}`, field: 'token', secret: 'hunter2hunter2' }]);
    expect(JSON.stringify(facts)).not.toContain('hunter2');
  });

  it('fills in defaults for internal callers, as the endpoint does for clients', async () => {
    const facts = await gadgets.create.prepare!(
      { name: 'Anvil' } as never,
      { vault: memoryVault(), aggregates, freeNumbers: unbounded },
      context(),
    );
    given()
      .when(gadgets.create, { name: 'Anvil' } as never, facts as never)
      .then({
        type: 'GadgetCreated',
        data: { id, name: 'Anvil', kind: 'round', weight: null, pieces: 1, isEnabled: true, labels: [], ...made },
      });
  });
});

describe('changing a declared record', () => {
  it('records the changed fields only', () => {
    given(created)
      .when(gadgets.update, { id, changes: { pieces: 3, isEnabled: true, labels: ['heavy'] } }, {})
      .then({ type: 'GadgetUpdated', data: { id, pieces: 3 } });
  });

  it('records nothing if nothing changes', () => {
    const outcome = given(created).when(gadgets.update, { id, changes: mutableDraft }, {});
    outcome.thenNothing();
    outcome.thenTakes();
    outcome.thenReleases();
  });

  it('moves the claims of changed values and keeps the others', () => {
    const outcome = given(created).when(gadgets.update, { id, changes: { name: 'Hammer' } }, {});
    outcome.thenTakes({ kind: 'gadget.name', value: '["hammer"]' });
    outcome.thenReleases({ kind: 'gadget.name', value: '["anvil"]' });
  });

  it('keeps its claim when only the case of its name changes', () => {
    const outcome = given(created).when(gadgets.update, { id, changes: { name: 'ANVIL' } }, {});
    outcome.then({ type: 'GadgetUpdated', data: { id, name: 'ANVIL' } });
    outcome.thenTakes();
    outcome.thenReleases();
  });

  it('applies the rule to the resulting record', () => {
    given(created, { type: 'GadgetUpdated', data: { id, pieces: 5 } })
      .when(gadgets.update, { id, changes: { kind: 'square' } }, {})
      .thenRefused('invalid');
  });

  it('fails for a record that never existed or was deleted', () => {
    given()
      .when(gadgets.update, { id, changes: { pieces: 2 } }, {})
      .thenRefused('notFound');
    given(created, { type: 'GadgetDeleted', data: { id } })
      .when(gadgets.update, { id, changes: { pieces: 2 } }, {})
      .thenRefused('notFound');
  });

  it('keeps an omitted secret, replaces a given one, and removes it for null', async () => {
    const vault = memoryVault();
    const prepare = (changes: object) =>
      gadgets.update.prepare!({ id, changes }, { vault, aggregates }, context()) as Promise<{
        tokenRef?: string | null;
      }>;

    expect(await prepare({ pieces: 2 })).toEqual({});
    const kept = given(created, withToken).when(gadgets.update, { id, changes: { pieces: 2 } }, {});
    kept.then({ type: 'GadgetUpdated', data: { id, pieces: 2 } });
    kept.thenForgets();

    const fresh = await prepare({ token: 'a new secret' });
    const replaced = given(created, withToken).when(gadgets.update, { id, changes: { token: 'a new secret' } }, fresh);
    replaced.then({ type: 'GadgetUpdated', data: { id, tokenRef: fresh.tokenRef } });
    replaced.thenForgets(reference);

    const none = await prepare({ token: null });
    expect(none).toEqual({ tokenRef: null });
    const removed = given(created, withToken).when(gadgets.update, { id, changes: { token: null } }, none);
    removed.then({ type: 'GadgetUpdated', data: { id, tokenRef: null } });
    removed.thenForgets(reference);
    expect(vault.kept.size).toBe(1);
  });
});

describe('deleting a declared record', () => {
  it('releases its claims and destroys its secrets', () => {
    const outcome = given(created, withToken).when(gadgets.remove, { id });
    outcome.then({ type: 'GadgetDeleted', data: { id } });
    outcome.thenReleases(
      { kind: 'gadget.name', value: '["anvil"]' },
      { kind: 'gadget.kind+weight', value: '["round",2.5]' },
    );
    outcome.thenForgets(reference);
  });

  it('fails for a record that never existed or was deleted', () => {
    given().when(gadgets.remove, { id }).thenRefused('notFound');
    given(created, { type: 'GadgetDeleted', data: { id } }).when(gadgets.remove, { id }).thenRefused('notFound');
  });
});

describe('the read model of a collection', () => {
  const used = { type: 'GadgetUsed' as const, data: { gadgetId: id, at: '2026-06-02T00:00:00.000Z' } };
  const history = [
    recorded(created, 1),
    recorded({ type: 'GadgetUpdated', data: { id, pieces: 3, tokenRef: reference } }, 2),
    recorded(used, 3),
    recorded({ ...used, data: { ...used.data, at: '2026-06-03T00:00:00.000Z' } }, 4),
  ];

  it('holds the values, those that other events report, the creator and the time', () => {
    expect(rowsAfter(gadgets.model, history)).toEqual([
      {
        tenant_id: TENANT,
        id,
        name: 'Anvil',
        kind: 'round',
        weight: 2.5,
        pieces: 3,
        is_enabled: true,
        labels: ['heavy'],
        serial: 'serial-of-the-service',
        token_ref: reference,
        uses: 2,
        last_used_at: '2026-06-03T00:00:00.000Z',
        created_by: '22222222-2222-4222-8222-222222222222',
        created_at: '2026-06-01T12:00:01.000Z',
        updated_at: '2026-06-01T12:00:02.000Z',
      },
    ]);
  });

  it('does not depend on the size of a batch', () => {
    expect(rowsAfter(gadgets.model, history, 1)).toEqual(rowsAfter(gadgets.model, history));
  });

  it('deletes the row with the record, and ignores later events', () => {
    expect(
      rowsAfter(gadgets.model, [...history, recorded({ type: 'GadgetDeleted', data: { id } }, 5), recorded(used, 6)]),
    ).toEqual([]);
  });

  it('has a column of a fitting type for every field', () => {
    expect(
      Object.fromEntries(
        Object.entries(gadgets.model.columns as Record<string, { sql: string; nullable: boolean }>).map(
          ([name, { sql, nullable }]) => [name, nullable ? `${sql}?` : sql],
        ),
      ),
    ).toEqual({
      id: 'uuid',
      name: 'text',
      kind: 'text',
      weight: 'double precision?',
      pieces: 'bigint',
      is_enabled: 'boolean',
      labels: 'jsonb',
      serial: 'text',
      token_ref: 'uuid?',
      uses: 'bigint',
      last_used_at: 'text?',
      created_by: 'uuid?',
      created_at: 'timestamptz',
      updated_at: 'timestamptz',
    });
  });
});

describe('the types of a declaration', () => {
  it('match those of a hand-written slice', () => {
    type Created = Extract<EventOf<typeof gadgets.events>, { type: 'GadgetCreated' }>['data'];
    expectTypeOf<Created['kind']>().toEqualTypeOf<'round' | 'square'>();
    expectTypeOf<Created['weight']>().toEqualTypeOf<number | null>();
    expectTypeOf<Created['tokenRef']>().toEqualTypeOf<string | null>();
    expectTypeOf<EventOf<typeof gadgets.events>['type']>().toEqualTypeOf<
      'GadgetCreated' | 'GadgetUpdated' | 'GadgetDeleted'
    >();
    type View = (typeof gadgets.view)['_output'];
    expectTypeOf<View['tokenConfigured']>().toEqualTypeOf<boolean>();
    expectTypeOf<View['uses']>().toEqualTypeOf<number>();
    expectTypeOf<View['labels']>().toEqualTypeOf<string[]>();
    // @ts-expect-error a response has no secret
    expectTypeOf<View['token']>().toBeAny();
    // @ts-expect-error generated fields are read-only
    expectTypeOf<RecordDraft<typeof gadgets.declared.fields>['serial']>().toBeAny();
    expect(Object.keys(gadgetUse.definitions)).toEqual(['GadgetUsed']);
  });
});
