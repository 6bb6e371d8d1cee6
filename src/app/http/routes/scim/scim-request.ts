import { z } from 'zod';
import type { FastifyRequest } from 'fastify';
import type { ScimListRequest } from '../../../../../queries/scim/list-page.ts';
import type { ProvisioningSource } from '../../../../contexts/employees/domain/provisioning.ts';
import type { Lookups } from '../../../../contexts/identity/lookups.ts';
import { DEFAULT_COUNT, LIST_RESPONSE, MAX_COUNT } from '../../../../contexts/scim/domain/discovery.ts';
import { Leniency } from '../../../../contexts/scim/domain/normalization.ts';
import { refuse, type ScimComplex } from '../../../../contexts/scim/domain/read-resource.ts';
import { selectionOf, type Selection } from '../../../../contexts/scim/domain/selection.ts';
import type { ScimResourceType } from '../../../../contexts/scim/domain/schema.ts';
import { namesVersion, tagsIn } from '../../../../contexts/scim/domain/entity-tags.ts';
import type { ErrorCode } from '../../../../platform/kernel/error-codes.ts';
import { FailureError, stale, temporarilyUnavailable } from '../../../../platform/kernel/failure.ts';
import { uuid, type TenantId } from '../../../../platform/kernel/ids.ts';
import { actorOf, type ScimPrincipal } from '../../principal.ts';
import { writtenAs } from '../../query-types.ts';
import type { CallerContext } from '../../route.ts';
import { SCIM_MEDIA } from '../../scim-errors.ts';
import type { ResponseHead } from '../../response-head.ts';

export const SCIM = '/scim/v2';

/** Also one that no schema describes: what is wrong with a resource is said in the words of SCIM. */
export const scimBody = z.record(z.string(), z.unknown());
/** RFC 7644 §3.4.2, RFC 9865 §2.2. Resources are described by `/Schemas`. */
export const scimPageView = z
  .looseObject({
    schemas: z.array(z.string()),
    totalResults: z.int(),
    itemsPerPage: z.int(),
    startIndex: z.int().optional(),
    nextCursor: z.string().optional(),
    Resources: z.array(z.looseObject({})).optional(),
  })
  .meta({ title: 'ScimResourcePage' });

export const scimId = z.object({ id: uuid() });

/** Refusals of lists and searches, of a body that makes or changes a resource, and of operations, for the API description. */
export const scimListRefuses = [
  'scim_invalid_filter',
  'scim_invalid_cursor',
  'scim_too_many',
] as const satisfies readonly ErrorCode[];
export const scimWriteRefuses = ['already_exists', 'owned_by_source'] as const satisfies readonly ErrorCode[];
export const scimPatchRefuses = [
  ...scimWriteRefuses,
  'scim_invalid_filter',
  'scim_invalid_path',
  'scim_no_target',
  'scim_mutability',
] as const satisfies readonly ErrorCode[];

const parameter = z.string().max(10_000).optional();
export const selectionQuery = z.object({
  attributes: parameter.describe('Only these attributes, separated by commas'),
  excludedAttributes: parameter.describe('All attributes but these, separated by commas'),
});
export const listQuery = selectionQuery.extend({
  filter: parameter.describe('A filter (RFC 7644 section 3.4.2.2)'),
  sortBy: parameter.describe('The attribute to sort by'),
  // RFC 7644 §3.4.2 sets how wrong values are read, so SCIM judges these itself.
  sortOrder: writtenAs(parameter, { type: 'string', enum: ['ascending', 'descending'] }).describe(
    'The order of `sortBy`, by default ascending',
  ),
  startIndex: writtenAs(parameter, { type: 'integer', minimum: 1, default: 1 }).describe(
    'The first resource of the page, from 1',
  ),
  count: writtenAs(parameter, { type: 'integer', minimum: 0, maximum: MAX_COUNT, default: DEFAULT_COUNT }).describe(
    `The size of the page: ${DEFAULT_COUNT}, at most ${MAX_COUNT}`,
  ),
  cursor: parameter.describe('`nextCursor` of the page before; empty for the first page (RFC 9865)'),
});
type ListParameters = z.output<typeof listQuery>;
type SelectionParameters = z.output<typeof selectionQuery>;

/** A name of an attribute is short, and a resource has a few dozen. */
const MAX_NAMES = 200;

const namesIn = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .slice(0, MAX_NAMES);

export const selectionIn = (
  type: ScimResourceType,
  { attributes, excludedAttributes }: SelectionParameters,
): Selection => selectionOf(type, { attributes: namesIn(attributes), excludedAttributes: namesIn(excludedAttributes) });

/** OP-222. */
function integerIn(name: string, text: string | undefined, usual: number): number {
  if (text === undefined || text === '') return usual;
  if (!/^[+-]?\d{1,15}$/.test(text)) return refuse(name, 'has to be an integer', 'scim_invalid_value');
  return Number(text);
}

/** Rows before a page by index. A client that goes further down needs a cursor. */
const MAX_START = 10_000_000;

/** RFC 7644 §3.4.2.3. */
function isDescending(order = ''): boolean {
  if (!['', 'ascending', 'descending'].includes(order.toLowerCase()))
    return refuse('sortOrder', 'has to be ascending or descending', 'scim_invalid_value');
  return order.toLowerCase() === 'descending';
}

