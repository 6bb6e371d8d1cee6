import { complexAttribute, referenceAttribute, stringAttribute, type ScimResourceType } from './schema.ts';

export const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';

/** RFC 7643 §4.2. Members are people: groups in groups are not supported. */
export const groupType: ScimResourceType = {
  name: 'Group',
  endpoint: '/Groups',
  description: 'Group',
  schema: {
    id: GROUP,
    name: 'Group',
    description: 'Group',
    attributes: [
      stringAttribute('displayName', 'The name of the group, unique in the tenant.', {
        required: true,
        uniqueness: 'server',
      }),
      complexAttribute(
        'members',
        'The people in the group. Leave them out with `excludedAttributes=members`.',
        [
          stringAttribute('value', 'The id of the person.', { mutability: 'immutable', caseExact: true }),
          referenceAttribute('$ref', 'The address of the person.', {
            mutability: 'immutable',
            referenceTypes: ['User'],
          }),
          stringAttribute('type', 'The resource type of the member.', {
            mutability: 'immutable',
            canonicalValues: ['User'],
          }),
          stringAttribute('display', 'The name of the person.', { mutability: 'readOnly' }),
        ],
        { multiValued: true },
      ),
    ],
  },
  extensions: [],
};
