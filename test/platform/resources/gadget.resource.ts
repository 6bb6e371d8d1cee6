import { z } from 'zod';
import { defineEvents } from '../../../src/platform/kernel/event.ts';
import { uuid } from '../../../src/platform/kernel/ids.ts';
import { defineCollection } from '../../../src/platform/resources/collection.ts';
import { generated, secret } from '../../../src/platform/resources/fields.ts';
import { defineSingleton } from '../../../src/platform/resources/singleton.ts';
import { tracked } from '../../../src/platform/resources/tracked.ts';

export const gadgetUse = defineEvents('gadget', {
  GadgetUsed: { version: 1, schema: z.object({ gadgetId: uuid(), at: z.iso.datetime() }), audit: false },
});

/** An example resource with every option of a declaration. */
export const gadgets = defineCollection({
  noun: 'gadget',
  list: 'gadgets',
  area: 'gadgets',
  path: '/api/v1/admin/gadgets',
  parameter: 'gadgetID',
  verbs: ['list', 'create', 'read', 'update', 'delete'],
  access: { read: 'countermeasures:read', write: 'countermeasures:write' },
  table: 'gadgets',
  version: 1,
  fields: {
    name: z.string().trim().min(1).max(100),
    kind: z.enum(['round', 'square']).default('round'),
    weight: z.number().min(0).nullable().default(null),
    pieces: z.int().min(1).max(9).default(1),
    isEnabled: z.boolean().default(true),
    labels: z.array(z.string().max(20)).max(5).default([]),
    serial: generated(z.string(), () => 'serial-of-the-service'),
    token: secret(z.string().min(8).max(100)),
  },
  unique: [['name'], ['kind', 'weight']],
  filters: ['kind', 'isEnabled', 'name'],
  hidden: { serial: ['viewer'] },
  showsCreator: true,
  rule: {
    reads: ['pieces', 'kind'],
    broken: ({ kind, pieces }) => (kind === 'square' && pieces > 4 ? 'must be at most 4 when square' : undefined),
  },
  tracked: tracked({
    fields: { uses: z.int().default(0), lastUsedAt: z.iso.datetime().nullable().default(null) },
    from: [gadgetUse],
    on: {
      GadgetUsed: ({ data }) => ({
        id: data.gadgetId,
        change: ({ uses }) => ({ uses: uses + 1, lastUsedAt: data.at }),
      }),
    },
  }),
});

export const gadgetSettings = defineSingleton({
  noun: 'gadgetSettings',
  area: 'gadgets',
  path: '/api/v1/admin/gadgets-settings',
  access: { read: 'settings:read', write: 'settings:write' },
  table: 'gadget_settings',
  version: 1,
  fields: {
    limit: z.int().min(1).max(100).default(10),
    colour: z.enum(['red', 'blue']).default('red'),
    owner: z.string().max(50).nullable().default(null),
    server: z.url().default('https://gadgets.example'),
    password: secret(undefined, { sentTo: ['server'] }),
  },
  apart: { GadgetColourChanged: { fields: ['colour'], audit: 'gadget_colour.changed' } },
  rule: {
    reads: ['limit', 'colour'],
    broken: ({ limit, colour }) => (colour === 'blue' && limit > 50 ? 'must be at most 50 for blue' : undefined),
  },
  showsEditor: true,
});
