/** The definition of an attribute (RFC 7643 §7). The schemas are data: what is validated is what is advertised. */
export interface ScimAttribute {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'complex' | 'reference' | 'dateTime' | 'binary';
  readonly multiValued: boolean;
  readonly description: string;
  readonly required: boolean;
  readonly caseExact: boolean;
  readonly mutability: 'readWrite' | 'readOnly' | 'writeOnly' | 'immutable';
  readonly returned: 'default' | 'always' | 'never' | 'request';
  readonly uniqueness: 'none' | 'server' | 'global';
  readonly canonicalValues?: readonly string[];
  readonly referenceTypes?: readonly string[];
  readonly subAttributes?: readonly ScimAttribute[];
}

export interface ScimSchema {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly ScimAttribute[];
}

export interface ScimResourceType {
  readonly name: 'User' | 'Group';
  readonly endpoint: '/Users' | '/Groups';
  readonly description: string;
  readonly schema: ScimSchema;
  readonly extensions: readonly ScimSchema[];
}

type Details = Partial<Omit<ScimAttribute, 'name' | 'type' | 'description'>>;

const usual = {
  multiValued: false,
  required: false,
  caseExact: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
} as const;

const attribute =
  (type: ScimAttribute['type'], of: Details = {}) =>
  (name: string, description: string, details: Details = {}): ScimAttribute => ({
    name,
    type,
    description,
    ...usual,
    ...of,
    ...details,
  });

export const stringAttribute = attribute('string');
export const booleanAttribute = attribute('boolean');
export const referenceAttribute = attribute('reference', { caseExact: true });
export const binaryAttribute = attribute('binary', { caseExact: true });
export const dateTimeAttribute = attribute('dateTime', { caseExact: true });
export const complexAttribute = (
  name: string,
  description: string,
  subAttributes: readonly ScimAttribute[],
  details: Details = {},
): ScimAttribute => attribute('complex')(name, description, { ...details, subAttributes });

/** A list of values with `type`, `primary` and `display` (RFC 7643 §2.4). */
export const listAttribute = (
  name: string,
  description: string,
  {
    types = [],
    value = stringAttribute('value', 'The value.'),
  }: { types?: readonly string[]; value?: ScimAttribute } = {},
): ScimAttribute =>
  complexAttribute(
    name,
    description,
    [
      value,
      stringAttribute('display', 'A name of the value, for people.'),
      stringAttribute('type', 'What the value is for.', types.length === 0 ? {} : { canonicalValues: types }),
      booleanAttribute('primary', 'Whether this is the preferred value. At most one is.'),
    ],
    { multiValued: true },
  );

/** Names of attributes are compared case-insensitively (RFC 7643 §2.1). Only names of the schema are ever found. */
export const attributeNamed = (among: readonly ScimAttribute[], name: string): ScimAttribute | undefined =>
  among.find((each) => each.name.length === name.length && each.name.toLowerCase() === name.toLowerCase());

/** Common attributes (RFC 7643 §3.1), which no schema lists. */
export const commonAttributes: readonly ScimAttribute[] = [
  referenceAttribute('schemas', 'The schemas of the resource.', {
    multiValued: true,
    returned: 'always',
    mutability: 'readOnly',
  }),
  stringAttribute('id', 'The id of the resource here.', {
    caseExact: true,
    mutability: 'readOnly',
    returned: 'always',
    uniqueness: 'server',
  }),
  stringAttribute('externalId', 'The id of the resource at the client.', { caseExact: true }),
  complexAttribute(
    'meta',
    'Facts about the resource.',
    [
      stringAttribute('resourceType', 'The name of the resource type.', { caseExact: true, mutability: 'readOnly' }),
      dateTimeAttribute('created', 'When the resource was created.', { mutability: 'readOnly' }),
      dateTimeAttribute('lastModified', 'When the resource changed.', { mutability: 'readOnly' }),
      referenceAttribute('location', 'The address of the resource.', { mutability: 'readOnly' }),
      stringAttribute('version', 'The entity tag of the resource.', { caseExact: true, mutability: 'readOnly' }),
    ],
    { mutability: 'readOnly' },
  ),
];

export const attributesOf = ({ schema }: ScimResourceType): readonly ScimAttribute[] => [
  ...commonAttributes,
  ...schema.attributes,
];

export const extensionNamed = ({ extensions }: ScimResourceType, urn: string): ScimSchema | undefined =>
  extensions.find(({ id }) => id.toLowerCase() === urn.toLowerCase());
