import type { z } from 'zod';
import type { Access } from '../access.ts';
import { conditionOf } from '../conditional-requests.ts';
import type { AnyRoute } from '../route.ts';
import { needsReauthentication } from './access-words.ts';
import { jsonSchema } from './json-schema.ts';
import { WRITTEN_TYPE, type WrittenType } from '../query-types.ts';
import { headersOfRequest } from './request-headers.ts';
import { inWords } from '../../../platform/resources/names.ts';

/**
 * Descriptions of parameters that mean the same in every route. A parameter that means something else in its route has
 * a description of its own, in its schema (`.describe`).
 */
const COMMON: Readonly<Record<string, string>> = {
  SAMLRequest: 'The message, deflated and in base64 (SAML bindings, section 3.4)',
  SAMLResponse: 'The message, deflated and in base64 (SAML bindings, section 3.4)',
  RelayState: 'Returned to the provider unchanged',
  challenge: 'SHA-256 of a secret that the caller shows when it exchanges the code, in base64url',
  days: 'How many days, back from today in the time zone of the tenant',
  domain: 'A host name, in its ASCII form',
  erase: 'True: also erase what is stored about the person',
  expires: 'When the address ends to be valid, in seconds since 1970',
  format: 'The format of the file',
  host: 'The host name by which the caller reached the service',
  iss: 'The issuer of the provider (OpenID Connect Core, section 4)',
  limit: 'At most this many rows',
  login_hint: 'Passed to the provider: the account to sign in with',
  name: 'The name of the file',
  q: 'The text to search for',
  reauthenticate: 'True: the provider must ask the person again',
  return_to: 'Where the browser goes after the sign-in; an address of this service',
  search: 'Only rows that contain this text',
  signature: 'The signature of the address',
  slug: 'The short name of the organization',
  state: 'The value that the sign-in began with',
  subdomain: 'A host name, in its ASCII form',
  target_link_uri: 'Where the browser goes after the sign-in (OpenID Connect Core, section 4)',
  tenant_id: 'The tenant, if the installation has several',
  timeframe: 'The interval, back from now',
};

/** By the name of the parameter, if its schema has no description. */
function wordsFor(name: string, place: 'path' | 'query'): string {
  const common = COMMON[name];
  if (common) return common;
  if (place === 'query') return `Only rows with this ${name.replaceAll('_', ' ')}`;
  return /I[dD]$/.test(name) ? `Id of the ${inWords(name.slice(0, -2))}` : inWords(name);
}

/** Everything besides the body that a request may carry. */
export const parametersOf = (declared: AnyRoute<never>): object[] => [
  ...inPath(declared),
  ...inQuery(declared),
  ...headersOfRequest(declared),
  ...reauthenticationHeader(declared.access),
  ...conditionHeader(declared),
];

type Described = Readonly<Record<string, { readonly description?: string; readonly [WRITTEN_TYPE]?: WrittenType }>>;

function propertiesOf(schema: z.ZodType | undefined): { properties: Described; required: readonly string[] } {
  const { properties = {}, required = [] } = schema
    ? (jsonSchema(schema, 'input') as { properties?: Described; required?: string[] })
    : {};
  return { properties, required };
}

function parameter(name: string, place: 'path' | 'query', required: boolean, properties: Described): object {
  const {
    description = wordsFor(name, place),
    [WRITTEN_TYPE]: written,
    ...schema
  } = properties[name] ?? { type: 'string' };
  return { name, in: place, required, description, schema: written ?? schema };
}

function inPath({ path, params }: AnyRoute<never>): object[] {
  const { properties } = propertiesOf(params);
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => parameter(name!, 'path', true, properties));
}

function inQuery({ query }: AnyRoute<never>): object[] {
  const { properties, required } = propertiesOf(query);
  return Object.keys(properties).map((name) => parameter(name, 'query', required.includes(name), properties));
}

const CONDITION_WORDS = {
  'If-Match': 'An `ETag`: 412 if the state has changed since',
  'If-None-Match': 'An `ETag`: 304 if it is still current',
} as const;

/** OP-346. */
function conditionHeader(declared: AnyRoute<never>): object[] {
  const name = conditionOf(declared);
  if (!name) return [];
  return [{ name, in: 'header', required: false, description: CONDITION_WORDS[name], schema: { type: 'string' } }];
}

/** Also in `security`. Only a parameter can describe when the header is required. */
function reauthenticationHeader(access: Access): object[] {
  if (!needsReauthentication(access)) return [];
  const where = access.kind === 'admin' ? access.reauthWhere : undefined;
  const lifetime =
    access.kind === 'org'
      ? 'For one request, valid for 300 seconds in this session'
      : 'Reusable, valid for 300 seconds in this session';
  return [
    {
      name: 'X-ReAuth-Token',
      in: 'header',
      required: where === undefined,
      description: `A re-authentication token. ${lifetime}. ${where === undefined ? 'Always required.' : `Required if ${where}.`}`,
      schema: { type: 'string' },
    },
  ];
}
