import { z } from 'zod';
import { admin, adminReauthenticatedWhere } from '../access.ts';
import type { AdminPrincipal } from '../principal.ts';
import { routeWith, type AnyRoute, type HandlerContext } from '../route.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import type { AnyDefinedCollection } from '../../../platform/resources/collection.ts';
import type { AnyCollection, Verb } from '../../../platform/resources/declaration.ts';
import { defaultOf, valuesOf, withoutDefault, type AnyValues } from '../../../platform/resources/fields.ts';
import { withRule } from '../../../platform/resources/field-rule.ts';
import { capitalized, inWords, snakeCase } from '../../../platform/resources/names.ts';
import { bodySchema } from '../../../platform/resources/schemas.ts';
import { truthText } from '../query-types.ts';
import { recordView, taggedOf } from '../../../platform/resources/views.ts';
import type { ErrorCode } from '../../../platform/kernel/error-codes.ts';
import type { Logger } from 'pino';
import type { Vault } from '../../../platform/vault/vault.ts';

export interface CollectionRoutesDependencies {
  readonly log: Logger;
  readonly vault: Vault;
}

const route = routeWith<CollectionRoutesDependencies>();

const plural = (noun: string): string => (noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`);
const withArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;

const sentences = (...parts: readonly string[]): string => parts.filter(Boolean).join(' ');

function conflictOf({ unique = [] }: AnyCollection, noun: string): string {
  const same = unique.map((names) => names.map((name) => `\`${name}\``).join(' and '));
  return same.length === 0 ? '' : `409 if another ${noun} has the same ${same.join(', or the same ')}.`;
}

const limitOf = ({ most }: AnyCollection): string =>
  most === undefined ? '' : `At most ${most.toLocaleString('en')} per tenant (409).`;

/** Codes that creations and changes of records have. */
const refusesOf = ({ unique = [], most }: AnyCollection, isNew: boolean): ErrorCode[] => [
  ...(unique.length > 0 ? (['already_exists'] as const) : []),
  ...(isNew && most !== undefined ? (['limit_reached'] as const) : []),
];

/** The routes of a declared collection, one per verb. */
export function collectionRoutes(collection: AnyDefinedCollection): AnyRoute<CollectionRoutesDependencies>[] {
  const { declared, view, update, remove, all, get } = collection;
  const { path, access, fields, list, parameter } = declared as AnyCollection;
  const noun = inWords(declared.noun);
  const named = (verb: string) => ({ operation: verb + capitalized(declared.noun) });
  const one = { path: `${path}/{${parameter}}`, params: z.object({ [parameter]: uuid() }) };
  const idOf = (params: AnyValues) => params[parameter] as string;
  const tagged = (shown: AnyValues) => taggedOf(declared as AnyCollection, shown);
  const { watch } = declared as AnyCollection;
  const changing = watch ? adminReauthenticatedWhere(access.write, watch.silencedWhere) : admin(access.write);

  const routes: Readonly<Record<Verb, () => AnyRoute<CollectionRoutesDependencies>>> = {
    list: () =>
      route({
        method: 'GET',
        path,
        access: admin(access.read),
        summary: `List ${plural(noun)}`,
        operation: `list${capitalized(plural(declared.noun))}`,
        description: 'Returns all of them, newest first.',
        query: filterQuery(declared),
        response: z.object({ [list]: z.array(view), total: z.int() }),
        handle: async ({ ask, query, principal }) => {
          const records = await ask(all, filterOf(declared, query) as never);
          return { [list]: records.map((kept) => recordView(declared, kept, principal.role)), total: records.length };
        },
      }),
    create: () =>
      route({
        method: 'POST',
        path,
        access: admin(access.write),
        summary: `Create ${withArticle(noun)}`,
        ...named('create'),
        refuses: refusesOf(declared as AnyCollection, true),
        description: sentences(conflictOf(declared as AnyCollection, noun), limitOf(declared as AnyCollection)),
        body: withRule(bodySchema(fields, 'create'), declared as AnyCollection),
        status: 201,
        response: view,
        tagged,
        handle: (call) => createdRecord(collection, call, call.body),
      }),
    read: () =>
      route({
        ...one,
        method: 'GET',
        access: admin(access.read),
        summary: `Get ${withArticle(noun)}`,
        ...named('get'),
        response: view,
        tagged,
        handle: async ({ ask, params, principal }) =>
          recordView(declared, await ask(get, { id: idOf(params) }), principal.role),
      }),
    update: () =>
      route({
        ...one,
        method: 'PUT',
        access: changing,
        summary: `Change ${withArticle(noun)}`,
        ...named('change'),
        refuses: refusesOf(declared as AnyCollection, false),
        description: sentences(
          'Fields that are left out keep their values.',
          conflictOf(declared as AnyCollection, noun),
        ),
        body: withRule(bodySchema(fields, 'change'), declared as AnyCollection),
        response: view,
        tagged,
        handle: async ({ run, ask, params, body, principal }) => {
          const { result } = await run(update, {
            id: idOf(params),
            changes: body,
            reauthenticated: principal.reauthenticated,
          });
          // The read side may be behind, so the response shows the values that were decided.
          return recordView(declared, { ...(await ask(get, result)), ...result.values }, principal.role);
        },
      }),
    delete: () =>
      route({
        ...one,
        method: 'DELETE',
        access: changing,
        summary: `Delete ${withArticle(noun)}`,
        ...named('delete'),
        tagged,
        handle: async ({ run, params, principal: { reauthenticated } }) => {
          await run(remove, { id: idOf(params), reauthenticated });
        },
      }),
  };
  return declared.verbs.map((verb) => routes[verb]());
}

type Creating = Pick<HandlerContext<unknown, unknown, unknown, AdminPrincipal>, 'run' | 'ask' | 'principal' | 'reply'>;

/** Creates a record of the collection and returns the caller's view of it. */
export async function createdRecord(
  { declared, create, get }: AnyDefinedCollection,
  { run, ask, principal: { adminId, role }, reply }: Creating,
  draft: AnyValues,
): Promise<AnyValues> {
  const { result } = await run(create, draft);
  // The record exists even if the read side is behind. In that case the response is built from the decision.
  const now = new Date().toISOString();
  const untouched = valuesOf((declared as AnyCollection).tracked?.fields ?? {}, defaultOf);
  const decided = { ...untouched, ...result.values, id: result.id, createdBy: adminId, createdAt: now, updatedAt: now };
  return recordView(declared, reply.hasHeader('x-stale') ? decided : await ask(get, result), role);
}

const flag = truthText();
const FILTER_CHARACTERS = 200;

const filterText = z
  .string()
  .max(FILTER_CHARACTERS)
  .refine((text) => !text.includes('\u0000') && text.isWellFormed(), 'contains characters that are not text');

/** Values of closed vocabularies are validated (choice OP-007). Other unknown text matches no record. */
function filterQuery({ filters = [], fields }: AnyCollection): z.ZodObject {
  const schemaOf = (name: string): z.ZodType => {
    const field = fields[name]!;
    let schema = withoutDefault('kind' in field ? field.schema : field);
    while (schema instanceof z.ZodNullable) schema = schema.unwrap() as z.ZodType;
    if (schema.def.type === 'boolean') return flag;
    return schema.def.type === 'enum' ? schema : filterText;
  };
  return z.object(Object.fromEntries(filters.map((name) => [snakeCase(name), schemaOf(name).optional()])));
}

const filterOf = ({ filters = [] }: AnyCollection, query: AnyValues): AnyValues =>
  Object.fromEntries(filters.map((name) => [name, query[snakeCase(name)]]));
