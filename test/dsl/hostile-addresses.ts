/** No web addresses, in forms that a parser forgives, or refuses by throwing. */
export const NO_ADDRESSES = [
  '',
  'nope',
  'splunk.acme.example',
  'http://',
  'https:',
  'https:///',
  'https:a.example',
  'https:/a.example',
  'https:\\\\a.example',
  'https://a b',
  'https://a.example/\tx',
  'https://a.example:99999',
  'https://[::1',
  'https://[fe80::1%25lo]:1/x',
  'https://xn--a',
  '//a.example',
  'ftp://a.example',
  'mailto:a@b.example',
  'javascript:alert(1)',
  'data:,x',
  'urn:a:b',
  'file:///etc/passwd',
];

/** Addresses with credentials. They would be stored, shown and logged with the address. */
export const ADDRESSES_WITH_CREDENTIALS = [
  'https://user:pw@a.example/',
  'https://user@a.example',
  'https://:pw@a.example',
  'https://@a.example',
  'https://a.example\\@b.example',
];
