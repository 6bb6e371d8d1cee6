import { describe, expect, it } from 'vitest';
import { employeeEmailField } from '../../../src/contexts/employees/domain/employee-email.ts';
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

  it('of an employee has a host in ASCII, whatever script it was given in', () => {
    expect(employeeEmailField.parse('Ann@B\u00fccher.example')).toBe('Ann@xn--bcher-kva.example');
    expect(employeeEmailField.parse(' Ann@Acme.Example')).toBe('Ann@Acme.Example');
    expect(employeeEmailField.safeParse(`ann@${'\u00fc'.repeat(300)}.example`).success).toBe(false);
  });

  it('by which somebody signs in is not taken for another one that looks like it', () => {
    expect(emailField.safeParse('ann@\uff41cme.example').success).toBe(false);
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
    'ann@b\u00fccher.example',
    'ann@acme.example\r\nDATA',
    'ann@acme.example\n',
    '\u00e4nn@acme.example',
    `${'a'.repeat(250)}@acme.example`,
    `${'a-'.repeat(200_000)}@`,
    `ann@${'a-'.repeat(200_000)}`,
    `ann@${'a.'.repeat(200_000)}`,
  ])('is not %j', (text) => {
    expect(emailField.safeParse(text).success).toBe(false);
  });
});
