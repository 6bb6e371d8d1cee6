import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { domainToASCII } from 'node:url';
import { describe, expect, it } from 'vitest';
import { acceptedDays, admitBatch } from '../../../src/contexts/telemetry/domain/admission.ts';
import { inChunks } from '../../../src/contexts/telemetry/domain/chunks.ts';
import { withoutSecrets, hostName } from '../../../src/platform/web-addresses/page-address.ts';
import { NOW } from '../../dsl/given.ts';
import { hashOf, login, reportedLogin } from '../../dsl/observations.ts';

const HOUR = 3_600_000;
const WIPE = '99999999-9999-4999-8999-999999999999';
const after = (hours: number) => new Date(NOW + hours * HOUR).toISOString();
const judge = (...items: unknown[]) =>
  admitBatch(items, {
    now: NOW,
    days: 89,
    wipeId: WIPE,
    explain: ({ issues }) => ({ error: `bad ${issues[0]?.path.join('.')}`, field: issues[0]?.path.join('.') ?? null }),
  });
const admitted = (...items: unknown[]) => [...judge(...items).days.values()].flat();
const errorsOf = (...items: unknown[]) => judge(...items).rejected.map(({ error }) => error);

describe('the admission of a telemetry batch', () => {
  it('accepts a host in letters of Latin-1 also in a warm process', () => {
    const page = () => reportedLogin({ domain: null, url: 'https://bücher.example/straße' });
    // `URL.canParse` of Node 20 refuses such hosts once its caller is optimized, after some 8,000 calls.
    for (let round = 0; round < 20_000; round += 1) withoutSecrets(page().url);
    expect(errorsOf(page())).toEqual([]);
    expect(admitted(page())).toMatchObject([{ url: 'https://bücher.example/straße' }]);
  });

  it('accepts every kind that an extension may report', () => {
    const data: Record<string, unknown> = {
      navigation: {
        title: 'Shop',
        referrerDomain: 'Search.Example',
        technologies: [{ name: 'nginx', version: '1.27' }],
        isNewSite: true,
      },
      credential_attempt: {
        username: null,
        passwordHash: hashOf('one').toUpperCase(),
        isBreached: true,
        action: 'warn',
        userDecision: 'proceeded',
        policyId: randomUUID(),
      },
      auth_flow: {
        provider: 'entra_id',
        method: 'oidc',
        relyingParty: 'app.example',
        mfaObserved: true,
        outcome: 'success',
      },
      extension_inventory: {
        extensions: [
          { extensionId: 'abc', name: 'A', version: '1', publisher: null, permissions: ['tabs'], isEnabled: true },
        ],
      },
      extension_event: { extensionId: 'abc', change: 'permissions_changed' },
      policy_decision: { signals: ['phishing_signal'], action: 'block', userDecision: 'cancelled' },
      clickfix_detected: { signatureId: randomUUID(), snippet: 'powershell -enc AAAA' },
      canary_cookie_triggered: { cookieId: randomUUID() },
      screenshot: undefined,
      wipe_completed: { wipeId: WIPE },
    };
    const items = Object.entries(data).map(([kind, fields]) => ({
      eventId: randomUUID(),
      kind,
      occurredAt: after(0),
      domain: 'Shop.Example.',
      data: fields,
    }));
    const { rejected, days } = judge(...items);
    expect(rejected).toEqual([]);
    expect([...days.keys()]).toEqual(['2026-06-01']);
    const observations = admitted(...items);
    expect(observations.map(({ kind }) => kind)).toEqual(Object.keys(data));
    expect(observations.map(({ domain }) => domain)).toEqual(items.map(() => 'shop.example'));
    expect(observations[0]).toMatchObject({ referrerDomain: 'search.example', isNewSite: true });
    expect(observations[1]).toMatchObject({ passwordHash: hashOf('one'), action: 'warn' });
  });

  it.each([
    'https://shop.example/x',
    'http://shop.example',
    'https://SHOP.example:8443/x',
    'https://www.shop.example/',
    'https://shop.example?x#y',
    'https://user:pw@shop.example/',
  ])('accepts %s as a page of shop.example', (url) => {
    expect(admitted(reportedLogin({ domain: 'shop.example', url }))[0]?.url).not.toBeNull();
  });

  it.each([
    ['shop.example', 'http://e.vil/'],
    ['shop.example', 'https://shop.example@e.vil/'],
    ['shop.example', 'https://shop.example:443@e.vil/'],
    ['shop.example', 'https://shop.example.e.vil/'],
    ['shop.example', 'https://eshop.example/'],
    ['www.shop.example', 'https://shop.example/'],
    ['github.io', 'https://evil.github.io/'],
    ['shop.example', 'ftp://shop.example/x'],
    ['shop.example', 'chrome-extension://shop.example/x'],
    ['shop.example', 'file://shop.example/x'],
  ])('accepts what happened at %s, without the address %s that lists would show as a link', (domain, url) => {
    expect(admitted(reportedLogin({ domain, url }))).toMatchObject([{ domain, url: null, isBreached: false }]);
    const [visit] = admitted({
      eventId: randomUUID(),
      kind: 'navigation',
      occurredAt: after(0),
      domain,
      url,
      data: { title: 'Sign in here' },
    });
    expect(visit).toMatchObject({ domain, url: null, title: null });
  });

  it.each([
    ['app.example', 'app.example'],
    [' https://e.vil/app.example', 'e.vil'],
    ['urn:amazon:webservices', 'urn:amazon:webservices'],
    [null, null],
  ])('reduces the relying party %s, which lists would show as a host, to: %s', (relyingParty, kept) => {
    const data = { provider: 'okta', method: 'saml', relyingParty, mfaObserved: true, outcome: 'success' };
    expect(
      admitted({ eventId: randomUUID(), kind: 'auth_flow', occurredAt: after(0), domain: 'login.example', data }),
    ).toMatchObject([{ relyingParty: kept }]);
  });

  it('reads no host from an address that is not http or https', () => {
    const [one] = admitted({
      eventId: randomUUID(),
      kind: 'navigation',
      occurredAt: after(0),
      url: 'chrome-extension://shop.example/page',
    });
    expect(one).toMatchObject({ domain: null, url: 'chrome-extension://shop.example/page' });
  });

  it('derives the site of a login from its address, and rejects a login without any', () => {
    expect(admitted(reportedLogin({ domain: undefined, url: 'https://Login.Example:8443/x' }))[0]?.domain).toBe(
      'login.example',
    );
    expect(errorsOf(reportedLogin({ domain: undefined, url: undefined }))).toEqual(['bad domain']);
  });

  it.each([
    ['an id that is no UUID', { eventId: 'one' }, 'bad eventId'],
    ['an unknown kind', { kind: 'keystrokes' }, 'bad kind'],
    ['a time that is none', { occurredAt: 'yesterday' }, 'bad occurredAt'],
    ['a domain that is none', { domain: 'shop example' }, 'bad domain'],
    ['an address that is none', { url: 'shop.example/login' }, 'bad url'],
    ['an address that is content', { url: 'javascript:alert(1)' }, 'bad url'],
    ['an address of endless length', { url: `https://shop.example/${'a'.repeat(2_100)}` }, 'bad url'],
    ['data that is missing', { data: undefined }, 'bad data'],
    [
      'a digest that is none',
      { data: { username: 'kim', passwordHash: 'abc', isBreached: false } },
      'validation failed: data.passwordHash: must be 64 hexadecimal digits',
    ],
    [
      'an unknown action',
      { data: { username: 'kim', passwordHash: hashOf('one'), isBreached: false, action: 'ignore' } },
      'bad data.action',
    ],
    [
      'a time more than a day ahead',
      { occurredAt: after(24.01) },
      'validation failed: occurredAt: must not be more than 24 hours ahead',
    ],
    [
      'a time before retention',
      { occurredAt: after(-89 * 24 - 0.01) },
      'validation failed: occurredAt: is older than telemetry is kept',
    ],
  ])('rejects %s, and only that', (_what, over, error) => {
    const [good, bad] = [reportedLogin(), reportedLogin(over)];
    const { rejected, days } = judge(good, bad);
    expect(rejected).toMatchObject([{ index: 1, eventId: over.hasOwnProperty('eventId') ? null : bad.eventId, error }]);
    expect([...days.values()].flat().map(({ eventId }) => eventId)).toEqual([good.eventId]);
  });

  it.each([
    ['a NUL', { title: 'a\0b' }, 'data.title'],
    ['a lone surrogate', { title: 'a\ud83d' }, 'data.title'],
    ['a broken name', { 'a\udc00': 1 }, 'data'],
    ['one in a list', { technologies: [{ name: '\0' }] }, 'data.technologies.0.name'],
  ])('rejects only the event with %s', (_what, data, field) => {
    const broken = { eventId: randomUUID(), kind: 'navigation', occurredAt: after(0), data };
    const { rejected } = judge(reportedLogin(), broken, reportedLogin());
    expect(rejected).toEqual([
      {
        index: 1,
        eventId: broken.eventId,
        code: 'broken_text',
        field,
        error: `validation failed: ${field}: contains characters that are not text`,
      },
    ]);
    expect(admitted(reportedLogin(), broken, reportedLogin())).toHaveLength(2);
  });

  it('cuts optional texts that are too long, by characters, instead of losing the event', () => {
    const long = '🔑'.repeat(3_000);
    const of = (kind: string, data: object) =>
      admitted({ eventId: randomUUID(), kind, occurredAt: after(0), domain: 'shop.example', data })[0];
    const cut = (characters: number) => '🔑'.repeat(characters);
    expect(of('navigation', { title: long, technologies: [{ name: long, version: long }] })).toMatchObject({
      title: cut(512),
      technologies: [{ name: cut(100), version: cut(100) }],
    });
    const extension = { extensionId: 'abc', name: long, version: long, publisher: long };
    const permissions = [long, ...Array.from({ length: 300 }, (_, n) => `p${n}`)];
    const kept = { name: cut(200), version: cut(100), permissions: [cut(200), ...permissions.slice(1, 200)] };
    expect(of('extension_inventory', { extensions: [{ ...extension, permissions }] })).toMatchObject({
      extensions: [{ ...kept, publisher: cut(200) }],
    });
    expect(of('extension_event', { ...extension, permissions, change: 'updated' })).toMatchObject(kept);
    expect(of('canary_cookie_triggered', { cookieName: long })).toMatchObject({ cookieName: cut(200) });
    expect(of('clickfix_detected', { snippet: long })).toMatchObject({ snippet: cut(2_000) });
    expect(of('auth_flow', { provider: long, method: 'oidc', mfaObserved: true, outcome: 'success' })).toMatchObject({
      provider: cut(100),
    });
  });

  it('reads null like a missing value wherever there is a default', () => {
    const of = (kind: string, data: object) =>
      admitted({ eventId: randomUUID(), kind, occurredAt: after(0), domain: 'shop.example', data })[0];
    expect(of('navigation', { technologies: null, isNewSite: null })).toMatchObject({
      technologies: [],
      isNewSite: false,
    });
    expect(of('clickfix_detected', { action: null, userDecision: null })).toMatchObject({
      action: 'allow',
      userDecision: 'none',
    });
    expect(of('policy_decision', { signals: null, action: 'warn', userDecision: null })).toMatchObject({ signals: [] });
    expect(
      of('extension_inventory', {
        extensions: [{ extensionId: 'abc', name: 'A', version: null, permissions: null, isEnabled: null }],
      }),
    ).toMatchObject({ extensions: [{ version: '', permissions: [], isEnabled: true }] });
  });

  it('stores that a local file was open, not which', () => {
    const [one] = admitted({
      eventId: randomUUID(),
      kind: 'navigation',
      occurredAt: after(0),
      url: 'file:///home/kim/salaries.pdf',
      data: { title: 'salaries.pdf' },
    });
    expect(one).toMatchObject({ domain: null, url: 'file:///', title: null });
  });

  it('lists the kinds when one is unknown', () => {
    const { rejected } = admitBatch([reportedLogin({ kind: 'teleport' })], {
      now: NOW,
      days: 89,
      wipeId: undefined,
      explain: ({ issues: [issue] }) => ({ error: issue!.message, field: null }),
    });
    expect(rejected[0]?.error).toMatch(/^must be one of navigation, credential_attempt, .*wipe_completed$/);
  });

  it('rejects items that are not objects', () => {
    expect(judge(null, 7, 'x', []).rejected.map(({ index, eventId }) => [index, eventId])).toEqual([
      [0, null],
      [1, null],
      [2, null],
      [3, null],
    ]);
  });

  it.each([
    [
      { data: { username: 'kim', password: 'hunter2', passwordHash: hashOf('one'), isBreached: false } },
      'data.password',
    ],
    [
      { data: { username: 'kim', PassWord: 'hunter2', passwordHash: hashOf('one'), isBreached: false } },
      'data.PassWord',
    ],
    [{ data: { username: 'kim', passwordHash: 'hunter2', isBreached: false } }, 'data.passwordHash'],
    [{ accessToken: 'abc' }, 'accessToken'],
    [{ data: { deep: [{ deeper: { clientSecret: 'abc' } }] } }, 'data.deep.0.deeper.clientSecret'],
    [{ data: { form: { new_passwd: 'hunter2' } } }, 'data.form.new_passwd'],
  ])('rejects items that contain a secret, without repeating it', (over, field) => {
    const { rejected, days } = judge(reportedLogin(over));
    expect(days.size).toBe(0);
    expect(rejected[0]).toMatchObject({ code: 'secret_field', field });
    expect(rejected[0]?.error).toMatch(`validation failed: ${field}: must `);
    expect(JSON.stringify(rejected)).not.toContain('hunter2');
  });

  it('rejects unlimited nesting', () => {
    let nested: unknown = 'bottom';
    for (let depth = 0; depth < 50_000; depth += 1) nested = { nested };
    expect(errorsOf(reportedLogin({ data: nested }))[0]).toContain('must not be sent');
  });

  it('counts a repeated id once, whatever day the second copy names', () => {
    const one = reportedLogin();
    const { duplicates, days } = judge(one, one, { ...one, occurredAt: after(-48) });
    expect([duplicates, [...days.values()].flat().length]).toEqual([2, 1]);
  });

  it('groups by the UTC day of the observation, and accepts every day within retention', () => {
    const items = Array.from({ length: 89 }, (_, day) =>
      reportedLogin({ occurredAt: after(-24 * day).replace('Z', '+00:00') }),
    );
    const { days, rejected } = judge(...items);
    expect(rejected).toEqual([]);
    expect(days.size).toBe(89);
    expect([...days.keys()].slice(0, 3)).toEqual(['2026-06-01', '2026-05-31', '2026-05-30']);
    expect(
      judge(reportedLogin({ occurredAt: '2026-06-01T23:30:00-02:00' }))
        .days.keys()
        .next().value,
    ).toBe('2026-06-02');
  });

  it('accepts one day less than the log keeps, so that a copy always meets its original', () => {
    expect([acceptedDays(90), acceptedDays(2), acceptedDays(1)]).toEqual([89, 1, 1]);
  });

  it('drops unknown fields', () => {
    expect(admitted(reportedLogin({ screenSize: 'x' }, { fontCount: 3 }))[0]).not.toHaveProperty('fontCount');
  });
});

