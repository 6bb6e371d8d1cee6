import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineCollection } from '../../../src/platform/resources/collection.ts';
import { secret } from '../../../src/platform/resources/fields.ts';
import { columnOf, DeclarationError, lastingType } from '../../../src/platform/resources/lasting-type.ts';
import { defineSingleton } from '../../../src/platform/resources/singleton.ts';
import { gadgets } from './gadget.resource.ts';

describe('the persistent type of a field', () => {
  it('omits the limits of the endpoint, so that stricter ones leave history readable', () => {
    const field = z.object({
      hosts: z
        .array(
          z
            .string()
            .regex(/^[a-z]+$/)
            .max(3),
        )
        .max(1),
      level: z.int().min(5),
      ratio: z.number().max(1).nullable(),
    });
    const old = { hosts: ['UPPER', 'case'], level: 1, ratio: 7.5 };
    expect(field.safeParse(old).success).toBe(false);
    expect(lastingType(field).parse(old)).toEqual(old);
  });

  it('keeps the types', () => {
    const type = lastingType(z.object({ level: z.int().min(5), mode: z.enum(['a', 'b']) }));
    expect(type.safeParse({ level: 1.5, mode: 'a' }).success).toBe(false);
    expect(type.safeParse({ level: 1, mode: 'c' }).success).toBe(false);
    expect(type.safeParse({ level: '1', mode: 'a' }).success).toBe(false);
  });

  it('is the result of a normalization', () => {
    const field = z
      .string()
      .transform((text) => text.trim().length)
      .pipe(z.int());
    expect(lastingType(field).safeParse(3).success).toBe(true);
    expect(columnOf(field)).toEqual({ sql: 'bigint', nullable: false });
  });

  it('rejects a declaration that would leave it open', () => {
    expect(() => lastingType(z.string().transform((text) => text.length))).toThrow(DeclarationError);
    expect(() => lastingType(z.any())).toThrow(DeclarationError);
  });

  it('reads a field that was added later as its default in older events, and never in one that records changes', () => {
    const definitions = gadgets.events.definitions;
    const older = { id: '33333333-3333-4333-8333-333333333333', name: 'Anvil', serial: 's', tokenRef: null };
    expect(definitions.GadgetCreated.schema.parse(older)).toMatchObject({
      kind: 'round',
      weight: null,
      pieces: 1,
      isEnabled: true,
      labels: [],
    });
    expect(definitions.GadgetUpdated.schema.parse({ id: older.id })).toEqual({ id: older.id });
  });

  it('of a secret is a reference, in events and in rows', () => {
    expect(lastingType(secret()).safeParse('hunter2').success).toBe(false);
    expect(columnOf(secret())).toEqual({ sql: 'uuid', nullable: true });
  });

  it('rejects a nullable setting whose default is not null: a row could not tell null from unset', () => {
    const declaration = {
      noun: 'odd',
      area: 'odd',
      path: '/odd',
      access: { read: 'settings:read', write: 'settings:write' },
      table: 'odd',
      version: 1,
    } as const;
    expect(() => defineSingleton({ ...declaration, fields: { text: z.string().nullable().default('x') } })).toThrow(
      DeclarationError,
    );
    expect(() =>
      defineCollection({
        ...declaration,
        list: 'odds',
        parameter: 'oddID',
        verbs: [],
        fields: { text: z.string().nullable().default('x') },
      }),
    ).not.toThrow();
  });
});
