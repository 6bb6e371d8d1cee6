import { conditionOf } from '../conditional-requests.ts';
import type { AnyRoute } from '../route.ts';
import { scimErrorView } from '../scim-errors.ts';
import { accessInWords, securityOf } from './access-words.ts';
import { jsonSchema } from './json-schema.ts';
import { operationIdOf } from './operation-id.ts';
import { parametersOf } from './parameters.ts';
import { refusalsOf, type NamedRefusal } from './refusals.ts';
import {
  headersOfNotModified,
  headersOfRefusal,
  headersOfSuccess,
  headersOfUnseen,
  sharedBy,
} from './response-headers.ts';

/** Responses that several operations share, by name. */
export type SharedResponses = Record<string, object>;

/** The description of a route, all of it from its declaration. */
export function operationOf(area: string, declared: AnyRoute<never>, shared: SharedResponses): object {
  const { summary, description, access } = declared;
  return {
    tags: [area],
    summary,
    description: [description, accessInWords(access)].filter(Boolean).join('\n\n'),
    operationId: operationIdOf(declared),
    security: securityOf(access),
    ...(access.kind === 'admin' ? { 'x-permission': access.permission } : {}),
    parameters: parametersOf(declared),
    ...requestBodyOf(declared),
    responses: {
      ...successesOf(declared),
      ...Object.fromEntries(
        refusalsOf(declared).map((refused) => [refused.status, shownRefusal(refused, declared, shared)]),
      ),
      ...otherwiseOf(declared),
      default: shownRefusal(otherRefusal(declared), declared, shared),
    },
  };
}

const otherRefusal = (declared: AnyRoute<never>): NamedRefusal => ({
  status: 500,
  name: `OtherError${sharedBy(declared)}`,
  response: {
    description: 'Any other error, such as 408, 414, 431 and 500: `error` says what is wrong',
    headers: headersOfRefusal(declared, 'default'),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  },
});

/** A refusal whose body a protocol defines is described in place, every other one is shared. */
function shownRefusal(
  { name, response }: NamedRefusal,
  { access, refusal, refusalView }: AnyRoute<never>,
  shared: SharedResponses,
) {
  if (access.kind === 'scim')
    return { ...response, content: { [SCIM_MEDIA]: { schema: jsonSchema(scimErrorView, 'output') } } };
  if (!refusal) {
    shared[name] = response;
    return { $ref: `#/components/responses/${name}` };
  }
  const schema = refusalView ? jsonSchema(refusalView, 'output') : {};
  return { ...response, content: { 'application/json': { schema } } };
}

/** SCIM has a media type and an error of its own (RFC 7644 §3.1, §3.12). */
const SCIM_MEDIA = 'application/scim+json';
const SCIM_BODIES = [SCIM_MEDIA, 'application/json'];
const mediaOf = ({ access }: AnyRoute<never>): string => (access.kind === 'scim' ? SCIM_MEDIA : 'application/json');

/** By `consumes` of a route. */
export const MEDIA = {
  json: ['application/json'],
  multipart: ['multipart/form-data'],
  form: ['application/x-www-form-urlencoded'],
  'json-or-form': ['application/json', 'application/x-www-form-urlencoded'],
} as const;

export const acceptedMediaOf = ({ access, consumes = 'json' }: AnyRoute<never>): readonly string[] =>
  access.kind === 'scim' ? SCIM_BODIES : MEDIA[consumes];

function requestBodyOf(declared: AnyRoute<never>): object {
  const { body, bodyView = body } = declared;
  if (!body || !bodyView) return {};
  const schema = jsonSchema(bodyView, 'input');
  return {
    requestBody: {
      required: !body.safeParse(undefined).success && !body.safeParse({}).success,
      content: Object.fromEntries(acceptedMediaOf(declared).map((media) => [media, { schema }])),
    },
  };
}

const isJson = (response: AnyRoute<never>['response']): boolean => response !== undefined && !('media' in response);

/** The status that the route declares, and those that the framework sends in its place. */
function successesOf(declared: AnyRoute<never>): object {
  const { method, access, response, sends = [], status = response ? 200 : 204 } = declared;
  const headers = headersOfSuccess(declared);
  const isRead = method === 'GET';
  const canBeUnseen = !isRead && !['open', 'scim'].includes(access.kind) && status !== 202 && isJson(response);
  return {
    [status]: {
      description: status >= 300 ? 'A redirect' : 'Success',
      headers,
      ...contentOf(response, mediaOf(declared), declared.otherMedia),
    },
    ...(status < 300 && sends.includes('Location')
      ? { [isRead ? 302 : 303]: { description: 'A redirect', headers } }
      : {}),
    ...(canBeUnseen ? { 202: { ...UNSEEN, headers: headersOfUnseen(declared) } } : {}),
    ...(conditionOf(declared) === 'If-None-Match'
      ? { 304: { description: NOT_MODIFIED, headers: headersOfNotModified(declared) } }
      : {}),
  };
}

const otherwiseOf = (declared: AnyRoute<never>): object =>
  Object.fromEntries(
    Object.entries(declared.otherwise ?? {}).map(([status, view]) => [
      status,
      {
        description: Number(status) >= 400 ? 'Not successful, with a body of its own' : 'Success',
        headers: Number(status) >= 400 ? headersOfRefusal(declared, Number(status)) : headersOfSuccess(declared),
        ...contentOf(view),
      },
    ]),
  );

const NOT_MODIFIED = 'The state that `If-None-Match` names is still current';

/** Without a schema: a generated client would have to tell two shapes apart in each of its writes. */
const UNSEEN = {
  description:
    'The write is stored, but the read models do not show it yet. The body is `{"accepted": true, "position": "…"}`, the position is that of `X-Log-Position`.',
};

function contentOf(
  response: AnyRoute<never>['response'],
  jsonMedia = 'application/json',
  otherMedia: AnyRoute<never>['otherMedia'] = {},
): object {
  if (!response) return {};
  const others = Object.fromEntries(
    Object.entries(otherMedia).map(([media, view]) => [
      media,
      view === 'file' ? {} : { schema: jsonSchema(view, 'output') },
    ]),
  );
  if ('media' in response) {
    const { media, schema } = response;
    return { content: { [media]: schema ? { schema: jsonSchema(schema, 'output') } : {}, ...others } };
  }
  return { content: { [jsonMedia]: { schema: jsonSchema(response, 'output') }, ...others } };
}
