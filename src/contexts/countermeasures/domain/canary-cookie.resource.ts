import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { defineCollection } from '../../../platform/resources/collection.ts';
import { generated } from '../../../platform/resources/fields.ts';
import { tracked } from '../../../platform/resources/tracked.ts';
import { hostField } from '../../../platform/web-addresses/host-field.ts';
import { canaryCookieTriggers } from './canary-cookie-triggers.ts';
import { nameField } from '../../../platform/kernel/name-field.ts';

const VALUE_BYTES = 16;
// Characters that browsers refuse in cookies (draft RFC 6265bis §5.7). They ignore a dot before the domain (RFC 6265
// §5.2.3).
const NOT_IN_A_COOKIE = 'contains characters that cookies cannot contain';
const cookieDomain = z
  .string()
  .max(254)
  .transform((text) => text.replace(/^\./, ''))
  .pipe(hostField());

/**
 * A cookie that nobody should ever send. Extensions plant it; a client that presents its value has stolen it (choice
 * OP-201).
 */
export const canaryCookies = defineCollection({
  noun: 'canaryCookie',
  list: 'canaryCookies',
  area: 'countermeasures',
  path: '/api/v1/admin/active-countermeasures/canary-cookies',
  parameter: 'cookieID',
  verbs: ['list', 'create', 'update', 'delete'],
  access: { read: 'countermeasures:read', write: 'countermeasures:write' },
  table: 'canary_cookies',
  version: 1,
  fields: {
    name: nameField().regex(/^[^;=]*$/, NOT_IN_A_COOKIE),
    domain: cookieDomain,
    path: z
      .string()
      .max(1_024)
      .regex(/^\/[^\p{Cc};]*$/u, NOT_IN_A_COOKIE)
      .default('/'),
    value: generated(z.string(), () => randomBytes(VALUE_BYTES).toString('hex')),
    isEnabled: z.boolean().default(true),
    description: z.string().max(2_000).default(''),
  },
  // Browsers identify cookies by these fields (RFC 6265 §5.3): a second cookie would overwrite the first.
  unique: [['name', 'domain', 'path']],
  hidden: { value: ['viewer'] },
  watch: {
    silencedWhere: 'the cookie is planted, and then is switched off, moved or deleted',
    title: 'A canary cookie, which betrays thieves of cookies, was deleted, moved or switched off',
    silences: (before, after) =>
      before.isEnabled &&
      !(after?.isEnabled && after.name === before.name && after.domain === before.domain && after.path === before.path),
  },
  toldToExtensions: true,
  tracked: tracked({
    fields: { triggerCount: z.int().default(0), lastTriggeredAt: z.iso.datetime().nullable().default(null) },
    from: [canaryCookieTriggers],
    on: {
      CanaryCookieTriggered: ({ data: { id, occurredAt } }) => ({
        id,
        change: ({ triggerCount, lastTriggeredAt }) => ({
          triggerCount: triggerCount + 1,
          lastTriggeredAt: lastTriggeredAt && lastTriggeredAt > occurredAt ? lastTriggeredAt : occurredAt,
        }),
      }),
    },
  }),
});
