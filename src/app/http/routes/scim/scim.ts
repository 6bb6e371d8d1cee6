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

/** RFC 7644 §4: descriptions take no filter, neither a list nor a single one. */
const plainQuery = z.object({
  filter: z.string().max(10_000).optional().describe('Refused with 403: descriptions take no filter'),
});

interface Description {
  readonly path: string;
  readonly summary: string;
  readonly operation?: string;
  /** The name and the longest value of the parameter that chooses one description. */
  readonly parameter?: { readonly name: string; readonly max: number };
  readonly response: z.ZodType;
  /** Undefined if there is no such description. `base` is the address of `/scim/v2`. */
  readonly describe: (base: string, chosen: string) => object | undefined;
}

const descriptionRoute = ({ path, summary, operation, parameter, response, describe }: Description) =>
  route({
    method: 'GET',
    path: `${SCIM}/${path}`,
    access: scimReader,
    summary,
    ...(operation === undefined ? {} : { operation }),
    ...(parameter ? { params: z.object({ [parameter.name]: z.string().max(parameter.max) }) } : {}),
    query: plainQuery,
    response,
    refusal: scimRefusal,
    refusalView: scimErrorView,
    handle: async ({ reply, params, query, principal, services }) => {
      if (query.filter !== undefined)
        throw new FailureError(forbidden('insufficient_permissions', 'descriptions take no filter'));
      const chosen = parameter ? (params as Readonly<Record<string, string>>)[parameter.name]! : '';
      const view = describe(await baseOf(principal.tenantId, services), chosen);
      if (!view) throw new FailureError(notFound());
      reply.type(SCIM_MEDIA);
      return view;
    },
  });

const discoveryRoutes = [
  descriptionRoute({
    path: 'ServiceProviderConfig',
    summary: 'Describe what this service provider supports',
    operation: 'describeServiceProvider',
    response: described,
    describe: (base) => serviceProviderConfig(base, `${base.slice(0, -SCIM.length)}/docs`),
  }),
  descriptionRoute({
    path: 'ResourceTypes',
    summary: 'List the resource types',
    response: descriptions,
    describe: (base) => listResponse(resourceTypes.map((type) => resourceTypeView(type, base))),
  }),
  descriptionRoute({
    path: 'ResourceTypes/{name}',
    summary: 'Get a resource type',
    parameter: { name: 'name', max: 100 },
    response: described,
    describe: (base, chosen) => {
      const type = resourceTypes.find(({ name }) => name === chosen);
      return type && resourceTypeView(type, base);
    },
  }),
  descriptionRoute({
    path: 'Schemas',
    summary: 'List the schemas',
    response: descriptions,
    describe: (base) => listResponse(allSchemas.map((schema) => schemaView(schema, base))),
  }),
  descriptionRoute({
    path: 'Schemas/{schemaId}',
    summary: 'Get a schema',
    parameter: { name: 'schemaId', max: 200 },
    response: described,
    describe: (base, chosen) => {
      const schema = allSchemas.find(({ id }) => id.toLowerCase() === chosen.toLowerCase());
      return schema && schemaView(schema, base);
    },
  }),
];

/** SCIM 2.0 (RFC 7643, RFC 7644): each client has the users and groups that it provisioned itself. */
export const scimRoutes: RouteGroup<
  ScimDiscoveryDependencies & ScimUsersRouteDependencies & ScimGroupsRouteDependencies
> = { area: 'scim', routes: [...discoveryRoutes, ...scimUserRoutes, ...scimGroupRoutes] };
