import { z } from 'zod';
import type { ScimListRequest, ScimPage } from '../../../../../queries/scim/list-page.ts';
import type { Lookups } from '../../../../contexts/identity/lookups.ts';
import type { Leniency } from '../../../../contexts/scim/domain/normalization.ts';
import { readPatch } from '../../../../contexts/scim/domain/patch.ts';
import type { ScimComplex } from '../../../../contexts/scim/domain/read-resource.ts';
import { readStated } from '../../../../contexts/scim/domain/read-stated.ts';
import type { PatchOperation } from '../../../../contexts/scim/domain/resolve-path.ts';
import type { ScimResourceType } from '../../../../contexts/scim/domain/schema.ts';
import type { Selection } from '../../../../contexts/scim/domain/selection.ts';
import type { ErrorCode } from '../../../../platform/kernel/error-codes.ts';
import { scimReader, scimWriter } from '../../access.ts';
import type { ScimPrincipal } from '../../principal.ts';
import { routeWith, type AnyRoute, type HandlerContext } from '../../route.ts';
import { scimErrorView, scimRefusal } from '../../scim-errors.ts';
import {
  SCIM,
  baseOf,
  leniencyFor,
  listQuery,
  listRequestOf,
  refuseStale,
  scimBody,
  scimId,
  scimListRefuses,
  scimPageView,
  scimPatchRefuses,
  scimWriteRefuses,
  searchParameters,
  selectionIn,
  selectionQuery,
  sendList,
  sendResource,
} from './scim-request.ts';

interface ScimServices {
  readonly lookups: Lookups;
}
export type ScimCall<Services> = HandlerContext<unknown, unknown, unknown, ScimPrincipal, Services>;

/** The words of one operation in the API description, beyond those that all resource types share. */
interface Described {
  readonly description?: string;
  readonly refuses?: readonly ErrorCode[];
}

export interface Showing {
  readonly selection: Selection;
  /** The address of `/scim/v2`. */
  readonly base: string;
  readonly isNew: boolean;
}

/** One resource type at `/scim/v2`: what distinguishes it from the others. `Row` is its row of the read model. */
export interface ScimResource<Services extends ScimServices, Row> {
  readonly type: ScimResourceType;
  /** `user` */
  readonly noun: string;
  /** `Users`: the last part of the path. */
  readonly plural: string;
  readonly described: Readonly<Record<'list' | 'create' | 'get' | 'replace' | 'patch' | 'remove', Described>>;
  list(call: ScimCall<Services>, request: ScimListRequest): Promise<ScimPage<Row>>;
  /** Throws 404 for a resource of another client, as all that name one. */
  get(call: ScimCall<Services>, id: string): Promise<Row>;
  /** `isNew`: nothing refers to the resource yet. */
  create(
    call: ScimCall<Services>,
    resource: ScimComplex,
    leniency: Leniency,
  ): Promise<{ readonly row: Row; readonly isNew: boolean }>;
  replace(call: ScimCall<Services>, id: string, resource: ScimComplex, leniency: Leniency): Promise<Row>;
  /** Undefined if the response is sent already: 204 without a body (RFC 7644 §3.5.2). */
  patch(
    call: ScimCall<Services>,
    id: string,
    operations: readonly PatchOperation[],
    leniency: Leniency,
    selection: Selection,
  ): Promise<Row | undefined>;
  remove(call: ScimCall<Services>, id: string): Promise<void>;
  /** The resources of these rows. */
  shown(call: ScimCall<Services>, rows: readonly Row[], showing: Showing): Promise<ScimComplex[]>;
}

const scimResource = z.looseObject({ schemas: z.array(z.string()), id: z.uuid() }).meta({ title: 'ScimResource' });

/** 20,000 members, as many as a request may name, each with its name, type and address. */
const LARGE = { mostBytes: 4 * 1024 * 1024, mostParts: 200_000 } as const;

