import {
  binaryAttribute,
  booleanAttribute,
  complexAttribute,
  listAttribute,
  referenceAttribute,
  stringAttribute,
  type ScimResourceType,
  type ScimSchema,
} from './schema.ts';

export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const ENTERPRISE_USER = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

/** RFC 7643 §4.1. */
const userSchema: ScimSchema = {
  id: USER,
  name: 'User',
  description: 'User Account',
  attributes: [
    stringAttribute('userName', 'The name by which the client knows the person, often an e-mail address.', {
      required: true,
      uniqueness: 'server',
    }),
    complexAttribute('name', 'The parts of the name of the person.', [
      stringAttribute('formatted', 'The whole name.'),
      stringAttribute('familyName', 'The family name.'),
      stringAttribute('givenName', 'The given name.'),
      stringAttribute('middleName', 'The middle names.'),
      stringAttribute('honorificPrefix', 'A title in front of the name.'),
      stringAttribute('honorificSuffix', 'A title behind the name.'),
    ]),
    stringAttribute('displayName', 'The name of the person, for people.'),
    stringAttribute('nickName', 'How the person is called.'),
    referenceAttribute('profileUrl', 'A page about the person.', { referenceTypes: ['external'] }),
    stringAttribute('title', 'The job title.'),
    stringAttribute('userType', 'The relation of the person to the organization.'),
    stringAttribute('preferredLanguage', 'The preferred language.'),
    stringAttribute('locale', 'The region of the person.'),
    stringAttribute('timezone', 'The time zone of the person.'),
    booleanAttribute('active', 'Whether the person works here. False ends devices, sessions and codes of the person.'),
    stringAttribute('password', 'Accepted and discarded: people do not sign in here.', {
      mutability: 'writeOnly',
      returned: 'never',
      caseExact: true,
    }),
    listAttribute('emails', 'E-mail addresses. The primary one is that of the employee.', {
      types: ['work', 'home', 'other'],
    }),
    listAttribute('phoneNumbers', 'Telephone numbers.', { types: ['work', 'home', 'mobile', 'fax', 'pager', 'other'] }),
    listAttribute('ims', 'Addresses for instant messages.'),
    listAttribute('photos', 'Pictures of the person.', {
      types: ['photo', 'thumbnail'],
      value: referenceAttribute('value', 'The address of the picture.', { referenceTypes: ['external'] }),
    }),
    complexAttribute(
      'addresses',
      'Postal addresses.',
      [
        stringAttribute('formatted', 'The whole address.'),
        stringAttribute('streetAddress', 'Street and number.'),
        stringAttribute('locality', 'The town.'),
        stringAttribute('region', 'The state or region.'),
        stringAttribute('postalCode', 'The postal code.'),
        stringAttribute('country', 'The country.'),
        stringAttribute('type', 'What the address is for.', { canonicalValues: ['work', 'home', 'other'] }),
        booleanAttribute('primary', 'Whether this is the preferred address.'),
      ],
      { multiValued: true },
    ),
    complexAttribute(
      'groups',
      'The groups of the person that this client provisioned.',
      [
        stringAttribute('value', 'The id of the group.', { mutability: 'readOnly', caseExact: true }),
        referenceAttribute('$ref', 'The address of the group.', { mutability: 'readOnly', referenceTypes: ['Group'] }),
        stringAttribute('display', 'The name of the group.', { mutability: 'readOnly' }),
        stringAttribute('type', 'How the person belongs to the group.', {
          mutability: 'readOnly',
          canonicalValues: ['direct'],
        }),
      ],
      { multiValued: true, mutability: 'readOnly' },
    ),
    listAttribute('entitlements', 'What the person is entitled to.'),
    listAttribute('roles', 'The roles of the person.'),
    listAttribute('x509Certificates', 'Certificates of the person.', {
      value: binaryAttribute('value', 'The certificate, in DER.'),
    }),
  ],
};

/** RFC 7643 §4.3. */
const enterpriseUserSchema: ScimSchema = {
  id: ENTERPRISE_USER,
  name: 'EnterpriseUser',
  description: 'Enterprise User',
  attributes: [
    stringAttribute('employeeNumber', 'The number of the person in the organization.'),
    stringAttribute('costCenter', 'The cost center.'),
    stringAttribute('organization', 'The organization.'),
    stringAttribute('division', 'The division.'),
    stringAttribute('department', 'The department.'),
    complexAttribute('manager', 'The manager of the person.', [
      stringAttribute('value', 'The id of the manager.', { caseExact: true }),
      referenceAttribute('$ref', 'The address of the manager.', { referenceTypes: ['User'] }),
      stringAttribute('displayName', 'The name of the manager.'),
    ]),
  ],
};

export const userType: ScimResourceType = {
  name: 'User',
  endpoint: '/Users',
  description: 'User Account',
  schema: userSchema,
  extensions: [enterpriseUserSchema],
};