export const listRequestOf = (query: ListParameters): ScimListRequest => ({
  filter: query.filter === undefined || query.filter.trim() === '' ? undefined : query.filter,
  sortBy: query.sortBy || undefined,
  descending: isDescending(query.sortOrder),
  startIndex: Math.min(MAX_START, Math.max(1, integerIn('startIndex', query.startIndex, 1))),
  count: Math.min(MAX_COUNT, Math.max(0, integerIn('count', query.count, DEFAULT_COUNT))),
  cursor: query.cursor,
});

/** A search request (RFC 7644 §3.4.3) as the parameters of a list. */
export function searchParameters(body: Readonly<Record<string, unknown>>): ListParameters {
  const named = (name: string): unknown =>
    Object.entries(body).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];
  const text = (name: string): string | undefined => {
    const value = named(name);
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'string' && typeof value !== 'number')
      return refuse(name, 'has to be a text', 'scim_invalid_value');
    return String(value);
  };
  const list = (name: string): string | undefined => {
    const value = named(name);
    return Array.isArray(value) ? value.filter((each) => typeof each === 'string').join(',') : text(name);
  };
  return {
    attributes: list('attributes'),
    excludedAttributes: list('excludedAttributes'),
    filter: text('filter'),
    sortBy: text('sortBy'),
    sortOrder: text('sortOrder'),
    startIndex: text('startIndex'),
    count: text('count'),
    cursor: text('cursor'),
  };
}

export const sourceOf = ({ clientId }: ScimPrincipal): ProvisioningSource => ({ kind: 'scim', id: clientId });

export const leniencyFor = ({ profile }: ScimPrincipal): Leniency => new Leniency(profile);

/** Marks in the audit log what was forgiven. Nobody else can write the mark: brackets of a client become parentheses. */
export function scimCaller(request: FastifyRequest, principal: ScimPrincipal, { noted }: Leniency): CallerContext {
  const actor = actorOf(principal, request);
  const agent = (actor.userAgent ?? '').replaceAll('[', '(').replaceAll(']', ')');
  const userAgent = noted.length === 0 ? agent : `${agent} [normalized: ${noted.join('; ')}]`.trim();
  return { tenantId: principal.tenantId, actor: { ...actor, ...(userAgent === '' ? {} : { userAgent }) } };
}

/** The address of `/scim/v2` of the tenant. The `Host` header says nothing about it: a proxy may rename it, and anybody may lie. */
export async function baseOf(tenantId: TenantId, { lookups }: { readonly lookups: Lookups }): Promise<string> {
  const tenant = await lookups.tenant(tenantId, tenantId);
  return `${tenant?.externalBaseUrl ?? ''}${SCIM}`;
}

const isNamed = (header: string | undefined, version: number): boolean =>
  header !== undefined && (header.trim() === '*' || namesVersion(header, version));

/**
 * Throws 412 if `If-Match` names another version (RFC 7644 §3.14), or `If-None-Match` this one (RFC 9110 §13.1.2). Returns
 * the version that a change must find.
 */
export function expectedVersion({ headers }: FastifyRequest, version: number): number | undefined {
  const header = headers['if-match'];
  if (isNamed(headers['if-none-match'], version)) throw new FailureError(stale());
  if (header === undefined || header.trim() === '*') return undefined;
  if (!namesVersion(header, version)) throw new FailureError(stale());
  return version;
}

/** Sends a resource with its entity tag; 304 without a body if the client has this version. */
export function sendResource(
  request: FastifyRequest,
  reply: ResponseHead,
  selection: Selection,
  resource: ScimComplex,
): ScimComplex | undefined {
  const { version, location } = resource['meta'] as { version: string; location: string };
  reply.type(SCIM_MEDIA).header('etag', version).header('location', location);
  const known = request.headers['if-none-match'];
  const isKnown = known !== undefined && (known.trim() === '*' || tagsIn(known).includes(version.slice(2)));
  if (request.method === 'GET' && isKnown) {
    reply.status(304);
    return undefined;
  }
  return selection.apply(resource);
}

export const sendList = (
  reply: ResponseHead,
  { startIndex, cursor }: ScimListRequest,
  resources: readonly ScimComplex[],
  { total, nextCursor }: { total: number; nextCursor: string | undefined },
): object => {
  reply.type(SCIM_MEDIA);
  return {
    schemas: [LIST_RESPONSE],
    totalResults: total,
    itemsPerPage: resources.length,
    ...(cursor === undefined ? { startIndex } : {}),
    ...(nextCursor === undefined ? {} : { nextCursor }),
    Resources: resources,
  };
};

/**
 * A resource that the log has and the read model does not have yet is no 404: the identity provider would create it again.
 * `inLog` throws 404 if the log does not have it either.
 */
export async function foundOrLate<Row>(row: Promise<Row>, inLog: () => Promise<unknown>): Promise<Row> {
  try {
    return await row;
  } catch (error) {
    if (!(error instanceof FailureError && error.failure.kind === 'notFound')) throw error;
  }
  await inLog();
  throw new FailureError(temporarilyUnavailable());
}

/** What was changed would be shown as it was before, and the identity provider would take it for refused. */
export function refuseStale(reply: ResponseHead): void {
  if (reply.hasHeader('x-stale')) throw new FailureError(temporarilyUnavailable());
}
