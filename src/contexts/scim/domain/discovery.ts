import { groupType } from './group-schema.ts';
import type { ScimAttribute, ScimResourceType, ScimSchema } from './schema.ts';
import { userType } from './user-schema.ts';

export const resourceTypes: readonly ScimResourceType[] = [userType, groupType];
export const DEFAULT_COUNT = 100;
export const MAX_COUNT = 1_000;

const SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Schema';
const RESOURCE_TYPE = 'urn:ietf:params:scim:schemas:core:2.0:ResourceType';
const CONFIG = 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig';
export const LIST_RESPONSE = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

/** RFC 7643 §5. What is written here is what the service does. */
export const serviceProviderConfig = (base: string, documentationUri: string) => ({
  schemas: [CONFIG],
  documentationUri,
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: MAX_COUNT },
  changePassword: { supported: false },
  sort: { supported: true },
  etag: { supported: true },
  // RFC 9865 §4.
  pagination: {
    cursor: true,
    index: true,
    defaultPaginationMethod: 'index',
    defaultPageSize: DEFAULT_COUNT,
    maxPageSize: MAX_COUNT,
  },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'OAuth 2.0 bearer token',
      description: 'An access token from the token endpoint, by client credentials',
      specUri: 'https://www.rfc-editor.org/info/rfc6750',
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
});

/** RFC 7643 §6. */
export const resourceTypeView = (
  { name, endpoint, description, schema, extensions }: ScimResourceType,
  base: string,
) => ({
  schemas: [RESOURCE_TYPE],
  id: name,
  name,
  endpoint,
  description,
  schema: schema.id,
  schemaExtensions: extensions.map(({ id }) => ({ schema: id, required: false })),
  meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${name}` },
});

/** RFC 7643 §7: `caseExact` and `uniqueness` say nothing about booleans and complex attributes. */
function attributeView(attribute: ScimAttribute): object {
  const { caseExact, uniqueness, subAttributes, ...view } = attribute;
  const isText = attribute.type !== 'boolean' && attribute.type !== 'complex';
  return {
    ...view,
    ...(isText ? { caseExact, uniqueness } : {}),
    ...(subAttributes ? { subAttributes: subAttributes.map(attributeView) } : {}),
  };
}

export const schemaView = ({ id, name, description, attributes }: ScimSchema, base: string) => ({
  schemas: [SCHEMA],
  id,
  name,
  description,
  attributes: attributes.map(attributeView),
  meta: { resourceType: 'Schema', location: `${base}/Schemas/${id}` },
});

export const allSchemas: readonly ScimSchema[] = resourceTypes.flatMap(({ schema, extensions }) => [
  schema,
  ...extensions,
]);

export const listResponse = (resources: readonly object[], total = resources.length, startIndex = 1) => ({
  schemas: [LIST_RESPONSE],
  totalResults: total,
  startIndex,
  itemsPerPage: resources.length,
  Resources: resources,
});