/** The routes of a resource type (RFC 7644 §3). */
export function scimResourceRoutes<Services extends ScimServices, Row>(
  resource: ScimResource<Services, Row>,
): readonly AnyRoute<Services>[] {
  const route = routeWith<Services>();
  const { type, noun, plural, described } = resource;
  const path = `${SCIM}/${plural}`;
  const one = { path: `${path}/{id}`, params: scimId, refusal: scimRefusal, refusalView: scimErrorView } as const;
  const all = { path, refusal: scimRefusal, refusalView: scimErrorView } as const;

  const shown = async (call: ScimCall<Services>, rows: readonly Row[], selection: Selection, isNew = false) => {
    const base = await baseOf(call.principal.tenantId, call.services);
    return resource.shown(call, rows, { selection, base, isNew });
  };
  const list = async (call: ScimCall<Services>, parameters: z.output<typeof listQuery>) => {
    const wanted = listRequestOf(parameters);
    const selection = selectionIn(type, parameters);
    const page = await resource.list(call, wanted);
    const resources = (await shown(call, page.rows, selection)).map((each) => selection.apply(each));
    return sendList(call.reply, wanted, resources, page);
  };
  const send = async (call: ScimCall<Services>, row: Row, selection: Selection, isNew = false) => {
    const [sent] = await shown(call, [row], selection, isNew);
    return sendResource(call.request, call.reply, selection, sent!);
  };

  return [
    route({
      ...all,
      method: 'GET',
      access: scimReader,
      summary: `List the ${noun}s of this client`,
      ...described.list,
      query: listQuery,
      response: scimPageView,
      refuses: [...scimListRefuses, 'scim_invalid_value'],
      handle: (call) => list(call, call.query),
    }),
    route({
      ...all,
      method: 'POST',
      path: `${path}/.search`,
      access: scimReader,
      summary: `Search the ${noun}s of this client`,
      operation: `searchScim${plural}`,
      description: 'RFC 7644 §3.4.3: the parameters of the list in the body.',
      body: scimBody,
      response: scimPageView,
      refuses: scimListRefuses,
      handle: (call) => list(call, searchParameters(call.body)),
    }),
    route({
      ...all,
      ...LARGE,
      method: 'POST',
      access: scimWriter,
      summary: `Create a ${noun}`,
      ...described.create,
      query: selectionQuery,
      body: scimBody,
      status: 201,
      response: scimResource,
      refuses: [...scimWriteRefuses, ...(described.create.refuses ?? [])],
      sends: ['ETag'],
      handle: async (call) => {
        const leniency = leniencyFor(call.principal);
        const { row, isNew } = await resource.create(call, readStated(type, call.body, leniency), leniency);
        return send(call, row, selectionIn(type, call.query), isNew);
      },
    }),
    route({
      ...one,
      method: 'GET',
      access: scimReader,
      summary: `Get a ${noun}`,
      ...described.get,
      query: selectionQuery,
      response: scimResource,
      sends: ['ETag'],
      handle: async (call) => send(call, await resource.get(call, call.params.id), selectionIn(type, call.query)),
    }),
    route({
      ...one,
      ...LARGE,
      method: 'PUT',
      access: scimWriter,
      summary: `Replace a ${noun}`,
      ...described.replace,
      query: selectionQuery,
      body: scimBody,
      response: scimResource,
      refuses: scimWriteRefuses,
      sends: ['ETag'],
      handle: async (call) => {
        const leniency = leniencyFor(call.principal);
        const row = await resource.replace(call, call.params.id, readStated(type, call.body, leniency), leniency);
        refuseStale(call.reply);
        return send(call, row, selectionIn(type, call.query));
      },
    }),
    route({
      ...one,
      ...LARGE,
      method: 'PATCH',
      access: scimWriter,
      summary: `Change a ${noun}`,
      ...described.patch,
      query: selectionQuery,
      body: scimBody,
      response: scimResource,
      refuses: scimPatchRefuses,
      sends: ['ETag'],
      handle: async (call) => {
        const leniency = leniencyFor(call.principal);
        const operations = readPatch(type, call.body, leniency);
        const selection = selectionIn(type, call.query);
        const row = await resource.patch(call, call.params.id, operations, leniency, selection);
        if (row === undefined) return undefined;
        refuseStale(call.reply);
        return send(call, row, selection);
      },
    }),
    route({
      ...one,
      method: 'DELETE',
      access: scimWriter,
      summary: `Delete a ${noun}`,
      ...described.remove,
      handle: (call) => resource.remove(call, call.params.id),
    }),
  ];
}