describe('a stored address', () => {
  it.each([
    ['https://shop.example/login?next=%2Fcart', 'https://shop.example/login?next=%2Fcart'],
    ['https://app.example/#/inbox', 'https://app.example/#/inbox'],
    ['https://kim:hunter2@shop.example/', 'https://shop.example/'],
    ['https://shop.example/reset?user=kim&resetToken=abc', 'https://shop.example/reset?user=kim&resetToken=removed'],
    ['https://shop.example/cb?code=abc&code=def', 'https://shop.example/cb?code=removed'],
    ['https://shop.example/cb#access_token=abc', 'https://shop.example/cb'],
  ])('%s is stored as %s', (given, kept) => expect(withoutSecrets(given)).toBe(kept));

  it.each([
    ['BÜCHER.example', 'xn--bcher-kva.example'],
    ['shop.example.', 'shop.example'],
    ['127.0.0.1', '127.0.0.1'],
    ['localhost', 'localhost'],
    ['[::1]', '[::1]'],
    ['', undefined],
    ['shop example', undefined],
    ['https://shop.example', undefined],
    [`${'a'.repeat(64)}.example`, undefined],
  ])('has the host %s normalized to %s', (given, spelled) => expect(hostName(given)).toBe(spelled));

  it.each([
    'example.com/login',
    'example.com?x=1',
    'example.com#top',
    'kim@example.com',
    'example.com\\login',
    'ex%41mple.com',
    'example.com:8080',
    'two words.example',
  ])('has no host %s', (given) => expect(hostName(given)).toBeUndefined());
});

describe('the normalization of hosts', () => {
  it('follows the URL standard for every domain, and is idempotent', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.domain(),
          fc.ipV4(),
          fc.tuple(fc.domain(), fc.constant('.')).map((parts) => parts.join('')),
        ),
        (host) => {
          const spelled = hostName(host.toUpperCase());
          expect(spelled).toBe(domainToASCII(host.replace(/\.$/, '')));
          expect(hostName(spelled!)).toBe(spelled);
        },
      ),
    );
  });
});

describe('parts of a batch', () => {
  it('keep an ordinary batch whole', () => {
    const batch = Array.from({ length: 500 }, () => login());
    expect(inChunks(batch)).toEqual([batch]);
  });

  it('split a batch that would not fit into one event, without loss', () => {
    const batch = Array.from({ length: 500 }, () => login({ url: `https://shop.example/${'ü'.repeat(1_000)}` }));
    const portions = inChunks(batch);
    expect(portions.length).toBeGreaterThan(1);
    expect(portions.flat()).toEqual(batch);
    for (const portion of portions) expect(Buffer.byteLength(JSON.stringify(portion))).toBeLessThan(640 * 1024);
  });
});
