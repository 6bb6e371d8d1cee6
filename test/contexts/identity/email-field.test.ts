import { describe, expect, it } from 'vitest';
import { emailField } from '../../../src/contexts/identity/domain/password-rule.ts';

describe('an e-mail address', () => {
  it.each([
    'ann@acme.example',
    'a.b+c_d-e@mail.acme.example',
    "o'brien@acme.example",
    'r&d@acme.example',
    'a!b@acme.example',
    'a/b=c?d@acme.example',
    'ann_acme.example#EXT#@tenant.onmicrosoft.example',
    'a@foo.xn--p1ai',
    'a@xn--bcher-kva.example',
    `${'a'.repeat(64)}@acme.example`,
  ])('may be %s', (text) => {
    expect(emailField.safeParse(text).success).toBe(true);
  });

  it.each([
    '',
    'ann',
    'ann@',
    '@acme.example',
    'ann@acme',
    'ann@acme.',
    'ann@.example',
    'ann@-acme.example',
    'ann@acme-.example',
    'ann@acme.e',
    'ann@acme.123',
    '.ann@acme.example',
    'ann.@acme.example',
    'a..b@acme.example',
    'a b@acme.example',
    'a@b@acme.example',
    'a<b@acme.example',
    'a,b@acme.example',
    'a"b@acme.example',
    'a:b@acme.example',
    'ann@acme.example\r\nDATA',
    'ann@acme.example\n',
    'ann@b\u00fccher.example',
    '\u00e4nn@acme.example',
    `${'a'.repeat(250)}@acme.example`,
    `${'a-'.repeat(200_000)}@`,
    `ann@${'a-'.repeat(200_000)}`,
    `ann@${'a.'.repeat(200_000)}`,
  ])('is not %j', (text) => {
    expect(emailField.safeParse(text).success).toBe(false);
  });
});
