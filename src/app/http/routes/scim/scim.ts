import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Lookups } from '../../../../contexts/identity/lookups.ts';
import {
  allSchemas,
  listResponse,
  resourceTypes,
  resourceTypeView,
  schemaView,
  serviceProviderConfig,
} from '../../../../contexts/scim/domain/discovery.ts';
import { FailureError, forbidden, notFound } from '../../../../platform/kernel/failure.ts';
import { scimReader } from '../../access.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import { SCIM_MEDIA, scimErrorView, scimRefusal } from '../../scim-errors.ts';
import { scimGroupRoutes, type ScimGroupsRouteDependencies } from './scim-groups.ts';
import { baseOf, SCIM } from './scim-request.ts';
import { scimUserRoutes, type ScimUsersRouteDependencies } from './scim-users.ts';

interface ScimDiscoveryDependencies {
  readonly lookups: Lookups;
}

const route = routeWith<ScimDiscoveryDependencies>();
const described = z.looseObject({ schemas: z.array(z.string()) }).meta({ title: 'ScimDescription' });
const descriptions = z
  .looseObject({ schemas: z.array(z.string()), totalResults: z.int(), Resources: z.array(z.looseObject({})) })
  .meta({ title: 'ScimDescriptionList' });
const refusal = scimRefusal;

/** RFC 7644 §4: descriptions take no filter, neither a list nor a single one. */
const plainQuery = z.object({
  filter: z.string().max(10_000).optional().describe('Refused with 403: descriptions take no filter'),
});
function refuseFilter({ filter }: z.output<typeof plainQuery>): void {
  if (filter !== undefined)
    throw new FailureError(forbidden('insufficient_permissions', 'descriptions take no filter'));
}

const sent = <View extends object>(reply: FastifyReply, view: View | undefined): View => {
  if (!view) throw new FailureError(notFound());
  reply.type(SCIM_MEDIA);
  return view;
};

const discoveryRoutes = [
  route({
    method: 'GET',
    path: `${SCIM}/ServiceProviderConfig`,
    access: scimReader,
    summary: 'Describe what this service provider supports',
    operation: 'describeServiceProvider',
    query: plainQuery,
    response: described,
    refusal,
    refusalView: scimErrorView,
    handle: async ({ request, reply, query, principal, services }) => {
      refuseFilter(query);
      const base = await baseOf(request, principal.tenantId, services);
      return sent(reply, serviceProviderConfig(base, new URL('/docs', base).href));
    },
  }),
  route({
    method: 'GET',
    path: `${SCIM}/ResourceTypes`,
    access: scimReader,
    summary: 'List the resource types',
    query: plainQuery,
    response: descriptions,
    refusal,
    refusalView: scimErrorView,
    handle: async ({ request, reply, query, principal, services }) => {
      refuseFilter(query);
      const base = await baseOf(request, principal.tenantId, services);
      return sent(reply, listResponse(resourceTypes.map((type) => resourceTypeView(type, base))));
    },
  }),
  route({
    method: 'GET',
    path: `${SCIM}/ResourceTypes/{name}`,
    access: scimReader,
    summary: 'Get a resource type',
    params: z.object({ name: z.string().max(100) }),
    query: plainQuery,
    response: described,
    refusal,
    refusalView: scimErrorView,
    handle: async ({ request, reply, params, query, principal, services }) => {
      refuseFilter(query);
      const base = await baseOf(request, principal.tenantId, services);
      const type = resourceTypes.find(({ name }) => name === params.name);
      return sent(reply, type && resourceTypeView(type, base));
    },
  }),
  route({
    method: 'GET',
    path: `${SCIM}/Schemas`,
    access: scimReader,
    summary: 'List the schemas',
    query: plainQuery,
    response: descriptions,
    refusal,
    refusalView: scimErrorView,
    handle: async ({ request, reply, query, principal, services }) => {
      refuseFilter(query);
      const base = await baseOf(request, principal.tenantId, services);
      return sent(reply, listResponse(allSchemas.map((schema) => schemaView(schema, base))));
    },
  }),
  route({
    method: 'GET',
    path: `${SCIM}/Schemas/{schemaId}`,
    access: scimReader,
    summary: 'Get a schema',
    params: z.object({ schemaId: z.string().max(200) }),
    query: plainQuery,
    response: described,
    refusal,
    refusalView: scimErrorView,
    handle: async ({ request, reply, params, query, principal, services }) => {
      refuseFilter(query);
      const base = await baseOf(request, principal.tenantId, services);
      const schema = allSchemas.find(({ id }) => id.toLowerCase() === params.schemaId.toLowerCase());
      return sent(reply, schema && schemaView(schema, base));
    },
  }),
];

/** SCIM 2.0 (RFC 7643, RFC 7644): each client has the users and groups that it provisioned itself. */
export const scimRoutes: RouteGroup<
  ScimDiscoveryDependencies & ScimUsersRouteDependencies & ScimGroupsRouteDependencies
> = { area: 'scim', routes: [...discoveryRoutes, ...scimUserRoutes, ...scimGroupRoutes] };
