import { z } from 'zod';
import { admin } from '../http/access.ts';
import { pageQuery, paginatedView, toPage } from '../http/list-query.ts';
import { route, type AnyRoute } from '../http/route.ts';
import { uuid } from '../kernel/ids.ts';
import { paginated } from '../kernel/query.ts';
import type { AnyDefinedCollection } from './collection.ts';
import type { AnyCollection } from './collection-events.ts';
import type { Verb } from './declaration.ts';
import { changesSchema, draftSchema, withoutDefault, type AnyValues } from './fields.ts';
import { forgetSecrets } from './forget-secrets.ts';
import { inWords, snakeCase } from './names.ts';
import { viewFor } from './views.ts';

/** The routes of a declared collection, one for each of its verbs. */
export function collectionRoutes(collection: AnyDefinedCollection): AnyRoute[] {
  const routes: Record<Verb, () => AnyRoute> = {
    list: () => listRoute(collection),
    create: () => createRoute(collection),
    read: () => readRoute(collection),
    update: () => updateRoute(collection),
    delete: () => deleteRoute(collection),
  };
  return collection.declared.verbs.map((verb) => routes[verb]());
}

function listRoute({ declared, view, list }: AnyDefinedCollection): AnyRoute {
  const { path, access, list: name, noun, paged } = declared;
  return route({
    method: 'GET',
    path,
    access: admin(access.read),
    summary: `Every ${inWords(noun)}, newest first`,
    query: z.object({ ...filterQuery(declared), ...(paged ? pageQuery : {}) }),
    answer: z.object({ [name]: z.array(view), ...(paged ? paginatedView : { total: z.int() }) }),
    handle: async ({ ask, query, principal }) => {
      const page = paged ? toPage(query as { page: number; page_size: number }) : undefined;
      const { records, total } = await ask(list, { filter: filterOf(declared, query), ...(page ? { page } : {}) });
      return { [name]: records.map((kept) => viewFor(declared, kept, principal.role)), ...(page ? paginated(total, page) : { total }) };
    },
  });
}

function createRoute({ declared, view, create, get }: AnyDefinedCollection): AnyRoute {
  const { path, access, noun, fields } = declared;
  return route({
    method: 'POST',
    path,
    access: admin(access.write),
    summary: `Create a ${inWords(noun)}`,
    body: draftSchema(fields),
    status: 201,
    answer: view,
    handle: async ({ run, ask, body, principal, reply }) => {
      const { result } = await run(create, body as AnyValues);
      // What was created is there, even while the read side is behind: then the decision itself is the answer.
      const kept = reply.hasHeader('x-stale') ? result.record : await ask(get, { id: result.id });
      return viewFor(declared, kept, principal.role);
    },
  });
}

function readRoute({ declared, view, get }: AnyDefinedCollection): AnyRoute {
  return route({
    method: 'GET',
    path: onePath(declared),
    access: admin(declared.access.read),
    summary: `One ${inWords(declared.noun)}`,
    params: idParams(declared),
    answer: view,
    handle: async ({ ask, params, principal }) => viewFor(declared, await ask(get, { id: idOf(params) }), principal.role),
  });
}

function updateRoute({ declared, view, update, get }: AnyDefinedCollection): AnyRoute {
  return route({
    method: 'PUT',
    path: onePath(declared),
    access: admin(declared.access.write),
    summary: `Change a ${inWords(declared.noun)}; what is left out stays`,
    params: idParams(declared),
    body: changesSchema(declared.fields),
    answer: view,
    handle: async ({ run, ask, params, body, principal, services }) => {
      const id = idOf(params);
      const { result } = await run(update, { id, changes: body as AnyValues });
      await forgetSecrets(services, principal.tenantId, result.secretsGivenUp);
      return viewFor(declared, await ask(get, { id }), principal.role);
    },
  });
}

function deleteRoute({ declared, remove }: AnyDefinedCollection): AnyRoute {
  return route({
    method: 'DELETE',
    path: onePath(declared),
    access: admin(declared.access.write),
    summary: `Delete a ${inWords(declared.noun)}`,
    params: idParams(declared),
    handle: async ({ run, params, principal, services }) => {
      const { result } = await run(remove, { id: idOf(params) });
      await forgetSecrets(services, principal.tenantId, result.secretsGivenUp);
    },
  });
}

const onePath = ({ path, parameter }: AnyCollection): string => `${path}/{${parameter}}`;
const idParams = ({ parameter }: AnyCollection) => z.object({ [parameter]: uuid() });
const idOf = (params: AnyValues): string => Object.values(params)[0] as string;

const flag = z.enum(['true', 'false']).transform((text) => text === 'true');
const FILTER_CHARACTERS = 200;

/** Closed vocabularies are checked (choice OP-007), other text just matches nothing. */
function filterQuery({ filters = [], fields }: AnyCollection): z.ZodRawShape {
  const schemaOf = (name: string): z.ZodType => {
    const schema = withoutDefault(fields[name] as z.ZodType);
    if (schema.def.type === 'boolean') return flag;
    return schema.def.type === 'enum' ? schema : z.string().max(FILTER_CHARACTERS);
  };
  return Object.fromEntries(filters.map((name) => [snakeCase(name), schemaOf(name).optional()]));
}

const filterOf = ({ filters = [] }: AnyCollection, query: AnyValues): AnyValues => Object.fromEntries(filters.map((name) => [name, query[snakeCase(name)]]));
