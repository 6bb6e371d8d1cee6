import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ssoRefusals } from '../../src/contexts/sso/domain/refusals.ts';

const FOLDER = 'src/contexts/sso';
const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
const sources = [...files.map((name) => `${FOLDER}/${name}`), 'src/contexts/identity/sso-sign-in.ts'].map((file) =>
  readFileSync(file, 'utf8'),
);
const page = readFileSync('docs/reference/sso-refusals.md', 'utf8');
/** What stands in the first column of a table. */
const explained = new Set(
  [...page.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  ),
);

const found = (pattern: RegExp, among = sources): string[] =>
  among.flatMap((source) => [...source.matchAll(pattern)].map(([, name]) => name!));

/** They translate what a library does not accept. */
const translations = ['openid-refusals', 'openid-token-refusals', 'oidc-sign-in'].map((name) =>
  readFileSync(`${FOLDER}/${name}.ts`, 'utf8'),
);

/** The details that the code writes as they are, and those of a response that SAML refuses. */
const details = [
  ...found(/new SsoRefused\(\s*'\w+',\s*'([^']+)'/g),
  ...found(/new LogoutRefused\('([^']+)'/g),
  ...found(/(?:refuseSaml|new SamlRefused)\(\s*'([^']+)'/g),
  ...found(/^ {2}\w+: '(\w+ certificate|certificate [^']+)'/gm),
  ...found(/\brefused\(\s*'([^']+)'/g, translations),
  ...found(/(?:return|[?:]) '([a-z_]+(?: [a-z_]+)*)';/g, translations),
  ...found(/^ {2}\w+: '(no \w+|the address [^']+)'/gm, translations),
  ...found(/^const [A-Z_]+ = '([^']+)';/gm, translations),
];

it('every reason and detail of a refused single sign-on is explained, with what to do', () => {
  expect(details.length).toBeGreaterThan(60);
  expect([...new Set([...ssoRefusals, ...details])].filter((name) => !explained.has(name))).toEqual([]);
});

it('names of claims and codes of the library are explained', () => {
  const claims = ['iss', 'aud', 'azp', 'exp', 'nbf', 'iat', 'auth_time', 'nonce', 'sub', 'jti', 'sid', 'events'];
  const library = [
    'unexpected status',
    'token response',
    'userinfo response',
    'userinfo refused',
    'unreadable error',
    'the address is not public',
  ];
  expect([...claims, ...library].filter((name) => !explained.has(name))).toEqual([]);
});
